/*
** Fields to which scripts have assigned perilune.null. Since records return nil for NULL, such a field is nil. A registry table with weak
** keys, record -> set of names, records that the field must be written, even if its column has a default or was never fetched.
*/
#include "CPeriluneRecords/Model/model.h"

static const char nulls_key; /* in the registry */

bool prec_push_nulls(lua_State *L, int record) {
    if (!prec_state_of(pdb_state_of(L))->has_nulls) return false;
    record = lua_absindex(L, record);
    plua_push_weak_table(L, &nulls_key, "k");
    lua_pushvalue(L, record);
    bool has_nulls = lua_rawget(L, -2) == LUA_TTABLE;
    lua_remove(L, -2);
    if (!has_nulls) lua_pop(L, 1);
    return has_nulls;
}

void prec_note_null(lua_State *L, int record) {
    record = lua_absindex(L, record);
    int name = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    prec_state_of(pdb_state_of(L))->has_nulls = true;
    if (!prec_push_nulls(L, record)) {
        plua_push_weak_table(L, &nulls_key, "k");
        lua_pushvalue(L, record);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_insert(L, name + 1);
        lua_rawset(L, -3);
        lua_settop(L, name + 1);
    }
    lua_pushvalue(L, name);
    lua_pushboolean(L, true);
    lua_rawset(L, -3);
    lua_settop(L, name - 1);
}

bool prec_is_noted(lua_State *L, int nulls, int name) {
    lua_pushvalue(L, name);
    bool is_noted = lua_rawget(L, nulls) != LUA_TNIL;
    lua_pop(L, 1);
    return is_noted;
}

void prec_copy_nulls(lua_State *L, int record, int copy) {
    if (!prec_state_of(pdb_state_of(L))->has_nulls) return;
    int top = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    record = lua_absindex(L, record);
    copy = lua_absindex(L, copy);
    plua_push_weak_table(L, &nulls_key, "k");
    lua_pushvalue(L, copy);
    lua_pushnil(L);
    lua_rawset(L, -3);
    if (record != copy && prec_push_nulls(L, record)) {
        for (lua_pushnil(L); lua_next(L, top + 2);) {
            lua_pop(L, 1);
            lua_pushvalue(L, -1);
            prec_note_null(L, copy);
        }
    }
    lua_settop(L, top);
}

void prec_forget_nulls(lua_State *L, int record) { prec_copy_nulls(L, record, record); }

/* MARK: - For the Lua part */

/* stored_field(record, name): returns the field, or perilune.null for a field that must be written as NULL. */
static int stored_field(lua_State *L) {
    lua_settop(L, 2);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, 1) != LUA_TNIL || !prec_push_nulls(L, 1)) return 1;
    if (!prec_is_noted(L, 4, 2)) return 0;
    pdb_push_null(L);
    return 1;
}

/* take_nulls(record, kept or nil): sets fields that contain perilune.null to nil, except the fields in the set `kept`. A field contains
** perilune.null if a script has assigned it over an existing value. */
static int take_nulls(lua_State *L) {
    enum { kept = 2, key };
    lua_settop(L, kept);
    luaL_checktype(L, 1, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, 1);) {
        if (pdb_is_null(L, -1) && !(lua_istable(L, kept) && prec_is_noted(L, kept, key))) {
            lua_pushvalue(L, -2);
            lua_pushnil(L);
            lua_rawset(L, 1);
            lua_pushvalue(L, -2);
            prec_note_null(L, 1);
        }
        lua_pop(L, 1);
    }
    return 0;
}

const luaL_Reg prec_null_functions[] = {
    {"stored_field", stored_field}, {"take_nulls", take_nulls}, {NULL, NULL}};
