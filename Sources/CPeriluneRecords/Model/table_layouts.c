/* Table layouts: the columns and statements of a class's table in one database. */
#include "CPeriluneRecords/Model/model.h"

prec_table_layout *prec_push_known_table_layout(lua_State *L, int model_index, const pdb_database *database) {
    lua_getiuservalue(L, model_index, MODEL_LATEST);
    prec_table_layout *layout = lua_touserdata(L, -1);
    if (layout && layout->database == database->id && layout->generation == database->schema_generation) return layout;
    lua_getiuservalue(L, model_index, MODEL_TABLE_LAYOUTS);
    lua_rawgeti(L, -1, (lua_Integer)database->id);
    lua_replace(L, -3);
    lua_pop(L, 1);
    layout = lua_touserdata(L, -1);
    if (layout && layout->generation == database->schema_generation) return layout;
    lua_pop(L, 1);
    return NULL;
}

prec_table_layout *prec_push_table_layout(lua_State *L, int model_index, pdb_access *access) {
    pdb_database *database = access->database;
    prec_table_layout *layout = prec_push_known_table_layout(L, model_index, database);
    if (layout) return layout;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    prec_push_callback(L, PREC_CALL_table_layout);
    lua_getiuservalue(L, model_index, MODEL_CLASS);
    pdb_push_handle(L, access);
    lua_call(L, 2, 1);
    layout = prec_to_userdata(L, -1, table_layout);
    if (layout == NULL) plua_raise(L, "internal", "a record class has no table layout");
    return layout;
}

/* Returns whether a field of the table at -1, which describes a column, is true. */
static bool field_is_true(lua_State *L, const char *name) {
    lua_getfield(L, -1, name);
    bool is_true = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return is_true;
}

/* Returns the field `holds` of the table at -1. */
static prec_holds read_holds(lua_State *L) {
    static const char *const names[] = {"anything", "integers", "floats", "numbers", "texts", NULL};
    lua_getfield(L, -1, "holds");
    prec_holds holds = (prec_holds)luaL_checkoption(L, -1, "anything", names);
    lua_pop(L, 1);
    return holds;
}

/* Fills in the table layout from the list of columns at `columns`, and pushes the list of names and the table of positions. */
static void read_columns(lua_State *L, prec_table_layout *layout, int columns) {
    lua_createtable(L, layout->column_count, 0);
    lua_createtable(L, 0, layout->column_count * 2);
    int names = lua_gettop(L) - 1, positions = names + 1;
    for (int i = 0; i < layout->column_count; i++) {
        lua_rawgeti(L, columns, i + 1);
        layout->columns[i] = (prec_record_column){
            .is_blob = field_is_true(L, "is_blob"),
            .keeps_blobs = field_is_true(L, "keeps_blobs"),
            .is_boolean = field_is_true(L, "is_boolean"),
            .is_date = field_is_true(L, "is_date"),
            .is_generated = field_is_true(L, "is_generated"),
            .has_default = field_is_true(L, "has_default"),
            .is_key = field_is_true(L, "is_key"),
            .is_real = field_is_true(L, "is_real"),
            .holds = read_holds(L),
        };
        if (layout->columns[i].is_date) layout->has_dates = true;
        if (layout->columns[i].is_generated) layout->has_generated = true;
        /* Results use the names of columns, scripts the names of fields. A field's name is never the name of a different column. */
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

static void set_layout_text(lua_State *L, int layout_index, const char *field, int value) {
    lua_getfield(L, 3, field);
    lua_setiuservalue(L, layout_index, value);
}

/* Fills in the key from the list of positions in the description at 3. */
static void read_key(lua_State *L, prec_table_layout *layout) {
    lua_getfield(L, 3, "keys");
    for (int i = 0; i < layout->key_count; i++) {
        lua_rawgeti(L, -1, i + 1);
        layout->keys[i] = (int)lua_tointeger(L, -1) - 1;
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

/* make_table_layout(model, database, description): returns a table layout. The description comes from the Lua part. Without a database, the
** layout is for records that have not been written to a table yet. */
static int make_table_layout(lua_State *L) {
    prec_model *model = prec_check_model(L, 1);
    uint64_t database = lua_isnil(L, 2) ? 0 : pdb_check_handle(L, pdb_state_of(L), 2, "make_table_layout")->database->id;
    lua_settop(L, 3);
    lua_getfield(L, 3, "columns");
    int count = (int)lua_rawlen(L, 4);
    int key_count = (int)integer_field(L, "key_count", 0);
    size_t columns_size = (size_t)count * sizeof(prec_record_column);
    columns_size = (columns_size + sizeof(int) - 1) / sizeof(int) * sizeof(int);
    prec_table_layout *layout = lua_newuserdatauv(L, sizeof *layout + columns_size + (size_t)key_count * sizeof(int), TABLE_LAYOUT_VALUES);
    int layout_index = lua_gettop(L);
    *layout = (prec_table_layout){
        .model = model, .database = database, .generation = integer_field(L, "generation", 0),
        .column_count = count, .key_count = key_count, .keys = (int *)((char *)layout->columns + columns_size),
        .rowid = (int)integer_field(L, "rowid", 0) - 1};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &prec_table_layout_metatable_key);
    lua_setmetatable(L, -2);
    lua_getfield(L, 3, "is_view");
    layout->is_view = lua_toboolean(L, -1);
    lua_getfield(L, 3, "is_batched");
    layout->is_batched = lua_toboolean(L, -1);
    lua_pop(L, 2);
    read_key(L, layout);
    read_columns(L, layout, 4);
    lua_setiuservalue(L, layout_index, TABLE_LAYOUT_POSITIONS);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, layout_index, TABLE_LAYOUT_NAMES);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, layout_index, TABLE_LAYOUT_MODEL);
    lua_pushvalue(L, 3);
    lua_setiuservalue(L, layout_index, TABLE_LAYOUT_SCHEMA);
    lua_newtable(L);
    lua_setiuservalue(L, layout_index, TABLE_LAYOUT_COLUMN_SETS);
    lua_newtable(L);
    lua_setiuservalue(L, layout_index, TABLE_LAYOUT_WRITES);
    set_layout_text(L, layout_index, "find", TABLE_LAYOUT_FIND_SQL);
    set_layout_text(L, layout_index, "delete", TABLE_LAYOUT_DELETE_SQL);
    set_layout_text(L, layout_index, "exists", TABLE_LAYOUT_EXISTS_SQL);
    prec_make_column_set(L, layout_index, NULL, count, 0);
    lua_setiuservalue(L, layout_index, TABLE_LAYOUT_COLUMN_SET);
    return 1;
}

/* keep_table_layout(model, table layout): stores the layout for its database. keep_table_layout(model): removes all layouts. */
static int keep_table_layout(lua_State *L) {
    prec_check_model(L, 1)->is_described = true;
    prec_table_layout *layout = prec_to_userdata(L, 2, table_layout);
    if (layout == NULL) {
        lua_newtable(L);
        lua_setiuservalue(L, 1, MODEL_TABLE_LAYOUTS);
        return 0;
    }
    lua_getiuservalue(L, 1, MODEL_TABLE_LAYOUTS);
    lua_pushvalue(L, 2);
    lua_rawseti(L, -2, (lua_Integer)layout->database);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, 1, MODEL_LATEST);
    return 0;
}

/* renew_table_layout(table layout, generation): keeps the layout valid after a change of the schema that does not affect its table. */
static int renew_table_layout(lua_State *L) {
    prec_table_layout *layout = prec_to_userdata(L, 1, table_layout);
    if (layout) layout->generation = luaL_checkinteger(L, 2);
    return 0;
}

/* table_layouts(model): returns a table, database id -> table layout, and the layout used last. table_layout_description(table layout):
** returns the description from which the layout was created. */
static int table_layouts(lua_State *L) {
    prec_check_model(L, 1);
    lua_getiuservalue(L, 1, MODEL_TABLE_LAYOUTS);
    lua_getiuservalue(L, 1, MODEL_LATEST);
    return 2;
}

static int table_layout_generation(lua_State *L) {
    prec_table_layout *layout = prec_to_userdata(L, 1, table_layout);
    if (layout == NULL) return 0;
    lua_pushinteger(L, layout->generation);
    return 1;
}

static int table_layout_description(lua_State *L) {
    if (prec_to_userdata(L, 1, table_layout) == NULL) return 0;
    lua_getiuservalue(L, 1, TABLE_LAYOUT_SCHEMA);
    return 1;
}

/* record_schema(record): returns the description of its table, the list of its fields, and whether it has all columns. */
static int record_schema(lua_State *L) {
    lua_settop(L, 1);
    prec_column_set *column_set = prec_push_column_set_of(L, 1);
    if (column_set == NULL) return 0;
    lua_getiuservalue(L, 2, COLUMN_SET_LAYOUT);
    lua_getiuservalue(L, 3, TABLE_LAYOUT_SCHEMA);
    lua_getiuservalue(L, 2, COLUMN_SET_NAMES);
    lua_pushboolean(L, column_set->has_all);
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

const luaL_Reg prec_table_layout_functions[] = {
    {"make_table_layout", make_table_layout},
    {"keep_table_layout", keep_table_layout},
    {"renew_table_layout", renew_table_layout},
    {"table_layouts", table_layouts},
    {"table_layout_description", table_layout_description},
    {"table_layout_generation", table_layout_generation},
    {"record_schema", record_schema},
    {NULL, NULL},
};
