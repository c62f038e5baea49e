/* Column sets: the columns and metatables that records share. */
#include "CPeriluneRecords/Model/model.h"

static const char verbs_key; /* registry key: the methods of all records */
static const char column_set_key; /* key in metatables of records: the column set. Scripts cannot access this address or the metatables. */

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

void prec_copy_entries(lua_State *L, int table, int copy) {
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, copy);
    }
}

/* MARK: - Creating column sets */

/* Pushes the __index of records: usually the method cache. If records have extra fields or the Lua part needs the record, it is a function,
** which looks for extra fields first. */
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

/* Adds the description of records for messages to the metatable on top of the stack. */
static void set_description(lua_State *L, int model) {
    lua_getiuservalue(L, model, MODEL_CLASS);
    int class = lua_gettop(L);
    if (luaL_getmetafield(L, class, "__table") == LUA_TSTRING) {
        lua_pushfstring(L, "a record of `%s`", lua_tostring(L, -1));
        lua_setfield(L, class - 1, "__described");
    }
    lua_settop(L, class - 1);
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
    set_description(L, model);
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

/* MARK: - Fields without a row */

/* Pushes a copy of the list or set at `index` with the additional element at `name`. */
static void push_with(lua_State *L, int index, int name, bool is_list) {
    lua_newtable(L);
    int copy = lua_gettop(L);
    if (lua_istable(L, index)) prec_copy_entries(L, index, copy);
    lua_pushvalue(L, name);
    if (is_list) {
        lua_rawseti(L, copy, (lua_Integer)lua_rawlen(L, copy) + 1);
    } else {
        lua_pushboolean(L, true);
        lua_rawset(L, copy);
    }
}

/* Pushes a copy of the metatable at 4. The copy has a column set with the fields of the column set at 3 and the field at 2. It has the same
** chunk of snapshots, because the columns are the same. */
static void push_metatable_with_field(lua_State *L) {
    enum { name = 2, column_set, metatable };
    prec_column_set *set = lua_touserdata(L, column_set);
    lua_getiuservalue(L, column_set, COLUMN_SET_EXTRAS);
    push_with(L, lua_gettop(L), name, false);
    int extras = lua_gettop(L);
    lua_getiuservalue(L, column_set, COLUMN_SET_LAYOUT);
    int layout = lua_gettop(L);
    lua_getiuservalue(L, column_set, COLUMN_SET_NAMES);
    push_with(L, lua_gettop(L), name, true);
    prec_make_column_set(L, layout, set->order, set->count, extras);
    lua_getiuservalue(L, -1, COLUMN_SET_METATABLE);
    lua_rawgeti(L, metatable, 1);
    lua_rawseti(L, -2, 1);
}

/* add_field(record, name): gives the record a field that is not a column, such as an association without a row. If the field is nil, it is
** not looked up elsewhere. */
static int add_field(lua_State *L) {
    enum { record = 1, name, column_set, metatable, known };
    static const char known_key;
    lua_settop(L, name);
    prec_check_record(L, record);
    luaL_checktype(L, name, LUA_TSTRING);
    if (lua_getiuservalue(L, column_set, COLUMN_SET_EXTRAS) == LUA_TTABLE) {
        lua_pushvalue(L, name);
        if (lua_rawget(L, -2) != LUA_TNIL) return 0;
    }
    lua_settop(L, column_set);
    lua_getmetatable(L, record);
    /* Records that share a chunk also share the replacements of their metatable. A metatable with a chunk may be a copy of a metatable
    ** without one. The copy must not use the replacements of the original. */
    bool is_known = lua_rawgetp(L, metatable, &known_key) == LUA_TTABLE && lua_rawgeti(L, known, 1) == LUA_TTABLE &&
                    lua_rawequal(L, -1, metatable);
    lua_settop(L, is_known ? known : metatable);
    if (!is_known) {
        lua_newtable(L);
        lua_pushvalue(L, metatable);
        lua_rawseti(L, known, 1);
        lua_pushvalue(L, known);
        lua_rawsetp(L, metatable, &known_key);
    }
    lua_pushvalue(L, name);
    if (lua_rawget(L, known) == LUA_TNIL) {
        lua_pop(L, 1);
        push_metatable_with_field(L);
        lua_pushvalue(L, name);
        lua_pushvalue(L, -2);
        lua_rawset(L, known);
    }
    lua_setmetatable(L, record);
    return 0;
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

/* forget_found(model): clears the method cache, because methods, verbs or columns have changed. */
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

/* note_columns(model, boolean): sets whether the table has different columns in different databases. */
static int note_columns(lua_State *L) {
    prec_check_model(L, 1)->has_differing_columns = lua_toboolean(L, 2);
    return 0;
}

/* set_record_verbs(table): sets the methods of all records. */
static int set_record_verbs(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &verbs_key);
    return 0;
}

const luaL_Reg prec_column_set_functions[] = {
    {"add_field", add_field},
    {"forget_found", forget_found},
    {"note_columns", note_columns},
    {"set_record_verbs", set_record_verbs},
    {NULL, NULL},
};
