/* Shapes of records. */
#include "CPeriluneRecords/Model/model.h"

static const char verbs_key; /* in the registry: the methods that every record has */
static const char shape_key; /* in metatables of records: the shape. No script has this address, or sees these metatables. */

/* MARK: - Finding */

prec_shape *prec_push_shape_of(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return NULL;
    lua_rawgetp(L, -1, &shape_key);
    lua_replace(L, -2);
    prec_shape *shape = lua_touserdata(L, -1);
    if (shape == NULL) lua_pop(L, 1);
    return shape;
}

prec_shape *prec_shape_at(lua_State *L, int index) {
    prec_shape *shape = prec_push_shape_of(L, index);
    if (shape) lua_pop(L, 1);
    return shape;
}

void prec_push_model_of(lua_State *L, int shape) {
    lua_getiuservalue(L, shape, SHAPE_PLAN);
    lua_getiuservalue(L, -1, PLAN_MODEL);
    lua_remove(L, -2);
}

void prec_push_record_verbs(lua_State *L) { lua_rawgetp(L, LUA_REGISTRYINDEX, &verbs_key); }

/* MARK: - Making shapes */

/* Pushes the table that __index is. With extras it is one that finds them first. */
static void push_index(lua_State *L, int model, int extras) {
    if (extras == 0) {
        lua_getiuservalue(L, model, MODEL_METHOD_CACHE);
        return;
    }
    lua_pushvalue(L, model);
    lua_pushvalue(L, extras);
    lua_pushcclosure(L, prec_missing_field, 2);
}

/* Pushes the metatable of records without a chunk. */
static void push_metatable(lua_State *L, int shape, int model, int extras) {
    lua_createtable(L, 1, 8);
    luaL_setfuncs(L, prec_record_metamethods, 0);
    lua_pushvalue(L, shape);
    lua_rawsetp(L, -2, &shape_key);
    push_index(L, model, extras);
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, model);
    if (extras) lua_pushvalue(L, extras);
    else lua_pushnil(L);
    lua_pushcclosure(L, prec_assign_field, 2);
    lua_setfield(L, -2, "__newindex");
    lua_pushliteral(L, "record");
    lua_setfield(L, -2, "__name");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
}

prec_shape *prec_make_shape(lua_State *L, int plan_index, const int *order, int count, int extras) {
    prec_plan *plan = lua_touserdata(L, plan_index);
    int names = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    prec_shape *shape = lua_newuserdatauv(L, sizeof *shape + (size_t)count * sizeof(int), SHAPE_VALUES);
    int index = lua_gettop(L);
    *shape = (prec_shape){.plan = plan, .count = count, .has_all = count == plan->column_count};
    for (int i = 0; i < count; i++) {
        shape->order[i] = order ? order[i] : i;
        if (shape->order[i] != i) shape->has_all = false;
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &prec_shape_metatable_key);
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

void prec_push_method_cache(lua_State *L, int model) {
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, model);
    lua_pushnil(L);
    lua_pushcclosure(L, prec_missing_field, 2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* forget_found(model): methods, verbs or columns have changed. */
static int forget_found(lua_State *L) {
    if (prec_to_userdata(L, 1, model) == NULL) return luaL_typeerror(L, 1, "model");
    lua_settop(L, 1);
    lua_getiuservalue(L, 1, MODEL_METHOD_CACHE);
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
    pdb_state *rows = pdb_state_of(L);
    pdb_database *database = pdb_implied_database(rows);
    lua_getiuservalue(L, model, MODEL_PLANS);
    lua_rawgeti(L, -1, database ? (lua_Integer)database->id : 0);
    lua_remove(L, -2);
    prec_plan *plan = lua_touserdata(L, -1);
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
    if (prec_push_model(L, 1) == NULL) return 0;
    if (takes_any) lua_getiuservalue(L, model, MODEL_LATEST);
    else push_present_plan(L, model);
    if (lua_isnil(L, plan)) return 0;
    lua_getiuservalue(L, model, MODEL_KNOWN);
    lua_createtable(L, 0, ((prec_plan *)lua_touserdata(L, plan))->column_count);
    if (lua_type(L, 2) == LUA_TTABLE) {
        for (lua_pushnil(L); lua_next(L, 2);) {
            lua_pushvalue(L, -2);
            if (lua_type(L, -1) != LUA_TSTRING || lua_rawget(L, known) == LUA_TNIL) return 0;
            lua_pop(L, 1);
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            if (pdb_is_null(L, -1)) {
                lua_pop(L, 1);
                prec_note_null(L, record);
            } else {
                lua_rawset(L, record);
            }
        }
    }
    lua_getiuservalue(L, plan, PLAN_SHAPE);
    lua_getiuservalue(L, -1, SHAPE_METATABLE);
    lua_setmetatable(L, record);
    lua_settop(L, record);
    return 1;
}

const luaL_Reg prec_shape_functions[] = {
    {"forget_found", forget_found},
    {"set_record_verbs", set_record_verbs},
    {"new_record", new_record},
    {NULL, NULL},
};
