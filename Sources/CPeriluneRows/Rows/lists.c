/*
** The metatable of fetched lists, which raises errors for fields that lists do not have, such as `count`. It is hidden: to scripts, and to
** the checks for plain tables, a fetched list has no metatable.
*/
#include "CPeriluneRows/Rows/rows.h"

static const char metatable_key, missing_key; /* registry keys */

/* __index of lists. Loops read one index after the last element, so the function returns nil at once for keys that are not strings. */
static int list_index(lua_State *L) {
    if (lua_type(L, 2) != LUA_TSTRING || lua_rawgetp(L, LUA_REGISTRYINDEX, &missing_key) != LUA_TFUNCTION) return 0;
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 1);
    return 1;
}

void pdb_mark_list(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_setmetatable(L, -2);
}

/* set_missing_list_field(f): sets the function f(list, name) for fields that a list does not have. */
int pdb_set_missing_list_field(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &missing_key);
    return 0;
}

void pdb_open_lists(lua_State *L) {
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, list_index);
    lua_setfield(L, -2, "__index");
    plua_hide_metatable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &metatable_key);
}
