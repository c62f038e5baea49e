/*
** Compares rows and records, converts them to text and iterates over them, in the order of their columns. A column has a name, and a key
** under which the table stores its value.
*/
#include "CPeriluneRows/Rows/rows.h"

/* Pushes the value of a column. */
static void push_field(lua_State *L, int table, int keys, lua_Integer position) {
    lua_rawgeti(L, keys, position);
    lua_rawget(L, table);
}

bool pdb_have_equal_fields(lua_State *L, int left, int right, int keys) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, keys);
    bool are_equal = true;
    for (lua_Integer i = 1; are_equal && i <= count; i++) {
        push_field(L, left, keys, i);
        push_field(L, right, keys, i);
        are_equal = lua_compare(L, -1, -2, LUA_OPEQ);
        lua_pop(L, 2);
    }
    return are_equal;
}

/* Adds a blob as an SQL literal, shortened if it is long. */
static void add_blob(luaL_Buffer *buffer, const char *bytes, size_t length) {
    enum { longest = 32 };
    luaL_addstring(buffer, "x'");
    for (size_t i = 0; i < length && i < longest; i++) {
        luaL_addchar(buffer, "0123456789abcdef"[(unsigned char)bytes[i] >> 4]);
        luaL_addchar(buffer, "0123456789abcdef"[bytes[i] & 15]);
    }
    luaL_addstring(buffer, length > longest ? "...'" : "'");
}

static void add_value(lua_State *L, luaL_Buffer *buffer, int index) {
    bool is_string = lua_type(L, index) == LUA_TSTRING;
    size_t length;
    const char *blob = pdb_blob_bytes(L, index, &length);
    if (blob) {
        add_blob(buffer, blob, length);
        return;
    }
    if (lua_isnil(L, index)) {
        luaL_addstring(buffer, "NULL");
        return;
    }
    if (lua_type(L, index) == LUA_TNUMBER && !lua_isinteger(L, index)) {
        char text[PDB_FLOAT_SIZE];
        pdb_state_of(L)->callbacks.write_float(lua_tonumber(L, index), text);
        luaL_addstring(buffer, text);
        return;
    }
    if (is_string) luaL_addchar(buffer, '"');
    plua_tolstring(L, index, NULL);
    luaL_addvalue(buffer);
    if (is_string) luaL_addchar(buffer, '"');
}

void pdb_push_text_of_fields(lua_State *L, int table, int names, int keys) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, names);
    lua_pushnil(L);
    int value = lua_gettop(L);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    luaL_addchar(&buffer, '{');
    for (lua_Integer i = 1; i <= count; i++) {
        if (i > 1) luaL_addstring(&buffer, ", ");
        lua_rawgeti(L, names, i);
        luaL_addvalue(&buffer);
        luaL_addstring(&buffer, " = ");
        push_field(L, table, keys, i);
        lua_replace(L, value);
        add_value(L, &buffer, value);
    }
    luaL_addchar(&buffer, '}');
    luaL_pushresult(&buffer);
    lua_remove(L, value);
}

/* MARK: - Iteration */

/* The upvalues of the iterator. */
enum { TABLE = 1, NAMES, KEYS, COLUMNS, HIDDEN, COUNTER };

/* Pushes the table name -> true of all columns. It is created on first use. */
static void push_columns(lua_State *L) {
    int columns = lua_upvalueindex(COLUMNS), names = lua_upvalueindex(NAMES);
    if (lua_isnil(L, columns)) {
        lua_newtable(L);
        for (lua_Integer i = 1; lua_rawgeti(L, names, i) != LUA_TNIL; i++) {
            lua_pushboolean(L, true);
            lua_rawset(L, -3);
        }
        lua_pop(L, 1);
        lua_replace(L, columns);
    }
    lua_pushvalue(L, columns);
}

/* Returns whether the iteration skips the key at -2: because it is hidden, or because it is a column's name or, in a table with columns by
** position, a column's position. */
static bool is_left_out(lua_State *L, lua_Integer count, int columns) {
    if (lua_isinteger(L, -2)) {
        lua_Integer position = lua_tointeger(L, -2);
        return position >= 1 && position <= count && !lua_rawequal(L, lua_upvalueindex(NAMES), lua_upvalueindex(KEYS));
    }
    lua_pushvalue(L, -2);
    bool is_left_out = lua_rawget(L, columns) != LUA_TNIL;
    if (!is_left_out && lua_istable(L, lua_upvalueindex(HIDDEN))) {
        lua_pushvalue(L, -3);
        is_left_out = lua_rawget(L, lua_upvalueindex(HIDDEN)) != LUA_TNIL;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return is_left_out;
}

/* Iterates over the columns in order, then over the fields that a script has added to the table. */
static int next_field(lua_State *L) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, lua_upvalueindex(NAMES));
    lua_Integer position = lua_tointeger(L, lua_upvalueindex(COUNTER)) + 1;
    lua_settop(L, 2);
    if (position <= count + 1) {
        lua_pushinteger(L, position);
        lua_replace(L, lua_upvalueindex(COUNTER));
    }
    if (position <= count) {
        lua_rawgeti(L, lua_upvalueindex(NAMES), position);
        push_field(L, lua_upvalueindex(TABLE), lua_upvalueindex(KEYS), position);
        return 2;
    }
    push_columns(L);
    if (position == count + 1) lua_pushnil(L);
    else lua_pushvalue(L, 2);
    while (plua_next_in_order(L, lua_upvalueindex(TABLE))) {
        if (!is_left_out(L, count, 3)) return 2;
        lua_pop(L, 1);
    }
    return 0;
}

static void push_or_nil(lua_State *L, int index) {
    if (index) lua_pushvalue(L, index);
    else lua_pushnil(L);
}

int pdb_push_iterator(lua_State *L, int table, int names, int keys, int columns, int hidden) {
    lua_pushvalue(L, table);
    lua_pushvalue(L, names);
    lua_pushvalue(L, keys);
    push_or_nil(L, columns);
    push_or_nil(L, hidden);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_field, COUNTER);
    return 1;
}
