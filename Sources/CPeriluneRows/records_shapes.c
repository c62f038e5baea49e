/* Shapes of records, and the metamethods of records. */
#include "verbs.h"

static const char verbs_key; /* in the registry: the methods that every record has */
static const char shape_key; /* in metatables of records: the shape. No script has this address, or sees these metatables. */

/* MARK: - Finding */

perilune_shape *perilune_push_shape_of(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return NULL;
    lua_rawgetp(L, -1, &shape_key);
    lua_replace(L, -2);
    perilune_shape *shape = lua_touserdata(L, -1);
    if (shape == NULL) lua_pop(L, 1);
    return shape;
}

perilune_shape *perilune_shape_at(lua_State *L, int index) {
    perilune_shape *shape = perilune_push_shape_of(L, index);
    if (shape) lua_pop(L, 1);
    return shape;
}

/* Pushes the model of the shape at `shape`. */
static void push_model(lua_State *L, int shape) {
    lua_getiuservalue(L, shape, SHAPE_PLAN);
    lua_getiuservalue(L, -1, PLAN_MODEL);
    lua_remove(L, -2);
}

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
static void keep_found(lua_State *L, int model) {
    lua_getiuservalue(L, model, MODEL_FOUND);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/*
** __index: NULL columns, methods, and then what the Lua part knows (associations) or raises. Arguments: some table, the key.
** Upvalues: the model; the names of fields that are no columns, or nil.
*/
static int missing(lua_State *L) {
    enum { model = lua_upvalueindex(1), extras = lua_upvalueindex(2) };
    lua_settop(L, 2);
    if (lua_type(L, 2) == LUA_TSTRING) {
        if (has_key(L, extras) || is_known(L, model)) return 0;
        lua_pushvalue(L, model);
        bool is_found = push_method(L);
        if (!is_found) {
            lua_rawgetp(L, LUA_REGISTRYINDEX, &verbs_key);
            lua_pushvalue(L, 2);
            is_found = lua_rawget(L, -2) != LUA_TNIL;
        }
        if (is_found) {
            keep_found(L, model);
            return 1;
        }
    }
    perilune_push_record_function(L, "missing");
    lua_getiuservalue(L, model, MODEL_CLASS);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 1);
    return 1;
}

/* __newindex. Arguments: record, key, value. The same upvalues. */
static int assign(lua_State *L) {
    enum { model = lua_upvalueindex(1), extras = lua_upvalueindex(2) };
    lua_settop(L, 3);
    if (lua_type(L, 2) != LUA_TSTRING || !(has_key(L, extras) || is_known(L, model))) {
        perilune_push_record_function(L, "assign");
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

static int check_record(lua_State *L, int index) {
    if (perilune_push_shape_of(L, index) == NULL) {
        return perilune_raise(L, "argument", "expected a record, got %s", perilune_type_name(L, index));
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
    perilune_shape *left = perilune_push_shape_of(L, 1);
    perilune_shape *right = left ? perilune_push_shape_of(L, 2) : NULL;
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
    check_record(L, 1);
    lua_getiuservalue(L, shape, SHAPE_NAMES);
    perilune_push_record_function(L, "name");
    push_model(L, shape);
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
    check_record(L, 1);
    lua_getiuservalue(L, 2, SHAPE_NAMES);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_field, 4);
    return 1;
}

/* MARK: - Making shapes */

/* Pushes the table that __index is. With extras it is one that finds them first. */
static void push_index(lua_State *L, int model, int extras) {
    if (extras == 0) {
        lua_getiuservalue(L, model, MODEL_FOUND);
        return;
    }
    lua_pushvalue(L, model);
    lua_pushvalue(L, extras);
    lua_pushcclosure(L, missing, 2);
}

/* Pushes the metatable of records without a chunk. */
static void push_metatable(lua_State *L, int shape, int model, int extras) {
    static const luaL_Reg functions[] = {
        {"__eq", record_equal}, {"__tostring", record_to_string}, {"__pairs", record_pairs}, {NULL, NULL}};
    lua_createtable(L, 1, 8);
    luaL_setfuncs(L, functions, 0);
    lua_pushvalue(L, shape);
    lua_rawsetp(L, -2, &shape_key);
    push_index(L, model, extras);
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, model);
    if (extras) lua_pushvalue(L, extras);
    else lua_pushnil(L);
    lua_pushcclosure(L, assign, 2);
    lua_setfield(L, -2, "__newindex");
    lua_pushliteral(L, "record");
    lua_setfield(L, -2, "__name");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
}

perilune_shape *perilune_make_shape(lua_State *L, int plan_index, const int *order, int count, int extras) {
    perilune_plan *plan = lua_touserdata(L, plan_index);
    int names = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    perilune_shape *shape = lua_newuserdatauv(L, sizeof *shape + (size_t)count * sizeof(int), SHAPE_VALUES);
    int index = lua_gettop(L);
    *shape = (perilune_shape){.plan = plan, .count = count, .has_all = count == plan->column_count};
    for (int i = 0; i < count; i++) {
        shape->order[i] = order ? order[i] : i;
        if (shape->order[i] != i) shape->has_all = false;
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_shape_metatable_key);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, plan_index);
    lua_setiuservalue(L, index, SHAPE_PLAN);
    lua_pushvalue(L, names);
    lua_setiuservalue(L, index, SHAPE_NAMES);
    if (extras) lua_pushvalue(L, extras);
    else lua_pushnil(L);
    lua_setiuservalue(L, index, SHAPE_EXTRAS);
    lua_getiuservalue(L, plan_index, PLAN_MODEL);
    push_metatable(L, index, index + 1, extras);
    lua_setiuservalue(L, index, SHAPE_METATABLE);
    lua_settop(L, index);
    lua_remove(L, names);
    return shape;
}

/* MARK: - For the Lua part */

void perilune_push_found(lua_State *L, int model) {
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, model);
    lua_pushnil(L);
    lua_pushcclosure(L, missing, 2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* forget_found(model): methods, verbs or columns have changed. */
static int forget_found(lua_State *L) {
    if (perilune_block_of(L, 1, perilune_rows_of(L)->model_metatable) == NULL) return luaL_typeerror(L, 1, "model");
    lua_settop(L, 1);
    lua_getiuservalue(L, 1, MODEL_FOUND);
    for (lua_pushnil(L); lua_next(L, 2);) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_pushnil(L);
        lua_rawset(L, 2);
    }
    return 0;
}

/* set_record_verbs(table): the methods that every record has. */
static int set_record_verbs(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &verbs_key);
    return 0;
}

/* Pushes the plan of a model for the database that is used now; nil if there is none, or it may be out of date. */
static void push_present_plan(lua_State *L, int model) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_database *database = perilune_implied_database(rows);
    lua_getiuservalue(L, model, MODEL_PLANS);
    lua_rawgeti(L, -1, database ? (lua_Integer)database->id : 0);
    lua_remove(L, -2);
    perilune_plan *plan = lua_touserdata(L, -1);
    if (plan && plan->generation == database->schema_generation) return;
    lua_pop(L, 1);
    lua_pushnil(L);
}

/*
** new_record(class, values or nil, any): a record with the fields in the table, which must be known. Returns nothing if that cannot be
** told without reading the schema, or some field is not known. Its plan is that for the database that is used now; with `any`, the
** one used last.
*/
static int new_record(lua_State *L) {
    enum { model = 3, plan, known, record };
    bool takes_any = lua_toboolean(L, 3);
    lua_settop(L, 2);
    if (perilune_push_model(L, 1) == NULL) return 0;
    if (takes_any) lua_getiuservalue(L, model, MODEL_LATEST);
    else push_present_plan(L, model);
    if (lua_isnil(L, plan)) return 0;
    lua_getiuservalue(L, model, MODEL_KNOWN);
    lua_createtable(L, 0, ((perilune_plan *)lua_touserdata(L, plan))->column_count);
    if (lua_type(L, 2) == LUA_TTABLE) {
        for (lua_pushnil(L); lua_next(L, 2);) {
            lua_pushvalue(L, -2);
            if (lua_type(L, -1) != LUA_TSTRING || lua_rawget(L, known) == LUA_TNIL) return 0;
            lua_pop(L, 1);
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, record);
        }
    }
    lua_getiuservalue(L, plan, PLAN_SHAPE);
    lua_getiuservalue(L, -1, SHAPE_METATABLE);
    lua_setmetatable(L, record);
    lua_settop(L, record);
    return 1;
}

/* copy_record(record): another table of the same shape with the same fields, which knows the same of the row. */
static int copy_record(lua_State *L) {
    lua_settop(L, 1);
    check_record(L, 1);
    perilune_shape *shape = lua_touserdata(L, 2);
    lua_createtable(L, 0, shape->count);
    for (lua_pushnil(L); lua_next(L, 1);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, 3);
    }
    lua_getiuservalue(L, 2, SHAPE_METATABLE);
    lua_setmetatable(L, 3);
    perilune_copy_snapshot(L, 2, 1, 3);
    lua_settop(L, 3);
    return 1;
}

/* adopt_shape(record, other): the record gets the shape of another one of its class, and knows of its row what that one knows. */
static int adopt_shape(lua_State *L) {
    enum { record = 1, other, shape };
    lua_settop(L, other);
    check_record(L, record);
    lua_settop(L, other);
    check_record(L, other);
    lua_getiuservalue(L, shape, SHAPE_METATABLE);
    lua_setmetatable(L, record);
    perilune_copy_snapshot(L, shape, other, record);
    return 0;
}

const luaL_Reg perilune_shape_functions[] = {
    {"forget_found", forget_found},
    {"set_record_verbs", set_record_verbs},
    {"new_record", new_record},
    {"copy_record", copy_record},
    {"adopt_shape", adopt_shape},
    {NULL, NULL},
};
