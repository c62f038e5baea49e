/* Metatables that are hidden from scripts. To code that calls getmetatable, a table with a hidden metatable looks like a plain table. */
#include "CPeriluneShim/Calls/calls.h"

/* The address of this variable is a key that only hidden metatables contain. */
static const char is_hidden_key;

void plua_hide_metatable(lua_State *L) {
    lua_pushboolean(L, true);
    lua_rawsetp(L, -2, &is_hidden_key);
}

bool plua_push_metatable(lua_State *L, int index) {
    if (!lua_getmetatable(L, index)) return false;
    bool is_hidden = lua_rawgetp(L, -1, &is_hidden_key) != LUA_TNIL;
    plua_pop(L, is_hidden ? 2 : 1);
    return !is_hidden;
}

int plua_getmetatable(lua_State *L) {
    luaL_checkany(L, 1);
    if (!plua_push_metatable(L, 1)) {
        lua_pushnil(L);
        return 1;
    }
    luaL_getmetafield(L, 1, "__metatable"); /* pushes nothing if the field is nil */
    return 1;
}
