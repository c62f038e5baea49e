/* The basic forms of rows: tables, tuples and values. */
#include "CPeriluneRows/Queries/queries.h"

static void push_nothing(lua_State *L, pdb_call *call) {
    (void)call;
    lua_pushnil(L);
}

/* MARK: - Row tables */

static void push_keys(lua_State *L, pdb_call *call) { pdb_push_keys(L, call->statement, call->statement_index); }

static bool push_row(lua_State *L, pdb_statement *statement, int source) {
    pdb_push_row(L, statement, source);
    return true;
}

/* Pushes the metatable and then the keys. */
static void begin_rows(lua_State *L, pdb_row_loop *loop) {
    int count = loop->call->statement->column_count;
    luaL_checkstack(L, count + LUA_MINSTACK, "too many columns");
    loop->first = lua_gettop(L) + 1;
    for (int i = 0; i <= count; i++) lua_rawgeti(L, loop->source, i);
}

static bool push_next_row(lua_State *L, pdb_row_loop *loop) {
    pdb_statement *statement = loop->call->statement;
    int count = statement->column_count, first_key = loop->first + 1;
    bool has_blobs = false;
    lua_createtable(L, 0, count);
    for (int i = 0; i < count; i++) {
        sqlite3_value *value = sqlite3_column_value(statement->handle, i);
        int type = sqlite3_value_type(value);
        if (type == SQLITE_NULL) continue;
        has_blobs = has_blobs || type == SQLITE_BLOB;
        lua_pushvalue(L, first_key + i);
        pdb_push_column(L, value, type, pdb_is_boolean(statement, i));
        lua_rawset(L, -3);
    }
    if (has_blobs) pdb_push_blob_metatable(L, statement, loop->source);
    else lua_pushvalue(L, loop->first);
    lua_setmetatable(L, -2);
    return true;
}

const pdb_row_form pdb_rows_form = {true, push_keys, push_row, begin_rows, push_next_row, NULL};

/* MARK: - Tuples */

static inline void push_values(lua_State *L, pdb_statement *statement, bool keeps_blobs) {
    lua_createtable(L, statement->column_count, 1);
    for (int i = 0; i < statement->column_count; i++) {
        pdb_push_value(L, statement, i);
        if (keeps_blobs && sqlite3_column_type(statement->handle, i) == SQLITE_BLOB) pdb_wrap_blob(L);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, statement->column_count);
    lua_setfield(L, -2, "n");
}

static bool push_list(lua_State *L, pdb_statement *statement, int source) {
    (void)source;
    push_values(L, statement, false);
    return true;
}

static bool push_exact_list(lua_State *L, pdb_statement *statement, int source) {
    (void)source;
    push_values(L, statement, true);
    return true;
}

static void begin_nothing(lua_State *L, pdb_row_loop *loop) { (void)L, (void)loop; }

static bool push_next_list(lua_State *L, pdb_row_loop *loop) { return push_list(L, loop->call->statement, 0); }

static bool push_next_exact_list(lua_State *L, pdb_row_loop *loop) { return push_exact_list(L, loop->call->statement, 0); }

const pdb_row_form pdb_exact_tuples_form = {true, push_nothing, push_exact_list, begin_nothing, push_next_exact_list, NULL};
const pdb_row_form pdb_tuples_form = {true, push_nothing, push_list, begin_nothing, push_next_list, NULL};

/* MARK: - Values */

static bool push_optional_value(lua_State *L, pdb_statement *statement, int source) {
    (void)source;
    pdb_push_value(L, statement, 0);
    if (!lua_isnil(L, -1)) return true;
    lua_pop(L, 1);
    pdb_push_null(L);
    return true;
}

static bool push_next_value(lua_State *L, pdb_row_loop *loop) {
    pdb_push_value(L, loop->call->statement, 0);
    if (!lua_isnil(L, -1)) return true;
    if (!loop->call->allows_null) return false;
    lua_pop(L, 1);
    pdb_push_null(L);
    return true;
}

const pdb_row_form pdb_values_form = {true, push_nothing, push_optional_value, begin_nothing, push_next_value, NULL};
