/* Plans of record classes. */
#include "CPeriluneRecords/Model/model.h"

prec_plan *prec_push_plan(lua_State *L, int model_index, pdb_access *access) {
    pdb_database *database = access->database;
    lua_getiuservalue(L, model_index, MODEL_PLANS);
    lua_rawgeti(L, -1, (lua_Integer)database->id);
    prec_plan *plan = lua_touserdata(L, -1);
    if (plan && plan->generation == database->schema_generation) {
        lua_remove(L, -2);
        return plan;
    }
    lua_pop(L, 2);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    prec_push_callback(L, PREC_CALL_plan);
    lua_getiuservalue(L, model_index, MODEL_CLASS);
    pdb_push_handle(L, access);
    lua_call(L, 2, 1);
    plan = prec_to_userdata(L, -1, plan);
    if (plan == NULL) plua_raise(L, "internal", "a record class has no plan");
    return plan;
}

/* Whether the field of the table at -1 is true; of a list of columns. */
static bool field_is_true(lua_State *L, const char *name) {
    lua_getfield(L, -1, name);
    bool is_true = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return is_true;
}

/* From the list of columns at `columns` fills the plan, and the names and positions, which are pushed. */
static void read_columns(lua_State *L, prec_plan *plan, int columns) {
    lua_createtable(L, plan->column_count, 0);
    lua_createtable(L, 0, plan->column_count * 2);
    int names = lua_gettop(L) - 1, positions = names + 1;
    for (int i = 0; i < plan->column_count; i++) {
        lua_rawgeti(L, columns, i + 1);
        plan->columns[i] = (prec_record_column){
            .is_blob = field_is_true(L, "is_blob"),
            .is_boolean = field_is_true(L, "is_boolean"),
            .is_date = field_is_true(L, "is_date"),
            .is_generated = field_is_true(L, "is_generated"),
            .has_default = field_is_true(L, "has_default"),
            .is_key = field_is_true(L, "is_key"),
        };
        if (plan->columns[i].is_date) plan->has_dates = true;
        if (plan->columns[i].is_generated) plan->has_generated = true;
        lua_getfield(L, -1, "folded");
        lua_pushinteger(L, i + 1);
        lua_rawset(L, positions);
        lua_getfield(L, -1, "name");
        lua_pushvalue(L, -1);
        lua_rawseti(L, names, i + 1);
        lua_pushinteger(L, i + 1);
        lua_rawset(L, positions);
        lua_pop(L, 1);
    }
}

static void set_plan_text(lua_State *L, int plan, const char *field, int value) {
    lua_getfield(L, 3, field);
    lua_setiuservalue(L, plan, value);
}

/* Fills in the key, from the list of positions in the description. */
static void read_key(lua_State *L, prec_plan *plan) {
    lua_getfield(L, 3, "keys");
    for (int i = 0; i < plan->key_count; i++) {
        lua_rawgeti(L, -1, i + 1);
        plan->keys[i] = (int)lua_tointeger(L, -1) - 1;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static lua_Integer integer_field(lua_State *L, const char *name, lua_Integer other) {
    lua_getfield(L, 3, name);
    lua_Integer integer = luaL_optinteger(L, -1, other);
    lua_pop(L, 1);
    return integer;
}

/* make_plan(model, database, description): the description is made by the Lua part. Without a database, the plan is one for records
** that are yet to be written to some table. */
static int make_plan(lua_State *L) {
    prec_model *model = prec_check_model(L, 1);
    uint64_t database = lua_isnil(L, 2) ? 0 : pdb_check_handle(L, pdb_state_of(L), 2, "make_plan")->database->id;
    lua_settop(L, 3);
    lua_getfield(L, 3, "columns");
    int count = (int)lua_rawlen(L, 4);
    int key_count = (int)integer_field(L, "key_count", 0);
    size_t columns_size = (size_t)count * sizeof(prec_record_column);
    columns_size = (columns_size + sizeof(int) - 1) / sizeof(int) * sizeof(int);
    prec_plan *plan = lua_newuserdatauv(L, sizeof *plan + columns_size + (size_t)key_count * sizeof(int), PLAN_VALUES);
    int plan_index = lua_gettop(L);
    *plan = (prec_plan){
        .model = model, .database = database, .generation = integer_field(L, "generation", 0),
        .column_count = count, .key_count = key_count, .keys = (int *)((char *)plan->columns + columns_size),
        .rowid = (int)integer_field(L, "rowid", 0) - 1};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &prec_plan_metatable_key);
    lua_setmetatable(L, -2);
    lua_getfield(L, 3, "is_view");
    plan->is_view = lua_toboolean(L, -1);
    lua_getfield(L, 3, "is_batched");
    plan->is_batched = lua_toboolean(L, -1);
    lua_pop(L, 2);
    read_key(L, plan);
    read_columns(L, plan, 4);
    lua_setiuservalue(L, plan_index, PLAN_POSITIONS);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, plan_index, PLAN_NAMES);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, plan_index, PLAN_MODEL);
    lua_pushvalue(L, 3);
    lua_setiuservalue(L, plan_index, PLAN_SCHEMA);
    lua_newtable(L);
    lua_setiuservalue(L, plan_index, PLAN_SHAPES);
    lua_newtable(L);
    lua_setiuservalue(L, plan_index, PLAN_WRITES);
    set_plan_text(L, plan_index, "find", PLAN_FIND_SQL);
    set_plan_text(L, plan_index, "delete", PLAN_DELETE_SQL);
    set_plan_text(L, plan_index, "exists", PLAN_EXISTS_SQL);
    prec_make_shape(L, plan_index, NULL, count, 0);
    lua_setiuservalue(L, plan_index, PLAN_SHAPE);
    return 1;
}

/* keep_plan(model, plan): makes it the one of its database. keep_plan(model): forgets all. */
static int keep_plan(lua_State *L) {
    prec_check_model(L, 1)->is_described = true;
    prec_plan *plan = prec_to_userdata(L, 2, plan);
    if (plan == NULL) {
        lua_newtable(L);
        lua_setiuservalue(L, 1, MODEL_PLANS);
        return 0;
    }
    lua_getiuservalue(L, 1, MODEL_PLANS);
    lua_pushvalue(L, 2);
    lua_rawseti(L, -2, (lua_Integer)plan->database);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, 1, MODEL_LATEST);
    return 0;
}

/* renew_plan(plan, generation): the schema has changed, but not for this table. */
static int renew_plan(lua_State *L) {
    prec_plan *plan = prec_to_userdata(L, 1, plan);
    if (plan) plan->generation = luaL_checkinteger(L, 2);
    return 0;
}

/* plans(model) -> table, id of the database -> plan; latest plan. plan_schema(plan) -> the description that it was made from. */
static int plans(lua_State *L) {
    prec_check_model(L, 1);
    lua_getiuservalue(L, 1, MODEL_PLANS);
    lua_getiuservalue(L, 1, MODEL_LATEST);
    return 2;
}

static int plan_generation(lua_State *L) {
    prec_plan *plan = prec_to_userdata(L, 1, plan);
    if (plan == NULL) return 0;
    lua_pushinteger(L, plan->generation);
    return 1;
}

static int plan_schema(lua_State *L) {
    if (prec_to_userdata(L, 1, plan) == NULL) return 0;
    lua_getiuservalue(L, 1, PLAN_SCHEMA);
    return 1;
}

/* record_schema(record) -> the description of the table that it was made for, and the list of its fields; has it all columns? */
static int record_schema(lua_State *L) {
    lua_settop(L, 1);
    prec_shape *shape = prec_push_shape_of(L, 1);
    if (shape == NULL) return 0;
    lua_getiuservalue(L, 2, SHAPE_PLAN);
    lua_getiuservalue(L, 3, PLAN_SCHEMA);
    lua_getiuservalue(L, 2, SHAPE_NAMES);
    lua_pushboolean(L, shape->has_all);
    return 3;
}

pdb_statement *prec_compile_kept(lua_State *L, pdb_access *access, int holder, int sql_value, int kept_value) {
    lua_getiuservalue(L, holder, kept_value);
    pdb_statement *statement = lua_touserdata(L, -1);
    if (statement && statement->connection == access->connection && !statement->in_use) {
        pdb_check_allowed(L, access, statement);
        return statement;
    }
    lua_pop(L, 1);
    lua_getiuservalue(L, holder, sql_value);
    statement = pdb_compile(L, access, lua_gettop(L));
    lua_remove(L, -2);
    if (statement->is_cached) {
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, holder, kept_value);
    }
    return statement;
}

const luaL_Reg prec_plan_functions[] = {
    {"make_plan", make_plan},
    {"keep_plan", keep_plan},
    {"renew_plan", renew_plan},
    {"plans", plans},
    {"plan_schema", plan_schema},
    {"plan_generation", plan_generation},
    {"record_schema", record_schema},
    {NULL, NULL},
};
