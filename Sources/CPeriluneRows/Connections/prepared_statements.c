/* Prepared statements of scripts. */
#include "CPeriluneRows/Connections/connections.h"

const char pdb_compiled_metatable_key, pdb_statement_metatable_key;

pdb_prepared_object *pdb_check_prepared(lua_State *L, pdb_state *rows, int index, const char *verb) {
    pdb_prepared_object *prepared = pdb_to_userdata(L, index, rows->statement_metatable);
    if (prepared == NULL) {
        plua_raise(L, "argument", "%s: expected a prepared statement before the colon (statement:%s(...)), got %s",
                       verb, verb, plua_describe(L, index));
    }
    return prepared;
}

/* Stack: handle, SQL, ..., the compiled statement on top. */
int pdb_push_prepared(lua_State *L, pdb_handle *handle, int statement_index) {
    pdb_prepared_object *prepared = lua_newuserdatauv(L, sizeof *prepared, 3);
    *prepared = (pdb_prepared_object){handle->database, handle->token, false};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pdb_statement_metatable_key);
    lua_setmetatable(L, -2);
    pdb_push_database_object(L, 1);
    lua_setiuservalue(L, -2, PDB_PREPARED_DATABASE);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, -2, PDB_PREPARED_SQL);
    lua_pushvalue(L, statement_index);
    lua_setiuservalue(L, -2, PDB_PREPARED_COMPILED);
    return 1;
}

pdb_statement *pdb_compile_prepared(lua_State *L, pdb_access *access, int index) {
    lua_getiuservalue(L, index, PDB_PREPARED_COMPILED);
    pdb_statement *statement = lua_touserdata(L, -1);
    if (statement->connection == access->connection && !statement->in_use) {
        pdb_check_allowed(L, access, statement);
        return statement;
    }
    lua_pop(L, 1);
    lua_getiuservalue(L, index, PDB_PREPARED_SQL);
    statement = pdb_compile(L, access, lua_gettop(L));
    lua_remove(L, -2);
    if (statement->is_cached) {
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, index, PDB_PREPARED_COMPILED);
    }
    return statement;
}

static int prepared_close(lua_State *L) {
    pdb_check_prepared(L, pdb_state_of(L), 1, "close")->is_closed = true;
    return 0;
}

static int prepared_sql(lua_State *L) {
    pdb_check_prepared(L, pdb_state_of(L), 1, "sql");
    lua_getiuservalue(L, 1, PDB_PREPARED_SQL);
    return 1;
}

static int prepared_to_string(lua_State *L) {
    prepared_sql(L);
    lua_pushfstring(L, "statement (%s)", lua_tostring(L, -1));
    return 1;
}

void pdb_push_statement_methods(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pdb_statement_metatable_key);
    lua_getfield(L, -1, "__index");
    lua_remove(L, -2);
}

void pdb_open_statements(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    static const luaL_Reg compiled[] = {{"__gc", pdb_collect_compiled}, {NULL, NULL}};
    static const luaL_Reg metamethods[] = {{"__tostring", prepared_to_string}, {"__close", prepared_close}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"sql", prepared_sql}, {"close", prepared_close}, {NULL, NULL}};
    rows->compiled_metatable = pdb_new_metatable(L, &pdb_compiled_metatable_key, "compiled", compiled);
    lua_pop(L, 1);
    rows->statement_metatable =
        pdb_new_metatable(L, &pdb_statement_metatable_key, "statement", metamethods);
    lua_createtable(L, 0, 16);
    luaL_setfuncs(L, methods, 0);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
