/* Prepared statements, as scripts hold them. */
#include "CPeriluneRows/rows_internal.h"

perilune_prepared_object *perilune_check_prepared(lua_State *L, perilune_rows *rows, int index, const char *verb) {
    perilune_prepared_object *prepared = perilune_block_of(L, index, rows->statement_metatable);
    if (prepared == NULL) {
        plua_raise(L, "argument", "%s: expected a prepared statement before the colon (statement:%s(...)), got %s",
                       verb, verb, plua_type_name(L, index));
    }
    return prepared;
}

/* Stack: handle, SQL; the compiled statement on top. */
int perilune_push_prepared(lua_State *L, perilune_handle *handle, int statement_index) {
    perilune_prepared_object *prepared = lua_newuserdatauv(L, sizeof *prepared, 3);
    *prepared = (perilune_prepared_object){handle->database, handle->token, false};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_statement_metatable_key);
    lua_setmetatable(L, -2);
    perilune_push_database_object(L, 1);
    lua_setiuservalue(L, -2, PERILUNE_PREPARED_DATABASE);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, -2, PERILUNE_PREPARED_SQL);
    lua_pushvalue(L, statement_index);
    lua_setiuservalue(L, -2, PERILUNE_PREPARED_COMPILED);
    return 1;
}

perilune_statement *perilune_compile_prepared(lua_State *L, perilune_access *access, int index) {
    lua_getiuservalue(L, index, PERILUNE_PREPARED_COMPILED);
    perilune_statement *statement = lua_touserdata(L, -1);
    if (statement->connection == access->connection && !statement->in_use) {
        perilune_check_allowed(L, access, statement);
        return statement;
    }
    lua_pop(L, 1);
    lua_getiuservalue(L, index, PERILUNE_PREPARED_SQL);
    statement = perilune_compile(L, access, lua_gettop(L));
    lua_remove(L, -2);
    if (statement->is_cached) {
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, index, PERILUNE_PREPARED_COMPILED);
    }
    return statement;
}

static int prepared_close(lua_State *L) {
    perilune_check_prepared(L, perilune_rows_of(L), 1, "close")->is_closed = true;
    return 0;
}

static int prepared_sql(lua_State *L) {
    perilune_check_prepared(L, perilune_rows_of(L), 1, "sql");
    lua_getiuservalue(L, 1, PERILUNE_PREPARED_SQL);
    return 1;
}

static int prepared_to_string(lua_State *L) {
    prepared_sql(L);
    lua_pushfstring(L, "statement (%s)", lua_tostring(L, -1));
    return 1;
}

void perilune_push_statement_methods(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_statement_metatable_key);
    lua_getfield(L, -1, "__index");
    lua_remove(L, -2);
}

void perilune_open_statements(lua_State *L, perilune_rows *rows) {
    static const luaL_Reg compiled[] = {{"__gc", perilune_collect_compiled}, {NULL, NULL}};
    static const luaL_Reg metamethods[] = {{"__tostring", prepared_to_string}, {"__close", prepared_close}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"sql", prepared_sql}, {"close", prepared_close}, {NULL, NULL}};
    rows->compiled_metatable = perilune_new_metatable(L, &perilune_compiled_metatable_key, "compiled", compiled);
    lua_pop(L, 1);
    rows->statement_metatable =
        perilune_new_metatable(L, &perilune_statement_metatable_key, "statement", metamethods);
    lua_createtable(L, 0, 16);
    luaL_setfuncs(L, methods, 0);
    luaL_setfuncs(L, perilune_statement_verbs, 0);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
