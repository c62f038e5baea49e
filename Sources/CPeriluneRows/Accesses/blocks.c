/* The database methods that run blocks: read, write, in_transaction, in_savepoint and others. */
#include "CPeriluneRows/Accesses/accesses.h"

#include <perilune_sessions.h>

/* A method that runs a block. It becomes the context of the block's access. */
typedef struct {
    const char *name;
    pdb_access_mode mode;
    bool ends_by_word; /* the block can end its transaction by returning "commit" or "rollback" as its first result */
} block_verb;

static const block_verb read_verb = {"read", PDB_READ, false};
static const block_verb write_verb = {"write", PDB_WRITE, false};
static const block_verb savepoint_verb = {"in_savepoint", PDB_SAVEPOINT, true};
static const block_verb unbounded_verb = {"write_without_transaction", PDB_WITHOUT_TRANSACTION, false};
static const block_verb transaction_verbs[] = {
    {"in_transaction", PDB_DEFERRED, true}, {"in_transaction", PDB_IMMEDIATE, true}, {"in_transaction", PDB_EXCLUSIVE, true}};

enum { longest_word = 40 };

/* Raises if the block's result is a misspelled "commit" or "rollback". Otherwise, a block that returns "rolback" would commit. */
static void check_spelling(lua_State *L, const block_verb *verb, const char *result) {
    static const char *const words[] = {"commit", "rollback"};
    if (!*result || strlen(result) > longest_word) return;
    int position = pdb_state_of(L)->callbacks.sql.nearest(result, words, 2);
    if (position < 0) return;
    plua_raise(L, "argument", "%s: the block returned \"%s\"; did you mean \"%s\"?", verb->name, result, words[position]);
}

/* Raises if a block has changed rows and returns nil and a message. Lua functions report failures this way, but the changes would be
** committed. */
static void check_failure(lua_State *L, const block_verb *verb, int first, sqlite3 *db, int former_changes) {
    if (verb->mode == PDB_READ || verb->mode == PDB_WITHOUT_TRANSACTION) return;
    if (lua_gettop(L) != first + 1 || !lua_isnil(L, first) || lua_type(L, first + 1) != LUA_TSTRING) return;
    if (sqlite3_total_changes(db) == former_changes) return;
    plua_raise(L, "usage", "%s: the block has changed rows and returned nil and a message, which would commit its changes; raise the error to "
                           "undo them: error(message)", verb->name);
}

/* Reads the first result of a block. Returns the number of results to return to the script: all of them, except a first result "commit" or
** "rollback". */
static int take_completion(lua_State *L, pdb_access_request *request, const block_verb *verb, int first) {
    int count = lua_gettop(L) - first + 1;
    const char *word = count > 0 && lua_type(L, first) == LUA_TSTRING ? lua_tostring(L, first) : "";
    bool is_rollback = strcmp(word, "rollback") == 0;
    if (verb->mode == PDB_WRITE && is_rollback) {
        return plua_raise(L, "usage", "write: a block that returns \"rollback\" would be committed; raise an error to undo its changes, "
                                      "or use in_transaction or in_savepoint");
    }
    if (!verb->ends_by_word) return count;
    if (is_rollback) request->completion = PDB_ROLLBACK;
    else if (strcmp(word, "commit") != 0) {
        check_spelling(L, verb, word);
        return count;
    }
    return count - 1;
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
    sqlite3 *db = access->connection->handle;
    int base = 1, former_changes = sqlite3_total_changes(db);
    lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
    const block_verb *verb = access->request->context;
    if (!verb) return lua_gettop(L) - base;
    check_failure(L, verb, base + 1, db, former_changes);
    return take_completion(L, access->request, verb, base + 1);
}

void pdb_push_block(lua_State *L) { lua_pushcfunction(L, run_block); }

/* Runs a block in a guard. The guard counts as used, so each change in the block that needs a guard opens its own. */
static int run_guarded_block(lua_State *L) {
    pdb_state_of(L)->access->is_taken = true;
    return run_block(L);
}

/* Runs a block while the connection does not enforce foreign keys. The function receives the handle and the previous setting. The PRAGMA
** has no effect inside a transaction, because SQLite counts the violations that would prevent the commit. psql_enable_foreign_keys works
** there, too, but it bypasses the count, so the function must check the keys itself and leave as many violations as it found. */
static int run_unenforced_block(lua_State *L) {
    sqlite3 *handle = pdb_state_of(L)->access->connection->handle;
    int is_enforced = psql_enable_foreign_keys(handle, -1);
    pdb_state_of(L)->access->is_taken = true;
    if (is_enforced) {
        pdb_refuse_in_cluster(L, pdb_state_of(L)->access->database,
                              "a cluster enforces foreign keys in this transaction, which recreating a table would break; do it in a migration, "
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

/* Raises an error that a block cannot be opened inside another one. */
static int refuse_nested(lua_State *L, const pdb_access *access, const block_verb *verb) {
    const char *name = verb->name;
    if (access->mode == PDB_READ_STATEMENT || access->mode == PDB_WRITE_STATEMENT) {
        return plua_raise(L, "nested_access", "%s: cannot be called while a statement of this database is running", name);
    }
    if (verb->mode == PDB_WRITE) {
        return plua_raise(L, "nested_access", "write: the enclosing block of this database only reads; use write instead of read there");
    }
    if (verb->mode == PDB_WITHOUT_TRANSACTION) {
        return plua_raise(L, "nested_access", "%s: cannot be called inside another block of this database", name);
    }
    return plua_raise(L, "nested_access", "%s: the enclosing block has begun a transaction%s; use in_savepoint, or write, for parts that "
                                          "may be rolled back", name, access->is_readonly ? " for reading" : "");
}

/* Runs a block inside an open access. In autocommit, the block begins a transaction. Otherwise a reading block uses the open transaction,
** and a writing block opens a savepoint in it. Stack: function, arguments. */
static int open_nested_block(lua_State *L, pdb_access *access, const block_verb *verb, int argument_count) {
    pdb_state *rows = access->database->rows;
    void *context = (void *)verb;
    if (verb->mode == PDB_READ) return pdb_enter_reading(L, rows, access, argument_count, context);
    bool is_statement = access->mode == PDB_READ_STATEMENT || access->mode == PDB_WRITE_STATEMENT;
    bool may_write = verb->mode == PDB_WRITE && !access->is_readonly && !is_statement;
    bool can_begin = access->mode == PDB_WITHOUT_TRANSACTION && is_transaction(verb->mode);
    bool can_nest = may_write || can_begin || verb->mode == PDB_SAVEPOINT;
    if (!can_nest) return refuse_nested(L, access, verb);
    return pdb_enter_nested(L, rows, access, may_write ? PDB_SAVEPOINT : verb->mode, argument_count, context);
}

/* Runs a block in an access. Stack: handle, function, arguments. `position` is the position of the function among the arguments, for
** messages. */
static int open_block(lua_State *L, const block_verb *verb, int position) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_check_handle(L, rows, 1, verb->name);
    if (lua_type(L, 2) != LUA_TFUNCTION) {
        return plua_argument_error(L, verb->name, position, "a function", 2);
    }
    pdb_database *database = handle->database;
    bool is_open = pdb_find_access(L, rows, database, handle->token) != NULL;
    pdb_push_database_object(L, 1);
    lua_replace(L, 1);
    lua_pushcfunction(L, run_block);
    lua_insert(L, 1);
    int argument_count = lua_gettop(L) - 1;
    if (is_open) return open_nested_block(L, pdb_access_to(rows, database), verb, argument_count);
    return pdb_enter(L, rows, database, verb->mode, argument_count, (void *)verb);
}

static int block_read(lua_State *L) { return open_block(L, &read_verb, 1); }

static const char write_options_key; /* in the registry: the Lua function that implements `write` with options */

int pdb_set_write_options(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &write_options_key);
    return 0;
}

/* write([options,] function, ...) */
static int block_write(lua_State *L) {
    if (lua_type(L, 2) != LUA_TTABLE) return open_block(L, &write_verb, 1);
    pdb_check_handle(L, pdb_state_of(L), 1, "write");
    lua_rawgetp(L, LUA_REGISTRYINDEX, &write_options_key);
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int block_in_savepoint(lua_State *L) { return open_block(L, &savepoint_verb, 1); }

static int block_write_without_transaction(lua_State *L) { return open_block(L, &unbounded_verb, 1); }

/* in_transaction([kind,] function, ...) */
static int block_in_transaction(lua_State *L) {
    static const char *kinds[] = {"deferred", "immediate", "exclusive"};
    if (lua_type(L, 2) != LUA_TSTRING) return open_block(L, &transaction_verbs[1], 1);
    for (int i = 0; i < 3; i++) {
        if (strcmp(lua_tostring(L, 2), kinds[i]) != 0) continue;
        lua_remove(L, 2);
        return open_block(L, &transaction_verbs[i], 2);
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
