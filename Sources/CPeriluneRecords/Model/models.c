/* Models: the permanent data of record classes. */
#include "CPeriluneRecords/Model/model.h"

static const char model_metatable_key;

/* MARK: - Models */

prec_model *prec_push_model(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return NULL;
    lua_rawgeti(L, -1, 1);
    lua_replace(L, -2);
    prec_model *model = prec_to_userdata(L, -1, model);
    if (model == NULL) lua_pop(L, 1);
    return model;
}

prec_model *prec_model_at(lua_State *L, int index) {
    prec_model *model = prec_push_model(L, index);
    if (model) lua_pop(L, 1);
    return model;
}

prec_model *prec_check_model(lua_State *L, int index) {
    prec_model *model = prec_to_userdata(L, index, model);
    if (model == NULL) luaL_typeerror(L, index, "model");
    return model;
}

/* new_model(class, members, known, base model or nil, tracks changes): returns a model. */
static int new_model(lua_State *L) {
    lua_settop(L, 5);
    prec_model *base = lua_isnil(L, 4) ? NULL : prec_check_model(L, 4);
    prec_model *model = lua_newuserdatauv(L, sizeof *model, MODEL_VALUES);
    *model = (prec_model){.base = base, .tracks_changes = lua_toboolean(L, 5)};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &model_metatable_key);
    lua_setmetatable(L, -2);
    static const int sources[] = {1, 2, 3, 0, 4};
    for (int i = 0; i < 5; i++) {
        if (sources[i]) lua_pushvalue(L, sources[i]);
        else lua_newtable(L);
        lua_setiuservalue(L, 6, i + 1);
    }
    prec_push_method_cache(L, 6);
    lua_setiuservalue(L, 6, MODEL_METHOD_CACHE);
    return 1;
}

/* set_model(model, writes in Lua or nil, decodes in Lua or nil, reads in Lua or nil): sets flags; nil leaves a flag unchanged. */
static int set_model(lua_State *L) {
    prec_model *model = prec_check_model(L, 1);
    if (!lua_isnoneornil(L, 2)) model->writes_in_lua = lua_toboolean(L, 2);
    if (!lua_isnoneornil(L, 3)) model->decodes_in_lua = lua_toboolean(L, 3);
    if (!lua_isnoneornil(L, 4)) model->reads_in_lua = lua_toboolean(L, 4);
    return 0;
}

/* add_parent(model, name): adds a belongs_to association. */
static int add_parent(lua_State *L) {
    prec_model *model = prec_check_model(L, 1);
    luaL_checktype(L, 2, LUA_TSTRING);
    lua_settop(L, 2);
    if (lua_getiuservalue(L, 1, MODEL_PARENTS) != LUA_TTABLE) {
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, 1, MODEL_PARENTS);
    }
    lua_pushvalue(L, 2);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    model->has_parents = true;
    return 0;
}

/* Pops a list of names, or nil. Returns whether the record has a field with one of these names. */
static bool has_field_of(lua_State *L, int record) {
    bool has_field = false;
    int list = lua_gettop(L), count = lua_type(L, list) == LUA_TTABLE ? (int)lua_rawlen(L, list) : 0;
    for (int i = 1; i <= count && !has_field; i++) {
        lua_rawgeti(L, list, i);
        has_field = lua_rawget(L, record) != LUA_TNIL;
        lua_settop(L, list);
    }
    lua_settop(L, list - 1);
    return has_field;
}

/* Returns whether the class or one of its bases has associations that set a key column. */
static bool has_parents(const prec_model *model) {
    while (model && !model->has_parents) model = model->base;
    return model != NULL;
}

bool prec_has_parent(lua_State *L, int record, int column_set) {
    const prec_column_set *set = lua_touserdata(L, column_set);
    if (!has_parents(set->layout->model)) return false;
    int top = lua_gettop(L);
    bool has_parent = false;
    lua_getiuservalue(L, column_set, COLUMN_SET_LAYOUT);
    lua_getiuservalue(L, -1, TABLE_LAYOUT_MODEL);
    prec_model *model = lua_touserdata(L, -1);
    for (; model && !has_parent; model = model->base) {
        if (model->has_parents) {
            lua_getiuservalue(L, -1, MODEL_PARENTS);
            has_parent = has_field_of(L, record);
        }
        lua_getiuservalue(L, -1, MODEL_BASE);
        lua_remove(L, -2);
    }
    lua_settop(L, top);
    return has_parent;
}

/* model_flags(model): returns whether the Lua part handles the writes of the class, and whether it handles its fetches. */
static int model_flags(lua_State *L) {
    prec_model *model = prec_check_model(L, 1);
    lua_pushboolean(L, prec_writes_in_lua(model));
    lua_pushboolean(L, prec_decodes_in_lua(model));
    return 2;
}

/* class_of(value): returns the class of a record, or nothing for other values. */
static int class_of(lua_State *L) {
    lua_settop(L, 1);
    if (prec_push_column_set_of(L, 1) == NULL) return 0;
    lua_getiuservalue(L, -1, COLUMN_SET_LAYOUT);
    lua_getiuservalue(L, -1, TABLE_LAYOUT_MODEL);
    lua_getiuservalue(L, -1, MODEL_CLASS);
    return 1;
}

/* model_of(value): returns the model of a class, or nothing for other values. */
static int model_of(lua_State *L) {
    return prec_push_model(L, 1) != NULL;
}

const luaL_Reg prec_model_functions[] = {
    {"set_callbacks", prec_set_callbacks},
    {"new_model", new_model},
    {"set_model", set_model},
    {"add_parent", add_parent},
    {"model_flags", model_flags},
    {"model_of", model_of},
    {"class_of", class_of},
    {NULL, NULL},
};


const char prec_table_layout_metatable_key, prec_column_set_metatable_key, prec_row_layout_metatable_key,
    prec_write_metatable_key;

static const void *new_plain_metatable(lua_State *L, const void *key, const char *name) {
    const void *metatable = pdb_new_metatable(L, key, name, (luaL_Reg[]){{NULL, NULL}});
    lua_pop(L, 1);
    return metatable;
}

void prec_open_models(lua_State *L) {
    static const char state_key; /* in the registry, to protect the state from collection */
    prec_state *state = lua_newuserdatauv(L, sizeof *state, 0);
    *state = (prec_state){0};
    state->model_metatable = new_plain_metatable(L, &model_metatable_key, "model");
    state->table_layout_metatable = new_plain_metatable(L, &prec_table_layout_metatable_key, "table layout");
    state->column_set_metatable = new_plain_metatable(L, &prec_column_set_metatable_key, "column set");
    state->row_layout_metatable = new_plain_metatable(L, &prec_row_layout_metatable_key, "row_layout");
    state->write_metatable = new_plain_metatable(L, &prec_write_metatable_key, "write");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &state_key);
    pdb_state_of(L)->records = state;
}
