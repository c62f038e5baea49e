/* The blocks of scripts: read, write, in_transaction, in_savepoint and the like. */
#include "CPeriluneRows/rows_internal.h"

/* Takes the first result of a block that ends a transaction, which says how. Leaves the others. */
static int take_completion(lua_State *L, perilune_entry *entry, int first) {
    const char *completion = lua_type(L, first) == LUA_TSTRING ? lua_tostring(L, first) : "";
    if (strcmp(completion, "commit") == 0) entry->completion = PERILUNE_COMMIT;
    else if (strcmp(completion, "rollback") == 0) entry->completion = PERILUNE_ROLLBACK;
    else {
        return plua_raise(L, "argument", "%s: the block must return \"commit\" or \"rollback\" first, got %s",
                              entry->mode == PERILUNE_SAVEPOINT ? "in_savepoint" : "in_transaction",
                              lua_gettop(L) < first ? "nothing" : plua_type_name(L, first));
    }
    return lua_gettop(L) - first;
}

void perilune_push_handle(lua_State *L, perilune_access *access) {
    perilune_handle *handle = lua_newuserdatauv(L, sizeof *handle, 1);
    *handle = (perilune_handle){.database = access->database, .token = access->token};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_database_metatable_key);
    lua_setmetatable(L, -2);
}

/* Arguments: the database object, the function, and what else it is to be given. Runs inside the access. */
static int run_block(lua_State *L) {
    perilune_access *access = perilune_rows_of(L)->access;
    perilune_push_handle(L, access);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    lua_insert(L, 3);
    int base = 1;
    lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
    bool has_completion = access->mode == PERILUNE_DEFERRED || access->mode == PERILUNE_IMMEDIATE ||
                          access->mode == PERILUNE_EXCLUSIVE || access->mode == PERILUNE_SAVEPOINT;
    return has_completion ? take_completion(L, access->entry, base + 1) : lua_gettop(L) - base;
}

void perilune_push_block(lua_State *L) { lua_pushcfunction(L, run_block); }

/* The same, for a guard that more than one call is made in. */
static int run_guarded_block(lua_State *L) {
    perilune_rows_of(L)->access->is_taken = true;
    return run_block(L);
}

int perilune_call_guarded(lua_State *L) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = perilune_check_handle(L, rows, 1, "guarded");
    perilune_access *access = perilune_find_access(L, rows, handle->database, handle->token);
    perilune_database *database = handle->database;
    luaL_checktype(L, 2, LUA_TFUNCTION);
    perilune_push_database_object(L, 1);
    lua_replace(L, 1);
    lua_pushcfunction(L, run_guarded_block);
    lua_insert(L, 1);
    int argument_count = lua_gettop(L) - 1;
    if (access == NULL) return perilune_enter(L, rows, database, PERILUNE_GUARD, argument_count);
    return perilune_enter_nested(L, rows, perilune_access_to(rows, database), PERILUNE_GUARD, argument_count);
}

static bool is_transaction(perilune_access_mode mode) {
    return mode == PERILUNE_DEFERRED || mode == PERILUNE_IMMEDIATE || mode == PERILUNE_EXCLUSIVE;
}

/* Stack: handle, function, arguments. `position` is that of the function, for messages. */
static int open_block(lua_State *L, const char *verb, perilune_access_mode mode, int position) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = perilune_check_handle(L, rows, 1, verb);
    if (lua_type(L, 2) != LUA_TFUNCTION) {
        return plua_argument_error(L, verb, position, "a function", 2);
    }
    perilune_database *database = handle->database;
    bool is_open = perilune_find_access(L, rows, database, handle->token) != NULL;
    perilune_push_database_object(L, 1);
    lua_replace(L, 1);
    lua_pushcfunction(L, run_block);
    lua_insert(L, 1);
    int argument_count = lua_gettop(L) - 1;
    if (!is_open) return perilune_enter(L, rows, database, mode, argument_count);
    perilune_access *access = perilune_access_to(rows, database);
    if (access->is_settling && mode == PERILUNE_READ) return perilune_enter_reading(L, rows, access, argument_count);
    if (access->is_settling && mode == PERILUNE_WRITE) mode = PERILUNE_GUARD;
    bool can_begin = access->mode == PERILUNE_WITHOUT_TRANSACTION && (is_transaction(mode) || mode == PERILUNE_GUARD);
    if (mode == PERILUNE_SAVEPOINT || can_begin) return perilune_enter_nested(L, rows, access, mode, argument_count);
    return plua_raise(L, "nested_access",
                          "%s: an access to this database is open already: use the handle that the block was given, "
                          "with in_savepoint where part of it may have to be undone", verb);
}

static int block_read(lua_State *L) { return open_block(L, "read", PERILUNE_READ, 1); }
static int block_write(lua_State *L) { return open_block(L, "write", PERILUNE_WRITE, 1); }
static int block_in_savepoint(lua_State *L) { return open_block(L, "in_savepoint", PERILUNE_SAVEPOINT, 1); }

static int block_write_without_transaction(lua_State *L) {
    return open_block(L, "write_without_transaction", PERILUNE_WITHOUT_TRANSACTION, 1);
}

/* in_transaction([kind,] function, ...) */
static int block_in_transaction(lua_State *L) {
    static const struct {
        const char *name;
        perilune_access_mode mode;
    } kinds[] = {{"deferred", PERILUNE_DEFERRED}, {"immediate", PERILUNE_IMMEDIATE}, {"exclusive", PERILUNE_EXCLUSIVE}};
    if (lua_type(L, 2) != LUA_TSTRING) return open_block(L, "in_transaction", PERILUNE_IMMEDIATE, 1);
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
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = perilune_check_handle(L, rows, 1, "is_inside_transaction");
    perilune_access *access = perilune_find_access(L, rows, handle->database, handle->token);
    lua_pushboolean(L, access && !sqlite3_get_autocommit(access->connection->handle));
    return 1;
}

const luaL_Reg perilune_database_blocks[] = {
    {"read", block_read},
    {"write", block_write},
    {"in_transaction", block_in_transaction},
    {"in_savepoint", block_in_savepoint},
    {"write_without_transaction", block_write_without_transaction},
    {"is_inside_transaction", is_inside_transaction},
    {NULL, NULL},
};
