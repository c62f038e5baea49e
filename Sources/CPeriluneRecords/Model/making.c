/* Creation of records from a script's values: `Author{ name = "Ada" }`. */
#include "CPeriluneRecords/Model/model.h"

/* MARK: - Known names */

/*
** A name in a script is usually the same string object as a key of MODEL_KNOWN, because Lua has only one object for equal short strings. As
** long as that table contains a string, no other value has its address, so comparing addresses is sufficient. A string with an unknown
** address may still be an equal long string, so it is looked up in the table.
*/
static size_t place_of(const void *name) {
    return (size_t)((uint64_t)(uintptr_t)name * 0x9E3779B97F4A7C15u >> (64 - prec_known_bits));
}

static void list_known(lua_State *L, prec_model *model, int model_index) {
    lua_getiuservalue(L, model_index, MODEL_KNOWN);
    int known = lua_gettop(L);
    memset(model->known, 0, sizeof model->known);
    for (lua_pushnil(L); lua_next(L, known); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) continue;
        const void *name = lua_topointer(L, -2);
        model->known[place_of(name)] = name;
    }
    lua_pop(L, 1);
    model->has_known = true;
}

/* Returns whether the key at `key` is the name of a field. */
static inline bool is_known(lua_State *L, const prec_model *model, int model_index, int key) {
    const void *name = lua_topointer(L, key);
    if (name && model->known[place_of(name)] == name) return true;
    if (lua_type(L, key) != LUA_TSTRING) return false;
    lua_getiuservalue(L, model_index, MODEL_KNOWN);
    lua_pushvalue(L, key);
    bool is_known = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 2);
    return is_known;
}

/* MARK: - Creating records */

/* Copies the fields of a table to a record. Returns false, with any number of values pushed, if a name is unknown. */
static bool add_fields(lua_State *L, const prec_model *model, int model_index, int values, int record) {
    int last = record + 1, key = record + 2, value = record + 3;
    lua_pushnil(L);
    while (lua_pushvalue(L, last), lua_next(L, values)) {
        if (!is_known(L, model, model_index, key)) return false;
        lua_copy(L, key, last);
        if (lua_type(L, value) == LUA_TUSERDATA && pdb_is_null(L, value)) {
            lua_pop(L, 1);
            prec_note_null(L, record);
        } else {
            lua_rawset(L, record);
        }
    }
    lua_pop(L, 1);
    return true;
}

/* Pushes a record with the fields of the table at `values`, or an empty one if that is not a table. The table layout is on top of the
** stack. Returns false, with any number of values pushed, if a name is unknown. */
static bool push_record(lua_State *L, int model_index, int values) {
    prec_model *model = lua_touserdata(L, model_index);
    int layout_index = lua_gettop(L), record = layout_index + 1;
    if (!model->has_known) list_known(L, model, model_index);
    lua_createtable(L, 0, ((prec_table_layout *)lua_touserdata(L, layout_index))->column_count);
    if (lua_istable(L, values) && !add_fields(L, model, model_index, values, record)) return false;
    lua_getiuservalue(L, layout_index, TABLE_LAYOUT_COLUMN_SET);
    lua_getiuservalue(L, -1, COLUMN_SET_METATABLE);
    lua_setmetatable(L, record);
    lua_settop(L, record);
    return true;
}

bool prec_are_fields(lua_State *L, int index) {
    int top = lua_gettop(L);
    bool are_fields = lua_istable(L, index) && !lua_getmetatable(L, index) && lua_rawgeti(L, index, 1) == LUA_TNIL;
    lua_settop(L, top);
    return are_fields;
}

bool prec_push_made(lua_State *L, int model, const pdb_database *database, int values) {
    int top = lua_gettop(L);
    if (database == NULL) database = pdb_implied_database(pdb_state_of(L));
    if (database && prec_push_known_table_layout(L, model, database) && push_record(L, model, values)) {
        lua_replace(L, top + 1);
        lua_settop(L, top + 1);
        return true;
    }
    lua_settop(L, top);
    return false;
}

/* __call of a class. Upvalues: the model; a Lua function for all uncommon cases. */
static int make_record(lua_State *L) {
    enum { model = lua_upvalueindex(1), other = lua_upvalueindex(2), values = 2 };
    int count = lua_gettop(L);
    /* An object with __pairs defines its own fields. */
    bool is_plain = count == values && lua_istable(L, values) && luaL_getmetafield(L, values, "__pairs") == LUA_TNIL;
    if (is_plain && prec_push_made(L, model, NULL, values)) return 1;
    lua_settop(L, count);
    lua_pushvalue(L, other);
    lua_insert(L, 1);
    lua_call(L, count, 1);
    return 1;
}

/* MARK: - For the Lua part */

/* new_maker(model, function): returns __call for the class. */
static int new_maker(lua_State *L) {
    prec_check_model(L, 1);
    lua_settop(L, 2);
    lua_pushcclosure(L, make_record, 2);
    return 1;
}

/*
** new_record(class, values or nil, any): returns a record with the fields of the table. Returns nothing if a name is unknown or the schema
** must be read first. Uses the table layout for the current database, or, if `any` is true, the layout used last.
*/
static int new_record(lua_State *L) {
    enum { values = 2, model };
    bool takes_any = lua_toboolean(L, 3);
    lua_settop(L, values);
    if (prec_push_model(L, 1) == NULL) return 0;
    if (!takes_any) return prec_push_made(L, model, NULL, values);
    return lua_getiuservalue(L, model, MODEL_LATEST) != LUA_TNIL && push_record(L, model, values);
}

const luaL_Reg prec_making_functions[] = {{"new_maker", new_maker}, {"new_record", new_record}, {NULL, NULL}};
