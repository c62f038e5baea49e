/* Metamethods of records: missing fields, comparison, text and iteration. */
#include "CPeriluneRecords/Model/model.h"

/* MARK: - Missing fields */

/* Returns whether the table at an index, possibly an upvalue index, has the key at 2. */
static bool has_key(lua_State *L, int table) {
    if (lua_type(L, table) != LUA_TTABLE) return false;
    table = lua_absindex(L, table);
    lua_pushvalue(L, 2);
    bool has_key = lua_rawget(L, table) != LUA_TNIL;
    lua_pop(L, 1);
    return has_key;
}

static bool is_known(lua_State *L, int model) {
    lua_getiuservalue(L, model, MODEL_KNOWN);
    bool is_known = has_key(L, -1);
    lua_pop(L, 1);
    return is_known;
}

/* Pushes the method with the name at 2 from the class whose model is on top of the stack, or from a class that it extends. Pushes nothing
** and returns false without such a method. */
static bool push_method(lua_State *L) {
    while (lua_type(L, -1) == LUA_TUSERDATA) {
        lua_getiuservalue(L, -1, MODEL_MEMBERS);
        lua_pushvalue(L, 2);
        if (lua_rawget(L, -2) != LUA_TNIL) {
            lua_replace(L, -3);
            lua_pop(L, 1);
            return true;
        }
        lua_pop(L, 2);
        lua_getiuservalue(L, -1, MODEL_BASE);
        lua_remove(L, -2);
    }
    lua_pop(L, 1);
    return false;
}

/* Caches the value on top of the stack under the key at 2, for later records. */
static void cache_method(lua_State *L, int model) {
    lua_getiuservalue(L, model, MODEL_METHOD_CACHE);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/*
** __index: returns nil for NULL columns, finds methods, and otherwise calls the Lua part, which finds associations and computed fields or
** raises. Arguments: the record or its method cache, and the key. If the Lua part reads fields of the class, the first one is the record.
** Upvalues: the model; the names of fields that are not columns, or nil.
*/
int prec_missing_field(lua_State *L) {
    enum { model = lua_upvalueindex(1), extras = lua_upvalueindex(2) };
    lua_settop(L, 2);
    if (lua_type(L, 2) == LUA_TSTRING) {
        if (has_key(L, extras) || (!prec_reads_in_lua(lua_touserdata(L, model)) && is_known(L, model))) return 0;
        lua_pushvalue(L, model);
        bool is_found = push_method(L);
        if (!is_found) {
            prec_push_record_verbs(L);
            lua_pushvalue(L, 2);
            is_found = lua_rawget(L, -2) != LUA_TNIL;
        }
        if (is_found) {
            cache_method(L, model);
            return 1;
        }
    }
    prec_push_callback(L, PREC_CALL_missing);
    lua_getiuservalue(L, model, MODEL_CLASS);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 1);
    lua_call(L, 3, 1);
    return 1;
}

/* __newindex. Arguments: record, key, value. Has the same upvalues as __index. */
int prec_assign_field(lua_State *L) {
    enum { model = lua_upvalueindex(1), extras = lua_upvalueindex(2) };
    lua_settop(L, 3);
    if (lua_type(L, 2) != LUA_TSTRING || !(has_key(L, extras) || is_known(L, model))) {
        prec_push_callback(L, PREC_CALL_assign);
        lua_getiuservalue(L, model, MODEL_CLASS);
        lua_pushvalue(L, 1);
        lua_pushvalue(L, 2);
        lua_pushvalue(L, 3);
        lua_call(L, 4, 1);
        bool may_assign = lua_toboolean(L, -1);
        lua_settop(L, 3);
        if (!may_assign) return 0;
    }
    /* A record returns nil for NULL, so the field stays nil and its name is recorded. Lua does not call __newindex for a field that has a
    ** value; perilune.null in such a field becomes nil when the record is written. */
    if (pdb_is_null(L, 3)) {
        lua_settop(L, 2);
        prec_note_null(L, 1);
        return 0;
    }
    lua_rawset(L, 1);
    return 0;
}

/* MARK: - Metamethods */

int prec_check_record(lua_State *L, int index) {
    if (prec_push_column_set_of(L, index) == NULL) {
        return plua_raise(L, "argument", "expected a record, got %s", plua_describe(L, index));
    }
    return lua_gettop(L);
}

/* Returns whether the records at 1 and 2 have equal values in all columns of the table layout of `column_set`. */
static bool have_equal_columns(lua_State *L, int column_set) {
    lua_getiuservalue(L, column_set, COLUMN_SET_LAYOUT);
    lua_getiuservalue(L, -1, TABLE_LAYOUT_NAMES);
    bool are_equal = pdb_have_equal_fields(L, 1, 2, lua_gettop(L));
    lua_pop(L, 2);
    return are_equal;
}

/* Returns whether two records have the same class and the same column values. */
static int record_equal(lua_State *L) {
    lua_settop(L, 2);
    prec_column_set *left = prec_push_column_set_of(L, 1);
    prec_column_set *right = left ? prec_push_column_set_of(L, 2) : NULL;
    bool are_equal = left && right && left->layout->model == right->layout->model;
    if (are_equal) are_equal = have_equal_columns(L, 3);
    if (are_equal && left->layout != right->layout) are_equal = have_equal_columns(L, 4);
    lua_pushboolean(L, are_equal);
    return 1;
}

/* author{id = 1, name = "Ada"} */
static int record_to_string(lua_State *L) {
    enum { record = 1, column_set, names };
    lua_settop(L, record);
    prec_check_record(L, record);
    lua_getiuservalue(L, column_set, COLUMN_SET_NAMES);
    prec_push_callback(L, PREC_CALL_name);
    prec_push_model_of(L, column_set);
    lua_getiuservalue(L, -1, MODEL_CLASS);
    lua_remove(L, -2);
    lua_call(L, 1, 1);
    pdb_push_text_of_fields(L, record, names, names);
    lua_concat(L, 2);
    return 1;
}

static int record_pairs(lua_State *L) {
    enum { record = 1, column_set, names, layout_index, columns };
    lua_settop(L, record);
    prec_check_record(L, record);
    lua_getiuservalue(L, column_set, COLUMN_SET_NAMES);
    lua_getiuservalue(L, column_set, COLUMN_SET_LAYOUT);
    lua_getiuservalue(L, layout_index, TABLE_LAYOUT_POSITIONS);
    /* A column that was not fetched is not part of the record, even if a script has set it. */
    return pdb_push_iterator(L, record, names, names, 0, columns);
}

/* __len: a record is a single row, so it has no elements. */
static int record_length(lua_State *L) {
    return plua_raise(L, "argument", "cannot take # of a record; use #Class:fetch_all() for the number of records, or pairs(record) for "
                                     "the fields of one");
}

/* __call: book:author(), if the field `author` of the book contains a record. The Lua part finds the association. */
static int record_call(lua_State *L) { return prec_call_in_lua(L, PREC_CALL_call_record); }

const luaL_Reg prec_record_metamethods[] = {
    {"__call", record_call}, {"__eq", record_equal}, {"__tostring", record_to_string}, {"__pairs", record_pairs},
    {"__len", record_length}, {NULL, NULL}};
