/* Models of record classes, and what the Lua part of records is given. */
#include <perilune_records.h>

#include "CPeriluneRows/Queries/verbs.h"

static const char model_metatable_key;

/* MARK: - Databases */

static int is_database(lua_State *L) {
    lua_pushboolean(L, pdb_to_userdata(L, 1, pdb_state_of(L)->database_metatable) != NULL);
    return 1;
}

static int is_row(lua_State *L) {
    lua_pushboolean(L, pdb_is_row(L, 1));
    return 1;
}

static int is_statement(lua_State *L) {
    lua_pushboolean(L, pdb_to_userdata(L, 1, pdb_state_of(L)->statement_metatable) != NULL);
    return 1;
}

static int schema_generation(lua_State *L) {
    pdb_handle *handle = pdb_check_handle(L, pdb_state_of(L), 1, "schema_generation");
    lua_pushinteger(L, handle->database->schema_generation);
    return 1;
}

/* touch_schema(db): it may be another one than is known. */
static int touch_schema(lua_State *L) {
    pdb_touch_schema(pdb_check_handle(L, pdb_state_of(L), 1, "touch_schema")->database);
    return 0;
}

static int database_id(lua_State *L) {
    pdb_handle *handle = pdb_check_handle(L, pdb_state_of(L), 1, "database_id");
    lua_pushinteger(L, (lua_Integer)handle->database->id);
    return 1;
}

/* Stack: function, arguments. */
static int call_in_access(lua_State *L, pdb_access *access, void *context) {
    (void)access, (void)context;
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* with_access(db, mode, function, ...): calls the function in an access of its own, or in the one that is open. The mode is "read",
** "write", or "guard": what fails is undone. */
static int with_access(lua_State *L) {
    static const char *const names[] = {"read", "write", "guard", NULL};
    int mode = luaL_checkoption(L, 2, NULL, names);
    pdb_task task = {.is_guarded = mode == 2, .body = call_in_access};
    task.database = pdb_resolve_database(L, 1, "with_access", &task.access);
    lua_remove(L, 2);
    lua_remove(L, 1);
    return pdb_run_task(L, &task);
}

/* MARK: - Models */

prec_model *prec_push_model(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return NULL;
    lua_rawgeti(L, -1, 1);
    lua_remove(L, -2);
    prec_model *model = pdb_to_userdata(L, -1, pdb_state_of(L)->model_metatable);
    if (model == NULL) lua_pop(L, 1);
    return model;
}

prec_model *prec_model_at(lua_State *L, int index) {
    prec_model *model = prec_push_model(L, index);
    if (model) lua_pop(L, 1);
    return model;
}

prec_model *prec_check_model(lua_State *L, int index) {
    prec_model *model = pdb_to_userdata(L, index, pdb_state_of(L)->model_metatable);
    if (model == NULL) luaL_typeerror(L, index, "model");
    return model;
}

/* new_model(class, members, known, base model or nil, tracks changes) */
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

/* set_model(model, writes in Lua or nil, awakens or nil) */
static int set_model(lua_State *L) {
    prec_model *model = prec_check_model(L, 1);
    if (!lua_isnoneornil(L, 2)) model->writes_in_lua = lua_toboolean(L, 2);
    if (!lua_isnoneornil(L, 3)) model->decodes_in_lua = lua_toboolean(L, 3);
    return 0;
}

/* Whether the Lua part has to see the writes of the class, or its fetches. */
static int model_flags(lua_State *L) {
    prec_model *model = prec_check_model(L, 1);
    lua_pushboolean(L, prec_writes_in_lua(model));
    lua_pushboolean(L, prec_decodes_in_lua(model));
    return 2;
}

/* The class of a record; nil for any other value. */
static int class_of(lua_State *L) {
    lua_settop(L, 1);
    if (prec_push_shape_of(L, 1) == NULL) return 0;
    lua_getiuservalue(L, -1, SHAPE_PLAN);
    lua_getiuservalue(L, -1, PLAN_MODEL);
    lua_getiuservalue(L, -1, MODEL_CLASS);
    return 1;
}

/* The model of a class; nil for any other value. */
static int model_of(lua_State *L) {
    return prec_push_model(L, 1) != NULL;
}

/* MARK: - Opening */

void prec_push_record_functions(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"default_database", pdb_default_database},
        {"with_default_database", pdb_with_default_database},
        {"is_database", is_database},
        {"is_statement", is_statement},
        {"is_row", is_row},
        {"schema_generation", schema_generation},
        {"database_id", database_id},
        {"touch_schema", touch_schema},
        {"with_access", with_access},
        {"set_callbacks", prec_set_callbacks},
        {"new_model", new_model},
        {"set_model", set_model},
        {"model_flags", model_flags},
        {"model_of", model_of},
        {"class_of", class_of},
        {"record_from", prec_record_from},
        {"snapshot", prec_snapshot},
        {"knows_row", prec_knows_row},
        {"changed_columns", prec_changed_columns},
        {"set_snapshot", prec_set_snapshot},
        {NULL, NULL},
    };
    lua_createtable(L, 0, 48);
    luaL_setfuncs(L, functions, 0);
    luaL_setfuncs(L, prec_record_fetches, 0);
    luaL_setfuncs(L, prec_plan_functions, 0);
    luaL_setfuncs(L, prec_shape_functions, 0);
    luaL_setfuncs(L, prec_record_writes, 0);
    luaL_setfuncs(L, prec_request_functions, 0);
    luaL_setfuncs(L, prec_prefetch_functions, 0);
}

const char prec_plan_metatable_key, prec_shape_metatable_key, prec_layout_metatable_key,
    prec_write_metatable_key;

static const void *new_plain_metatable(lua_State *L, const void *key, const char *name) {
    const void *metatable = pdb_new_metatable(L, key, name, (luaL_Reg[]){{NULL, NULL}});
    lua_pop(L, 1);
    return metatable;
}

void prec_open_records(lua_State *L, pdb_state *rows) {
    rows->model_metatable = new_plain_metatable(L, &model_metatable_key, "model");
    rows->plan_metatable = new_plain_metatable(L, &prec_plan_metatable_key, "plan");
    rows->shape_metatable = new_plain_metatable(L, &prec_shape_metatable_key, "shape");
    rows->layout_metatable = new_plain_metatable(L, &prec_layout_metatable_key, "layout");
    rows->write_metatable = new_plain_metatable(L, &prec_write_metatable_key, "write");
}
