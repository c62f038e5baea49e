/* Rows: plain tables with one metatable per statement. */
#include "CPeriluneRows/Rows/rows.h"

/*
** The rows of a statement share a list of keys: for each column its name, or its position if an earlier column has the same name. Index 0
** of the list is the metatable of the rows, index -1 the list of names. The metatable has fields with addresses as keys: the list of keys;
** the lookup table, lower-case name -> position; the exact names, name -> true. In Lua, BLOB and TEXT are both strings, so rows with BLOBs
** have a copy of the metatable that marks the BLOB columns.
*/
static const char keys_key, lookup_key, exact_key, blobs_key;
static const char methods_key, missing_key; /* registry keys */

/* MARK: - Rows */

/* Pushes the metatable of rows with BLOBs. Pops the string on top of the stack, which marks the BLOB columns. [-1, +1, m] */
static void push_blob_metatable(lua_State *L, int keys) {
    int mask = lua_gettop(L), metatable = mask + 1;
    lua_pushvalue(L, mask);
    if (lua_rawget(L, keys) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 16);
        lua_rawgeti(L, keys, 0);
        for (lua_pushnil(L); lua_next(L, metatable + 1);) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, metatable);
        }
        lua_pop(L, 1);
        lua_pushvalue(L, mask);
        lua_rawsetp(L, metatable, &blobs_key);
        lua_pushvalue(L, mask);
        lua_pushvalue(L, metatable);
        lua_rawset(L, keys);
    }
    lua_replace(L, mask);
}

/* Pushes a string with one byte for each column of the current row: 'b' for a BLOB. [-0, +1, m] */
static void push_mask(lua_State *L, pdb_statement *statement) {
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (int i = 0; i < statement->column_count; i++) {
        luaL_addchar(&buffer, sqlite3_column_type(statement->handle, i) == SQLITE_BLOB ? 'b' : '-');
    }
    luaL_pushresult(&buffer);
}

void pdb_push_blob_metatable(lua_State *L, pdb_statement *statement, int keys) {
    keys = lua_absindex(L, keys);
    push_mask(L, statement);
    push_blob_metatable(L, keys);
}

void pdb_push_row(lua_State *L, pdb_statement *statement, int keys) {
    int count = statement->column_count;
    bool has_blobs = false;
    lua_createtable(L, 0, count);
    for (int i = 0; i < count; i++) {
        sqlite3_value *value = sqlite3_column_value(statement->handle, i);
        int type = sqlite3_value_type(value);
        if (type == SQLITE_NULL) continue;
        has_blobs = has_blobs || type == SQLITE_BLOB;
        lua_rawgeti(L, keys, i + 1);
        pdb_push_column(L, value, type, pdb_is_boolean(statement, i));
        lua_rawset(L, -3);
    }
    if (has_blobs) {
        pdb_push_blob_metatable(L, statement, keys);
    } else {
        lua_rawgeti(L, keys, 0);
    }
    lua_setmetatable(L, -2);
}

/* MARK: - Columns of a row */

/* Pushes a field of the row's metatable. Pushes nothing and returns false if the value is not a row. */
static bool push_shape(lua_State *L, int row, const char *field) {
    if (lua_type(L, row) != LUA_TTABLE || !lua_getmetatable(L, row)) return false;
    bool is_row = lua_rawgetp(L, -1, field) == LUA_TTABLE;
    lua_remove(L, -2);
    if (!is_row) lua_pop(L, 1);
    return is_row;
}

bool pdb_is_row(lua_State *L, int index) {
    bool is_row = push_shape(L, index, &keys_key);
    if (is_row) lua_pop(L, 1);
    return is_row;
}

/* Returns whether the row has a column with the name at `name`, even if its value is NULL. */
bool pdb_row_has(lua_State *L, int row, int name) {
    name = lua_absindex(L, name);
    if (!push_shape(L, row, &exact_key)) return false;
    lua_pushvalue(L, name);
    bool has_column = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 2);
    return has_column;
}

/* Pushes a lower-case copy of the string at an index. */
static void push_folded(lua_State *L, int index) {
    size_t length;
    const char *name = lua_tolstring(L, index, &length);
    pdb_push_folded(L, name, length);
}

/* Returns the position of a column that is given by name (ignoring case) or by position; 0 if there is no such column. `lookup` is a stack
** index. */
static lua_Integer position_of(lua_State *L, int lookup, int key) {
    lua_Integer position = 0;
    if (lua_type(L, key) == LUA_TSTRING) {
        push_folded(L, key);
        lua_rawget(L, lookup);
        position = lua_tointeger(L, -1);
        lua_pop(L, 1);
    } else if (lua_isinteger(L, key)) {
        position = lua_tointeger(L, key);
    }
    return position;
}

/* Pushes the value of the column at a position, or nil without such a column. `columns` is the stack index of the list of keys. */
static void push_at(lua_State *L, int row, int columns, lua_Integer position) {
    if (lua_rawgeti(L, columns, position) == LUA_TNIL || position <= 0) {
        lua_pop(L, 1);
        lua_pushnil(L);
        return;
    }
    lua_rawget(L, row);
}

/* Calls the function that was set for names of neither columns nor methods. It raises an error. */
static int call_missing(lua_State *L) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &missing_key) != LUA_TFUNCTION) return 0;
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 1);
    return 1;
}

/* __index of rows, for keys that are not in the table: a column with NULL, a method, a name in a different case, or a position. Upvalues:
** keys, lookup table, exact names, methods. */
static int row_index(lua_State *L) {
    enum { keys = lua_upvalueindex(1), lookup = lua_upvalueindex(2), exact = lua_upvalueindex(3),
           methods = lua_upvalueindex(4) };
    if (lua_type(L, 2) == LUA_TSTRING) {
        lua_pushvalue(L, 2);
        if (lua_rawget(L, exact) != LUA_TNIL) return 0;
        lua_pushvalue(L, 2);
        if (lua_rawget(L, methods) != LUA_TNIL) return 1;
    }
    lua_Integer position = position_of(L, lookup, 2);
    if (position == 0 && lua_type(L, 2) == LUA_TSTRING) return call_missing(L);
    push_at(L, 1, keys, position);
    return 1;
}

/* set_missing(f): sets the function f(row, name) for names that are neither a column nor a method of a row. */
int pdb_set_missing_column(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &missing_key);
    return 0;
}

/* MARK: - Functions for the methods of rows */

static void check_row(lua_State *L) {
    if (!pdb_is_row(L, 1)) plua_raise(L, "argument", "expected a row, got %s", plua_describe(L, 1));
}

/* Pushes the list of column names. */
static void push_column_names(lua_State *L, int row) {
    push_shape(L, row, &keys_key);
    lua_rawgeti(L, -1, -1);
    lua_remove(L, -2);
}

int pdb_row_columns(lua_State *L) {
    check_row(L);
    push_column_names(L, 1);
    return 1;
}

/* row_blobs(row): returns a string with "b" for each column that was fetched as a BLOB; returns nothing without such columns. */
int pdb_row_blobs(lua_State *L) {
    lua_settop(L, 1);
    check_row(L);
    lua_getmetatable(L, 1);
    lua_rawgetp(L, -1, &blobs_key);
    return 1;
}

int pdb_row_metatable(lua_State *L) {
    check_row(L);
    lua_getmetatable(L, 1);
    return 1;
}

/* MARK: - Metamethods */

static int row_pairs(lua_State *L) {
    enum { row = 1, keys, names, exact };
    check_row(L);
    lua_settop(L, row);
    push_shape(L, row, &keys_key);
    push_column_names(L, row);
    push_shape(L, row, &exact_key);
    return pdb_push_iterator(L, row, names, keys, exact, 0);
}

static bool have_same_columns(lua_State *L, int left, int right) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, left);
    if (count != (lua_Integer)lua_rawlen(L, right)) return false;
    bool are_same = true;
    for (lua_Integer i = 1; are_same && i <= count; i++) {
        lua_rawgeti(L, left, i);
        lua_rawgeti(L, right, i);
        are_same = lua_rawequal(L, -1, -2);
        lua_pop(L, 2);
    }
    return are_same;
}

/* Returns whether two rows have the same columns with the same values. */
static int row_equal(lua_State *L) {
    bool are_equal = pdb_is_row(L, 1) && pdb_is_row(L, 2);
    if (are_equal) {
        push_shape(L, 1, &keys_key);
        push_shape(L, 2, &keys_key);
        are_equal = have_same_columns(L, 3, 4) && pdb_have_equal_fields(L, 1, 2, 3);
    }
    lua_pushboolean(L, are_equal);
    return 1;
}

/* {id = 1, name = "Ada"} */
static int row_to_string(lua_State *L) {
    enum { row = 1, keys, names };
    check_row(L);
    lua_settop(L, row);
    push_shape(L, row, &keys_key);
    push_column_names(L, row);
    pdb_push_text_of_fields(L, row, names, keys);
    return 1;
}

static int row_length(lua_State *L) {
    check_row(L);
    push_column_names(L, 1);
    lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -1));
    return 1;
}

/* Rejects operators on a row, which a script has probably fetched in place of a single value. */
static int refuse_operation(lua_State *L) {
    return plua_raise(L, "argument", "a row is not a value; use row.column, or db:fetch_value(sql, ...) for a single value");
}

/* MARK: - The metatable */

/* Fills the list of keys and the lookup tables from the list of names at `names`. */
static void index_names(lua_State *L, int names, int keys, int lookup, int exact) {
    int top = lua_gettop(L), count = (int)lua_rawlen(L, names);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, names, i);
        int written = top + 1;
        lua_pushvalue(L, written);
        bool is_first = lua_rawget(L, exact) == LUA_TNIL;
        if (is_first) lua_pushvalue(L, written);
        else lua_pushinteger(L, i);
        lua_rawseti(L, keys, i);
        lua_pushvalue(L, written);
        lua_pushboolean(L, true);
        lua_rawset(L, exact);
        push_folded(L, written);
        lua_pushvalue(L, -1);
        if (lua_rawget(L, lookup) == LUA_TNIL) {
            lua_pop(L, 1);
            lua_pushinteger(L, i);
            lua_rawset(L, lookup);
        }
        lua_settop(L, top);
    }
}

/* Pushes a metatable for rows with these keys. */
static void push_metatable(lua_State *L, int keys, int lookup, int exact) {
    static const luaL_Reg functions[] = {
        {"__eq", row_equal}, {"__tostring", row_to_string}, {"__len", row_length}, {"__pairs", row_pairs},
        {"__add", refuse_operation}, {"__sub", refuse_operation}, {"__concat", refuse_operation}, {"__lt", refuse_operation},
        {"__le", refuse_operation}, {NULL, NULL}};
    lua_createtable(L, 0, 16);
    luaL_setfuncs(L, functions, 0);
    lua_pushvalue(L, keys);
    lua_rawsetp(L, -2, &keys_key);
    lua_pushvalue(L, lookup);
    lua_rawsetp(L, -2, &lookup_key);
    lua_pushvalue(L, exact);
    lua_rawsetp(L, -2, &exact_key);
    lua_pushvalue(L, keys);
    lua_pushvalue(L, lookup);
    lua_pushvalue(L, exact);
    pdb_push_row_methods(L);
    lua_pushcclosure(L, row_index, 4);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "row");
    lua_setfield(L, -2, "__name");
    lua_pushliteral(L, "row");
    lua_setfield(L, -2, "__receiver");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
}

/* Replaces the list of column names on top of the stack by the list of keys for rows with these columns. [-1, +1, m] */
static void push_shape_of_names(lua_State *L) {
    int names = lua_gettop(L), count = (int)lua_rawlen(L, names);
    int keys = names + 1, lookup = keys + 1, exact = keys + 2;
    lua_createtable(L, count, 2);
    lua_createtable(L, 0, count);
    lua_createtable(L, 0, count);
    index_names(L, names, keys, lookup, exact);
    lua_pushvalue(L, names);
    lua_rawseti(L, keys, -1);
    push_metatable(L, keys, lookup, exact);
    lua_rawseti(L, keys, 0);
    lua_settop(L, keys);
    lua_remove(L, names);
}

static void push_shape_of_statement(lua_State *L, pdb_statement *statement) {
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    lua_createtable(L, statement->column_count, 0);
    for (int i = 1; i <= statement->column_count; i++) {
        const char *name = sqlite3_column_name(statement->handle, i - 1);
        lua_pushstring(L, name ? name : "");
        lua_rawseti(L, -2, i);
    }
    push_shape_of_names(L);
}

void pdb_push_keys(lua_State *L, pdb_statement *statement, int statement_index) {
    pdb_check_columns(statement);
    if (statement->has_shape) {
        lua_getiuservalue(L, statement_index, PDB_KEYS);
        return;
    }
    push_shape_of_statement(L, statement);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, statement_index, PDB_KEYS);
    statement->has_shape = true;
}

/* Creates a row. Arguments: a list of names, a table of their values, and nil or a string that marks BLOBs, like the result of
** `row_blobs`. */
int pdb_make_row(lua_State *L) {
    enum { names = 1, values, blobs, keys, row };
    luaL_checktype(L, names, LUA_TTABLE);
    luaL_checktype(L, values, LUA_TTABLE);
    lua_settop(L, blobs);
    lua_pushvalue(L, names);
    push_shape_of_names(L);
    lua_newtable(L);
    for (lua_Integer i = 1; lua_rawgeti(L, names, i) == LUA_TSTRING; i++) {
        lua_rawgeti(L, keys, i);
        lua_insert(L, -2);
        lua_rawget(L, values);
        lua_rawset(L, row);
    }
    lua_settop(L, row);
    if (lua_type(L, blobs) == LUA_TSTRING) {
        lua_pushvalue(L, blobs);
        push_blob_metatable(L, keys);
    } else {
        lua_rawgeti(L, keys, 0);
    }
    lua_setmetatable(L, row);
    return 1;
}

void pdb_push_row_methods(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &methods_key);
}

void pdb_open_rows(lua_State *L) {
    lua_createtable(L, 0, 16);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &methods_key);
}
