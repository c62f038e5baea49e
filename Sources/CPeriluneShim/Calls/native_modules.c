/* Native modules that scripts have loaded, and errors that such modules may catch. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "CPeriluneShim/Calls/calls.h"

/* The registry key under which the `package` library stores the libraries that it has loaded: their handles by path, and again as a
** list. */
static const char loaded_libraries[] = "_CLIBS";

int plua_native_libraries(lua_State *L) {
    lua_settop(L, 0);
    lua_newtable(L);
    if (lua_getfield(L, LUA_REGISTRYINDEX, loaded_libraries) != LUA_TTABLE) return lua_settop(L, 1), 1;
    lua_Integer count = 0;
    for (lua_pushnil(L); lua_next(L, 2); lua_settop(L, 3)) {
        if (lua_type(L, 3) != LUA_TSTRING) continue;
        lua_pushvalue(L, 3);
        lua_rawseti(L, 1, ++count);
    }
    lua_settop(L, 1);
    return 1;
}

static bool has_native_libraries(lua_State *L) {
    bool has_some = lua_getfield(L, LUA_REGISTRYINDEX, loaded_libraries) == LUA_TTABLE && lua_rawlen(L, -1) > 0;
    plua_pop(L, 1);
    return has_some;
}

static const void *base_of(const void *function) {
    Dl_info info;
    return dladdr(function, &info) ? info.dli_fbase : NULL;
}

/* Returns whether a C function belongs to a native module: neither to liblua nor to this library. */
static bool is_foreign(lua_CFunction function) {
    const void *base = base_of((const void *)function);
    return base != NULL && base != base_of((const void *)plua_throw) && base != base_of((const void *)lua_error);
}

/* Returns whether a function of a native module is running inside the innermost pcall or xpcall of scripts. */
static bool is_caught_by_native_code(lua_State *L) {
    plua_context *context = plua_context_of(L);
    lua_Debug activation;
    for (int level = 0; lua_getstack(L, level, &activation); level++) {
        if (!lua_getinfo(L, "Sf", &activation)) return false;
        lua_CFunction function = lua_tocfunction(L, -1);
        plua_pop(L, 1);
        if (function == NULL) continue;
        if (function == context->pcall_function || function == context->xpcall_function) return false;
        if (is_foreign(function)) return true;
    }
    return false;
}

void plua_note_protected_calls(lua_State *L) {
    plua_context *context = plua_context_of(L);
    lua_getfield(L, -1, "pcall");
    context->pcall_function = lua_tocfunction(L, -1);
    lua_getfield(L, -2, "xpcall");
    context->xpcall_function = lua_tocfunction(L, -1);
    plua_pop(L, 2);
}

int plua_throw(lua_State *L) {
    if (plua_is_error(L, -1) && lua_checkstack(L, LUA_MINSTACK) && has_native_libraries(L) && is_caught_by_native_code(L)) {
        luaL_tolstring(L, -1, NULL);
    }
    return lua_error(L);
}
