/* A library for tests, compiled by `NativeLibrary.swift`: an SQLite extension with a function `thrice(x)`, and a native Lua module. */
#include <stddef.h>
#include <stdio.h>

#include <lauxlib.h>

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT1

static void thrice(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    sqlite3_result_int64(context, 3 * sqlite3_value_int64(values[0]));
}

int sqlite3_extension_init(sqlite3 *db, char **message, const struct sqlite3_api_routines *api) {
    (void)message;
    /* Set only once, because functions of other connections read it at any time. Extensions are loaded one after the other. */
    if (!sqlite3_api) SQLITE_EXTENSION_INIT2(api);
    return sqlite3_create_function_v2(db, "thrice", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, thrice, NULL, NULL, NULL);
}

/* module.message(f, ...): the message of the error that a function raises, as C functions read it; nil if it has none. */
static int message(lua_State *L) {
    if (lua_pcall(L, lua_gettop(L) - 1, 0, 0) == LUA_OK) return 0;
    const char *text = lua_tostring(L, -1);
    lua_pushstring(L, text);
    return 1;
}

/* module.write(path): writes an empty file. */
static int write(lua_State *L) {
    FILE *file = fopen(luaL_checkstring(L, 1), "w");
    if (file) fclose(file);
    return 0;
}

int luaopen_libPeriluneTestExtension(lua_State *L) {
    luaL_newlib(L, ((const luaL_Reg[]){{"message", message}, {"write", write}, {NULL, NULL}}));
    return 1;
}
