/* Database connections of the C baseline. */
#include "reference.h"

static const char database_type[] = "reference.database";

int reference_raise(lua_State *L, sqlite3 *connection) {
    return luaL_error(L, "%s", sqlite3_errmsg(connection));
}

sqlite3 *reference_check_database(lua_State *L) {
    reference_database *database = luaL_checkudata(L, 1, database_type);
    luaL_argcheck(L, database->handle != NULL, 1, "the database is closed");
    return database->handle;
}

int reference_open_database(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    reference_database *database = lua_newuserdatauv(L, sizeof *database, 0);
    database->handle = NULL;
    luaL_setmetatable(L, database_type);
    /* Opens with the flags of GRDB's connections, and enforces foreign keys. */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &database->handle, flags, NULL) != SQLITE_OK) return reference_raise(L, database->handle);
    sqlite3_exec(database->handle, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
    return 1;
}

static int execute(lua_State *L) {
    sqlite3 *connection = reference_check_database(L);
    if (sqlite3_exec(connection, luaL_checkstring(L, 2), NULL, NULL, NULL) != SQLITE_OK) {
        return reference_raise(L, connection);
    }
    return 0;
}

/* Closes the connection once its last statement is finalized. */
static int close(lua_State *L) {
    reference_database *database = luaL_checkudata(L, 1, database_type);
    sqlite3_close_v2(database->handle);
    database->handle = NULL;
    return 0;
}

void reference_open_databases(lua_State *L) {
    static const luaL_Reg methods[] = {
        {"execute", execute},
        {"prepare", reference_prepare},
        {"fetch_all", reference_fetch_all},
        {"fetch_all_by_name", reference_fetch_all_by_name},
        {"tuples", reference_tuples},
        {"rows", reference_rows},
        {"close", close},
        {"__gc", close},
        {NULL, NULL},
    };
    luaL_newmetatable(L, database_type);
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
