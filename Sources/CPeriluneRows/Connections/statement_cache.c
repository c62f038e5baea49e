/* The cache of compiled statements: two generations, each a table from SQL text to compiled statement. */
#include "CPeriluneRows/Connections/connections.h"

/* The number of statements in a generation. The cache searches the current and the previous generation. */
enum { generation_size = 200 };

/* Pushes a generation's entry for the text, or nil. */
static pdb_statement *look_up(lua_State *L, int generation, int sql_index) {
    if (generation == LUA_NOREF) {
        lua_pushnil(L);
        return NULL;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, generation);
    lua_pushvalue(L, sql_index);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    return lua_touserdata(L, -1);
}

/* Drops the statements of the old generation, which have not been used since it became the old one. */
static void drop_old_generation(lua_State *L, pdb_connection *connection) {
    if (connection->old == LUA_NOREF) return;
    lua_rawgeti(L, LUA_REGISTRYINDEX, connection->old);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        pdb_statement *statement = lua_touserdata(L, -1);
        statement->is_cached = false;
        if (!statement->in_use) pdb_release_statement(statement);
    }
    lua_pop(L, 1);
    luaL_unref(L, LUA_REGISTRYINDEX, connection->old);
    connection->old = LUA_NOREF;
}

static void begin_generation(lua_State *L, pdb_connection *connection) {
    drop_old_generation(L, connection);
    lua_createtable(L, 0, 16);
    int generation = luaL_ref(L, LUA_REGISTRYINDEX);
    connection->old = connection->young;
    connection->young = generation;
    connection->young_count = 0;
}

void pdb_keep_cached(lua_State *L, pdb_connection *connection, pdb_statement *statement, int sql_index) {
    if (connection->young == LUA_NOREF || connection->young_count >= generation_size) begin_generation(L, connection);
    lua_rawgeti(L, LUA_REGISTRYINDEX, connection->young);
    lua_pushvalue(L, sql_index);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    connection->young_count++;
    statement->is_cached = true;
}

/* Removes the text from the old generation, so that its statement is kept when this generation is dropped. */
static void forget_old(lua_State *L, pdb_connection *connection, int sql_index) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, connection->old);
    lua_pushvalue(L, sql_index);
    lua_pushnil(L);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

pdb_statement *pdb_find_cached(lua_State *L, pdb_connection *connection, int sql_index) {
    pdb_statement *statement = look_up(L, connection->young, sql_index);
    if (statement) return statement;
    lua_pop(L, 1);
    statement = look_up(L, connection->old, sql_index);
    if (statement) {
        forget_old(L, connection, sql_index);
        pdb_keep_cached(L, connection, statement, sql_index);
        return statement;
    }
    lua_pop(L, 1);
    return NULL;
}
