/* The plain Lua state of the baseline: the stock allocator, the standard libraries and the module `reference`. */
#include <stdio.h>
#include <time.h>

#include "perilune_benchmarks.h"
#include "reference.h"

double perilune_monotonic_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int now(lua_State *L) {
    lua_pushnumber(L, perilune_monotonic_seconds());
    return 1;
}

int reference_open_module(lua_State *L) {
    static const luaL_Reg functions[] = {{"open", reference_open_database}, {"now", now}, {NULL, NULL}};
    reference_open_databases(L);
    reference_open_statements(L);
    luaL_newlib(L, functions);
    return 1;
}

static int add_traceback(lua_State *L) {
    luaL_traceback(L, L, lua_tostring(L, 1), 1);
    return 1;
}

static int run(lua_State *L, int argument_count, const char *const *arguments) {
    luaL_openlibs(L);
    luaL_requiref(L, "reference", reference_open_module, 0);
    lua_pushcfunction(L, add_traceback);
    if (luaL_loadfile(L, arguments[0]) != LUA_OK) return LUA_ERRSYNTAX;
    luaL_checkstack(L, argument_count, "too many arguments");
    for (int i = 1; i < argument_count; i++) lua_pushstring(L, arguments[i]);
    return lua_pcall(L, argument_count - 1, 0, -argument_count - 1);
}

int perilune_run_reference(int argument_count, const char *const *arguments) {
    /* Disables memory statistics, like `perilune` does: otherwise each of SQLite's allocations locks a mutex. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    lua_State *L = luaL_newstate();
    if (argument_count < 1 || L == NULL) {
        fputs("reference: expected a Lua file and enough memory to run it\n", stderr);
        return 1;
    }
    int status = run(L, argument_count, arguments);
    if (status != LUA_OK) fprintf(stderr, "reference: %s\n", lua_tostring(L, -1));
    lua_close(L);
    return status == LUA_OK ? 0 : 1;
}
