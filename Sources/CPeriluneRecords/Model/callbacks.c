/* Callbacks: functions of the Lua part, called from C by name. */
#include "CPeriluneRecords/Model/callbacks.h"

#include <lauxlib.h>
#include <stdbool.h>
#include <stddef.h>

#define PREC_CALLBACK_NAME(name) #name,
static const char *const names[] = {NULL, PREC_CALLBACKS(PREC_CALLBACK_NAME)};
#undef PREC_CALLBACK_NAME

/* The registry key of the list of callbacks. */
static const char callbacks_key;

void prec_push_callback(lua_State *L, prec_callback callback) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &callbacks_key) != LUA_TTABLE) luaL_error(L, "the record library is not loaded");
    lua_rawgeti(L, -1, callback);
    lua_remove(L, -2);
}

int prec_call_in_lua(lua_State *L, prec_callback callback) {
    int count = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    prec_push_callback(L, callback);
    lua_insert(L, 1);
    lua_call(L, count, LUA_MULTRET);
    return lua_gettop(L);
}

int prec_set_callbacks(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_createtable(L, PREC_CALLBACKS_END - 1, 0);
    for (int i = 1; i < PREC_CALLBACKS_END; i++) {
        lua_getfield(L, 1, names[i]);
        if (!lua_isfunction(L, -1)) luaL_error(L, "native_callbacks: the function `%s` is missing", names[i]);
        lua_rawseti(L, 2, i);
    }
    int count = 0;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) count++;
    if (count != PREC_CALLBACKS_END - 1) luaL_error(L, "native_callbacks: contains functions that C does not call");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &callbacks_key);
    return 0;
}
