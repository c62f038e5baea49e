/* perilune.null: the value for NULL where nil cannot be used. */
#include "CPeriluneRows/Values/values.h"

static const char null_key;

static int null_to_string(lua_State *L) {
    lua_pushliteral(L, "null");
    return 1;
}

void pdb_push_null(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &null_key);
}

bool pdb_is_null(lua_State *L, int index) {
    return lua_type(L, index) == LUA_TUSERDATA && lua_touserdata(L, index) == pdb_state_of(L)->null;
}

void pdb_open_null(lua_State *L) {
    static const luaL_Reg functions[] = {{"__tostring", null_to_string}, {NULL, NULL}};
    static const char metatable_key;
    pdb_state_of(L)->null = lua_newuserdatauv(L, 0, 0);
    pdb_new_metatable(L, &metatable_key, "null", functions);
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &null_key);
}
