/* Column sets of records. */
#include "CPeriluneRecords/Model/model.h"

static const char verbs_key; /* in the registry: the methods that every record has */
static const char column_set_key; /* in metatables of records: the column set. No script has this address, or sees these metatables. */

/* MARK: - Finding */

prec_column_set *prec_push_column_set_of(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return NULL;
    lua_rawgetp(L, -1, &column_set_key);
    lua_replace(L, -2);
    prec_column_set *column_set = lua_touserdata(L, -1);
    if (column_set == NULL) lua_pop(L, 1);
    return column_set;
}

prec_column_set *prec_column_set_at(lua_State *L, int index) {
    prec_column_set *column_set = prec_push_column_set_of(L, index);
    if (column_set) lua_pop(L, 1);
    return column_set;
}

void prec_push_model_of(lua_State *L, int column_set) {
    lua_getiuservalue(L, column_set, COLUMN_SET_LAYOUT);
    lua_getiuservalue(L, -1, TABLE_LAYOUT_MODEL);
    lua_remove(L, -2);
}

void prec_push_record_verbs(lua_State *L) { lua_rawgetp(L, LUA_REGISTRYINDEX, &verbs_key); }

/* MARK: - Making column sets */

/* Pushes what __index is: a table. With extras it is a function that finds them first; also where the Lua part must know the record. */
static void push_index(lua_State *L, int model, int extras) {
    if (extras == 0 && !prec_reads_in_lua(lua_touserdata(L, model))) {
        lua_getiuservalue(L, model, MODEL_METHOD_CACHE);
        return;
    }
    lua_pushvalue(L, model);
    if (extras) lua_pushvalue(L, extras);
    else lua_pushnil(L);
    lua_pushcclosure(L, prec_missing_field, 2);
}

/* Pushes the metatable of records without a chunk. */
static void push_metatable(lua_State *L, int column_set, int model, int extras) {
    lua_createtable(L, 1, 8);
    luaL_setfuncs(L, prec_record_metamethods, 0);
    lua_pushvalue(L, column_set);
    lua_rawsetp(L, -2, &column_set_key);
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

prec_column_set *prec_make_column_set(lua_State *L, int layout_index, const int *order, int count, int extras) {
    prec_table_layout *layout = lua_touserdata(L, layout_index);
    int names = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    prec_column_set *column_set = lua_newuserdatauv(L, sizeof *column_set + (size_t)count * sizeof(int), COLUMN_SET_VALUES);
    int index = lua_gettop(L);
    *column_set = (prec_column_set){.layout = layout, .count = count, .has_all = count == layout->column_count};
    for (int i = 0; i < count; i++) {
        column_set->order[i] = order ? order[i] : i;
        if (column_set->order[i] != i) column_set->has_all = false;
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &prec_column_set_metatable_key);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, layout_index);
    lua_setiuservalue(L, index, COLUMN_SET_LAYOUT);
    lua_pushvalue(L, names);
    lua_setiuservalue(L, index, COLUMN_SET_NAMES);
    if (extras) lua_pushvalue(L, extras);
    else lua_pushnil(L);
    lua_setiuservalue(L, index, COLUMN_SET_EXTRAS);
    lua_getiuservalue(L, layout_index, TABLE_LAYOUT_MODEL);
    push_metatable(L, index, index + 1, extras);
    lua_setiuservalue(L, index, COLUMN_SET_METATABLE);
    lua_settop(L, index);
    lua_remove(L, names);
    return column_set;
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
    prec_check_model(L, 1)->has_known = false;
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

/* note_columns(model, boolean): whether the table has different columns in the databases where it was read. */
static int note_columns(lua_State *L) {
    prec_check_model(L, 1)->has_differing_columns = lua_toboolean(L, 2);
    return 0;
}

/* set_record_verbs(table): the methods that every record has. */
static int set_record_verbs(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &verbs_key);
    return 0;
}

const luaL_Reg prec_column_set_functions[] = {
    {"forget_found", forget_found},
    {"note_columns", note_columns},
    {"set_record_verbs", set_record_verbs},
    {NULL, NULL},
};
