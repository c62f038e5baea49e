/* The blocks of scripts: read, write, in_transaction, in_savepoint and the like. */
#include "CPeriluneRows/Accesses/accesses.h"

#include <perilune_sessions.h>

enum { longest_word = 40 }; /* longer ones are not quoted in messages */

/* Takes the first result of a block that ends a transaction, "commit" or "rollback". Leaves the others. */
static int take_completion(lua_State *L, pdb_access_request *request, int first) {
    const char *completion = lua_type(L, first) == LUA_TSTRING ? lua_tostring(L, first) : "";
    if (strcmp(completion, "commit") == 0) request->completion = PDB_COMMIT;
    else if (strcmp(completion, "rollback") == 0) request->completion = PDB_ROLLBACK;
    else {
        bool is_word = *completion && strlen(completion) <= longest_word;
        const char *got = lua_gettop(L) < first ? "nothing" : is_word ? lua_pushfstring(L, "\"%s\"", completion) : plua_type_name(L, first);
        return plua_raise(L, "argument", "%s: the block must return \"commit\" or \"rollback\" as its first value, got %s",
                              request->mode == PDB_SAVEPOINT ? "in_savepoint" : "in_transaction", got);
    }
    return lua_gettop(L) - first;
}

void pdb_push_handle(lua_State *L, pdb_access *access) {
    pdb_handle *handle = lua_newuserdatauv(L, sizeof *handle, 1);
    *handle = (pdb_handle){.database = access->database, .token = access->token};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pdb_database_metatable_key);
    lua_setmetatable(L, -2);
}

/* Runs a block inside the access. Arguments: the database object, the function, and the function's other arguments. */
static int run_block(lua_State *L) {
    pdb_access *access = pdb_state_of(L)->access;
    pdb_push_handle(L, access);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    lua_insert(L, 3);
    int base = 1;
    lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
    bool has_completion = access->mode == PDB_DEFERRED || access->mode == PDB_IMMEDIATE ||
                          access->mode == PDB_EXCLUSIVE || access->mode == PDB_SAVEPOINT;
    return has_completion ? take_completion(L, access->request, base + 1) : lua_gettop(L) - base;
}

void pdb_push_block(lua_State *L) { lua_pushcfunction(L, run_block); }

/* The same, for a guard that more than one call is made in. */
static int run_guarded_block(lua_State *L) {
    pdb_state_of(L)->access->is_taken = true;
    return run_block(L);
}

/* Runs a block while the connection does not enforce foreign keys. The function's first argument after the handle is whether they were
 ** enforced. A PRAGMA has no effect inside a transaction, because SQLite counts the violations that a commit refuses. The function must
 ** therefore leave as many violations as it found: it checks the keys itself. */
static int run_unenforced_block(lua_State *L) {
    sqlite3 *handle = pdb_state_of(L)->access->connection->handle;
    int is_enforced = psql_enable_foreign_keys(handle, -1);
    pdb_state_of(L)->access->is_taken = true;
    if (is_enforced) {
        pdb_refuse_in_cluster(L, pdb_state_of(L)->access->database,
                              "a cluster enforces foreign keys in this transaction, which a table that is made anew would break; do it in a migration, "
                              "or execute \"PRAGMA foreign_keys = OFF\" before");
    }
    lua_pushboolean(L, is_enforced);
    lua_insert(L, 3);
    lua_pushcfunction(L, run_block);
    lua_insert(L, 1);
    if (is_enforced) psql_enable_foreign_keys(handle, 0);
    int status = plua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET);
    if (is_enforced) psql_enable_foreign_keys(handle, 1);
    return status == LUA_OK ? lua_gettop(L) : plua_throw(L);
}

/* Stack: handle, function, arguments. */
static int call_guarded(lua_State *L, lua_CFunction run) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_check_handle(L, rows, 1, "guarded");
    pdb_access *access = pdb_find_access(L, rows, handle->database, handle->token);
    pdb_database *database = handle->database;
    luaL_checktype(L, 2, LUA_TFUNCTION);
    pdb_push_database_object(L, 1);
    lua_replace(L, 1);
    lua_pushcfunction(L, run);
    lua_insert(L, 1);
    int argument_count = lua_gettop(L) - 1;
    if (access == NULL) return pdb_enter(L, rows, database, PDB_GUARD, argument_count, NULL);
    return pdb_enter_nested(L, rows, pdb_access_to(rows, database), PDB_GUARD, argument_count, NULL);
}

int pdb_call_guarded(lua_State *L) { return call_guarded(L, run_guarded_block); }
int pdb_call_unenforced(lua_State *L) { return call_guarded(L, run_unenforced_block); }

static bool is_transaction(pdb_access_mode mode) {
    return mode == PDB_DEFERRED || mode == PDB_IMMEDIATE || mode == PDB_EXCLUSIVE;
}

/* Runs a block in an access. Stack: handle, function, arguments. `position` is the function's position, for messages. */
static int open_block(lua_State *L, const char *verb, pdb_access_mode mode, int position) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_check_handle(L, rows, 1, verb);
    if (lua_type(L, 2) != LUA_TFUNCTION) {
        return plua_argument_error(L, verb, position, "a function", 2);
    }
    pdb_database *database = handle->database;
    bool is_open = pdb_find_access(L, rows, database, handle->token) != NULL;
    pdb_push_database_object(L, 1);
    lua_replace(L, 1);
    lua_pushcfunction(L, run_block);
    lua_insert(L, 1);
    int argument_count = lua_gettop(L) - 1;
    if (!is_open) return pdb_enter(L, rows, database, mode, argument_count, NULL);
    pdb_access *access = pdb_access_to(rows, database);
    if (access->runs_deferred_callbacks && mode == PDB_READ) return pdb_enter_reading(L, rows, access, argument_count);
    if (access->runs_deferred_callbacks && mode == PDB_WRITE) mode = PDB_GUARD;
    bool can_begin = access->mode == PDB_WITHOUT_TRANSACTION && (is_transaction(mode) || mode == PDB_GUARD);
    if (mode == PDB_SAVEPOINT || can_begin) return pdb_enter_nested(L, rows, access, mode, argument_count, NULL);
    return plua_raise(L, "nested_access",
                          "%s: an enclosing block is already using this database; use the handle of that block, and "
                          "%s for parts that may be rolled back", verb,
                          access->mode == PDB_WITHOUT_TRANSACTION ? "in_transaction" : "in_savepoint");
}

static int block_read(lua_State *L) { return open_block(L, "read", PDB_READ, 1); }

static const char write_options_key; /* in the registry: what `write` with options is, a function of Lua */

int pdb_set_write_options(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &write_options_key);
    return 0;
}

/* write([options,] function, ...) */
static int block_write(lua_State *L) {
    if (lua_type(L, 2) != LUA_TTABLE) return open_block(L, "write", PDB_WRITE, 1);
    pdb_check_handle(L, pdb_state_of(L), 1, "write");
    lua_rawgetp(L, LUA_REGISTRYINDEX, &write_options_key);
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int block_in_savepoint(lua_State *L) { return open_block(L, "in_savepoint", PDB_SAVEPOINT, 1); }

static int block_write_without_transaction(lua_State *L) {
    return open_block(L, "write_without_transaction", PDB_WITHOUT_TRANSACTION, 1);
}

/* in_transaction([kind,] function, ...) */
static int block_in_transaction(lua_State *L) {
    static const struct {
        const char *name;
        pdb_access_mode mode;
    } kinds[] = {{"deferred", PDB_DEFERRED}, {"immediate", PDB_IMMEDIATE}, {"exclusive", PDB_EXCLUSIVE}};
    if (lua_type(L, 2) != LUA_TSTRING) return open_block(L, "in_transaction", PDB_IMMEDIATE, 1);
    for (int i = 0; i < 3; i++) {
        if (strcmp(lua_tostring(L, 2), kinds[i].name) != 0) continue;
        lua_remove(L, 2);
        return open_block(L, "in_transaction", kinds[i].mode, 2);
    }
    return plua_raise(L, "argument",
                          "in_transaction: argument 1: expected \"deferred\", \"immediate\" or \"exclusive\", got \"%s\"",
                          lua_tostring(L, 2));
}

static int is_inside_transaction(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_check_handle(L, rows, 1, "is_inside_transaction");
    pdb_access *access = pdb_find_access(L, rows, handle->database, handle->token);
    lua_pushboolean(L, access && !sqlite3_get_autocommit(access->connection->handle));
    return 1;
}

const luaL_Reg pdb_database_blocks[] = {
    {"read", block_read},
    {"write", block_write},
    {"in_transaction", block_in_transaction},
    {"in_savepoint", block_in_savepoint},
    {"write_without_transaction", block_write_without_transaction},
    {"is_inside_transaction", is_inside_transaction},
    {NULL, NULL},
};
