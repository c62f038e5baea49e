/* The metamethods of records: what they do not have, comparison, text, iteration. */
#include "CPeriluneRecords/Model/model.h"

/* MARK: - What a record does not have */

/* Whether the table that is user value `value` of the userdata at `holder` (or an upvalue) has the key at 2. */
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

/* Pushes the method with the name at 2 of the class whose model is on top, or of one that it extends. Leaves nothing else. */
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

/* Has the next record find the value on top of the stack under the key at 2. */
static void cache_method(lua_State *L, int model) {
    lua_getiuservalue(L, model, MODEL_METHOD_CACHE);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/*
** __index: NULL columns, methods, and then what the Lua part knows (associations) or raises. Arguments: some table, the key.
** Upvalues: the model; the names of fields that are no columns, or nil.
*/
int prec_missing_field(lua_State *L) {
    enum { model = lua_upvalueindex(1), extras = lua_upvalueindex(2) };
    lua_settop(L, 2);
    if (lua_type(L, 2) == LUA_TSTRING) {
        if (has_key(L, extras) || is_known(L, model)) return 0;
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
    lua_call(L, 2, 1);
    return 1;
}

/* __newindex. Arguments: record, key, value. The same upvalues. */
int prec_assign_field(lua_State *L) {
    enum { model = lua_upvalueindex(1), extras = lua_upvalueindex(2) };
    lua_settop(L, 3);
    if (lua_type(L, 2) != LUA_TSTRING || !(has_key(L, extras) || is_known(L, model))) {
        prec_push_callback(L, PREC_CALL_assign);
        lua_getiuservalue(L, model, MODEL_CLASS);
        lua_pushvalue(L, 1);
        lua_pushvalue(L, 2);
        lua_call(L, 3, 1);
        bool may_assign = lua_toboolean(L, -1);
        lua_settop(L, 3);
        if (!may_assign) return 0;
    }
    lua_rawset(L, 1);
    return 0;
}

/* MARK: - Metamethods */

int prec_check_record(lua_State *L, int index) {
    if (prec_push_shape_of(L, index) == NULL) {
        return plua_raise(L, "argument", "expected a record, got %s", plua_type_name(L, index));
    }
    return lua_gettop(L);
}

/* Compares the fields that are columns of the plan of the shape at `shape`. */
static bool have_equal_columns(lua_State *L, int shape) {
    lua_getiuservalue(L, shape, SHAPE_PLAN);
    lua_getiuservalue(L, -1, PLAN_NAMES);
    int names = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, names);
    bool are_equal = true;
    for (lua_Integer i = 1; are_equal && i <= count; i++) {
        lua_rawgeti(L, names, i);
        lua_pushvalue(L, -1);
        lua_rawget(L, 1);
        lua_insert(L, -2);
        lua_rawget(L, 2);
        are_equal = lua_compare(L, -1, -2, LUA_OPEQ);
        lua_settop(L, names);
    }
    lua_pop(L, 2);
    return are_equal;
}

/* Records are equal if they are of one class and have the same values in their columns. */
static int record_equal(lua_State *L) {
    lua_settop(L, 2);
    prec_shape *left = prec_push_shape_of(L, 1);
    prec_shape *right = left ? prec_push_shape_of(L, 2) : NULL;
    bool are_equal = left && right && left->plan->model == right->plan->model;
    if (are_equal) are_equal = have_equal_columns(L, 3);
    if (are_equal && left->plan != right->plan) are_equal = have_equal_columns(L, 4);
    lua_pushboolean(L, are_equal);
    return 1;
}

static void add_value(lua_State *L, luaL_Buffer *buffer, int index) {
    bool is_string = lua_type(L, index) == LUA_TSTRING;
    if (lua_isnil(L, index)) {
        luaL_addstring(buffer, "NULL");
        return;
    }
    if (is_string) luaL_addchar(buffer, '"');
    luaL_tolstring(L, index, NULL);
    luaL_addvalue(buffer);
    if (is_string) luaL_addchar(buffer, '"');
}

/* author{id = 1, name = "Ada"} */
static int record_to_string(lua_State *L) {
    enum { shape = 2, names, value };
    lua_settop(L, 1);
    prec_check_record(L, 1);
    lua_getiuservalue(L, shape, SHAPE_NAMES);
    prec_push_callback(L, PREC_CALL_name);
    prec_push_model_of(L, shape);
    lua_getiuservalue(L, -1, MODEL_CLASS);
    lua_remove(L, -2);
    lua_call(L, 1, 1);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    lua_pushvalue(L, value);
    luaL_addvalue(&buffer);
    luaL_addchar(&buffer, '{');
    lua_Integer count = (lua_Integer)lua_rawlen(L, names);
    for (lua_Integer i = 1; i <= count; i++) {
        if (i > 1) luaL_addstring(&buffer, ", ");
        lua_rawgeti(L, names, i);
        lua_pushvalue(L, -1);
        lua_rawget(L, 1);
        lua_replace(L, value);
        luaL_addvalue(&buffer);
        luaL_addstring(&buffer, " = ");
        add_value(L, &buffer, value);
    }
    luaL_addchar(&buffer, '}');
    luaL_pushresult(&buffer);
    return 1;
}

/* Whether the key at `key` is among the fields that the shape names. */
static bool is_field(lua_State *L, int key, int shape) {
    if (lua_type(L, key) != LUA_TSTRING) return false;
    key = lua_absindex(L, key);
    lua_getiuservalue(L, shape, SHAPE_PLAN);
    lua_getiuservalue(L, -1, PLAN_POSITIONS);
    lua_pushvalue(L, key);
    lua_Integer position = lua_rawget(L, -2) == LUA_TNIL ? 0 : lua_tointeger(L, -1);
    lua_getiuservalue(L, -3, PLAN_NAMES);
    bool is_column = position && lua_rawgeti(L, -1, position) == LUA_TSTRING && lua_rawequal(L, -1, key);
    lua_getiuservalue(L, shape, SHAPE_EXTRAS);
    if (!is_column && lua_type(L, -1) == LUA_TTABLE) {
        lua_pushvalue(L, key);
        is_column = lua_rawget(L, -2) != LUA_TNIL;
    }
    return is_column;
}

/* Upvalues: record, shape, names, position. First the columns in their order, then other fields. */
static int next_field(lua_State *L) {
    enum { record = lua_upvalueindex(1), shape = lua_upvalueindex(2), names = lua_upvalueindex(3),
           counter = lua_upvalueindex(4) };
    lua_Integer count = (lua_Integer)lua_rawlen(L, names), position = lua_tointeger(L, counter) + 1;
    lua_settop(L, 2);
    if (position <= count + 1) {
        lua_pushinteger(L, position);
        lua_replace(L, counter);
    }
    if (position <= count) {
        lua_rawgeti(L, names, position);
        lua_pushvalue(L, -1);
        lua_rawget(L, record);
        return 2;
    }
    if (position == count + 1) lua_pushnil(L);
    else lua_settop(L, 2);
    while (lua_next(L, record)) {
        int top = lua_gettop(L);
        bool is_named = is_field(L, top - 1, shape);
        lua_settop(L, top);
        if (!is_named) return 2;
        lua_pop(L, 1);
    }
    return 0;
}

static int record_pairs(lua_State *L) {
    lua_settop(L, 1);
    prec_check_record(L, 1);
    lua_getiuservalue(L, 2, SHAPE_NAMES);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_field, 4);
    return 1;
}

const luaL_Reg prec_record_metamethods[] = {
    {"__eq", record_equal}, {"__tostring", record_to_string}, {"__pairs", record_pairs}, {NULL, NULL}};
