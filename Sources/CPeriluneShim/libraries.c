/* Opens states with the standard libraries that the host grants. Only this file depends on all folders. */
#include <string.h>

#include "CPeriluneShim/Limited/limited.h"
#include "CPeriluneShim/Order/order.h"

/* MARK: - Text chunks only */

/* Calls the original load(chunk, name, "t", environment), so that bytecode is rejected whatever mode the script passes. */
static int load_text(lua_State *L) {
    if (plua_refuse_mode(L)) return 2;
    int argument_count = lua_gettop(L);
    lua_settop(L, argument_count < 3 ? 3 : argument_count);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int load_file(lua_State *L) {
    const char *name = luaL_optstring(L, 1, NULL);
    bool has_environment = !lua_isnone(L, 3);
    if (luaL_loadfilex(L, name, "t") != LUA_OK) {
        luaL_pushfail(L);
        lua_insert(L, -2);
        return 2;
    }
    if (has_environment) {
        lua_pushvalue(L, 3);
        if (!lua_setupvalue(L, -2, 1)) plua_pop(L, 1);
    }
    return 1;
}

static int file_done(lua_State *L, int status, lua_KContext unused) {
    (void)status, (void)unused;
    return lua_gettop(L) - 1;
}

/* Upvalue: the kinds of chunks that are loaded; NULL for all. */
static int do_file(lua_State *L) {
    const char *name = luaL_optstring(L, 1, NULL);
    lua_settop(L, 1);
    int status = luaL_loadfilex(L, name, lua_tostring(L, lua_upvalueindex(1)));
    if (status == LUA_ERRFILE) return luaL_error(L, "%s", lua_tostring(L, -1)); /* adds the position of the call */
    if (status != LUA_OK) return lua_error(L);
    lua_callk(L, 0, LUA_MULTRET, 0, file_done);
    return file_done(L, 0, 0);
}

/* Sets a field of the table on top of the stack to a function, or removes it unless it is granted. [-0, +0, m] */
static void set_or_remove(lua_State *L, const char *name, lua_CFunction function, bool is_granted) {
    if (is_granted) {
        lua_pushcfunction(L, function);
    } else {
        lua_pushnil(L);
    }
    lua_setfield(L, -2, name);
}

/* Sets `dofile` in the table of globals, which is on top of the stack. Errors about files have the position of the call. [-0, +0, m] */
static void set_do_file(lua_State *L, const char *mode) {
    lua_pushstring(L, mode);
    lua_pushcclosure(L, do_file, 1);
    lua_setfield(L, -2, "dofile");
}

/* Makes load and loadfile in the table of globals, which is on top of the stack, accept only text. [-0, +0, m] */
static void refuse_bytecode(lua_State *L) {
    lua_getfield(L, -1, "load");
    lua_pushcclosure(L, load_text, 1);
    lua_setfield(L, -2, "load");
    set_or_remove(L, "loadfile", load_file, true);
}

static void open_base(lua_State *L, unsigned which) {
    luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
    plua_note_protected_calls(L);
    set_or_remove(L, "getmetatable", plua_getmetatable, true);
    if (!(which & PLUA_LIBRARY_BYTECODE)) refuse_bytecode(L);
    if (which & PLUA_LIBRARY_LOADFILE) {
        set_do_file(L, which & PLUA_LIBRARY_BYTECODE ? NULL : "t");
    } else {
        set_or_remove(L, "loadfile", NULL, false);
        set_or_remove(L, "dofile", NULL, false);
    }
    plua_pop(L, 1);
}

/* MARK: - The other libraries */

/* Opens a library. Keeps only the functions named in `kept`, or all if `kept` is NULL. */
static void open_library(lua_State *L, const char *name, lua_CFunction open, const char *const *kept) {
    luaL_requiref(L, name, open, 1);
    if (kept) {
        lua_newtable(L);
        for (; *kept; kept++) {
            lua_getfield(L, -2, *kept);
            lua_setfield(L, -2, *kept);
        }
        lua_pushvalue(L, -1);
        lua_setglobal(L, name);
        luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE); /* package.loaded, if the package library is granted */
        lua_pushvalue(L, -2);
        lua_setfield(L, -2, name);
        plua_pop(L, 1);
        lua_remove(L, -2);
    }
    plua_pop(L, 1);
}

/* Hides the metatable of strings, which scripts could otherwise use to change string operations in the host's own modules. [-0, +0, m] */
static void protect_string_metatable(lua_State *L) {
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    plua_pop(L, 2);
}

static void open_string(lua_State *L, unsigned which) {
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 1);
    if (!(which & PLUA_LIBRARY_BYTECODE)) { /* without bytecode, string.dump has no use */
        lua_pushnil(L);
        lua_setfield(L, -2, "dump");
    }
    if (!(which & PLUA_LIBRARY_DEBUG)) protect_string_metatable(L);
    plua_pop(L, 1);
}

/* Calls `limit` with the table of a library on top of the stack, if the library is open. */
static void limit_library(lua_State *L, const char *name, void (*limit)(lua_State *)) {
    if (lua_getglobal(L, name) == LUA_TTABLE) limit(L);
    plua_pop(L, 1);
}

static int open_libraries(lua_State *L) {
    static const char *const harmless_os[] = {"time", "date", "clock", "difftime", NULL};
    static const char *const harmless_debug[] = {"traceback", NULL};
    unsigned which = (unsigned)lua_tointeger(L, 1);
    if (which & PLUA_LIBRARY_PACKAGE) open_library(L, LUA_LOADLIBNAME, luaopen_package, NULL);
    if (which & PLUA_LIBRARY_BASE) {
        open_base(L, which);
        open_library(L, LUA_OSLIBNAME, luaopen_os, which & PLUA_LIBRARY_OS ? NULL : harmless_os);
        open_library(L, LUA_DBLIBNAME, luaopen_debug, which & PLUA_LIBRARY_DEBUG ? NULL : harmless_debug);
    }
    if (which & PLUA_LIBRARY_COROUTINE) open_library(L, LUA_COLIBNAME, plua_open_coroutine, NULL);
    if (which & PLUA_LIBRARY_TABLE) open_library(L, LUA_TABLIBNAME, luaopen_table, NULL);
    if (which & PLUA_LIBRARY_STRING) open_string(L, which);
    if (which & PLUA_LIBRARY_MATH) open_library(L, LUA_MATHLIBNAME, luaopen_math, NULL);
    if (which & PLUA_LIBRARY_UTF8) open_library(L, LUA_UTF8LIBNAME, luaopen_utf8, NULL);
    if (which & PLUA_LIBRARY_IO) open_library(L, LUA_IOLIBNAME, luaopen_io, NULL);
    if (plua_is_deterministic(L)) {
        plua_open_order(L);
        limit_library(L, LUA_TABLIBNAME, plua_open_sort);
    }
    return 0;
}

int plua_open_libraries(lua_State *L, unsigned which) {
    lua_pushcfunction(L, open_libraries);
    lua_pushinteger(L, which);
    return plua_pcall(L, 1, 0);
}

/* MARK: - Limits */

/* Replaces the methods of strings, even in states without the table `string`. [-0, +0, m] */
static void limit_string_methods(lua_State *L) {
    lua_pushliteral(L, "");
    if (lua_getmetatable(L, -1)) {
        if (lua_getfield(L, -1, "__index") == LUA_TTABLE) plua_limit_string(L);
        plua_pop(L, 2);
    }
    plua_pop(L, 1);
}

/* Replaces the library functions that a count hook cannot interrupt, or that could catch the cancellation of a run: pcall, xpcall,
** setmetatable, load, collectgarbage, coroutine.*, string.find/match/gmatch/gsub/rep/format, table.concat/insert/remove/move/sort/unpack,
** debug.sethook/setmetatable. Functions that the globals lack are not added. [-0, +0, m] */
static int open_limited(lua_State *L) {
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    lua_pushglobaltable(L);
    plua_limit_base(L);
    plua_note_protected_calls(L);
    plua_pop(L, 1);
    limit_library(L, LUA_COLIBNAME, plua_limit_coroutine);
    limit_library(L, LUA_STRLIBNAME, plua_limit_string);
    limit_library(L, LUA_TABLIBNAME, plua_limit_table);
    limit_library(L, LUA_UTF8LIBNAME, plua_limit_utf8);
    limit_string_methods(L);
    limit_library(L, LUA_DBLIBNAME, plua_limit_debug);
    return 0;
}

int plua_open_limits(lua_State *L) {
    lua_pushcfunction(L, open_limited);
    int status = plua_pcall(L, 0, 0);
    if (status == LUA_OK) plua_context_of(L)->limited = true;
    return status;
}

/* MARK: - States */

static int prepare(lua_State *L) {
    if (plua_is_deterministic(L)) plua_measure_objects(L);
    plua_open_errors(L);
    return 0;
}

lua_State *plua_new_state(void *owner, int (*call)(lua_State *, void *), bool is_deterministic) {
    return plua_make_state(owner, call, prepare, is_deterministic);
}
