/* A column of the row that a statement stands on, as a value of Lua. */
#include "CPeriluneRows/Values/values.h"

void pdb_push_column(lua_State *L, sqlite3_stmt *statement, int column, bool is_boolean) {
    switch (sqlite3_column_type(statement, column)) {
        case SQLITE_INTEGER: {
            lua_Integer integer = sqlite3_column_int64(statement, column);
            if (is_boolean) lua_pushboolean(L, integer != 0);
            else lua_pushinteger(L, integer);
            break;
        }
        case SQLITE_FLOAT: lua_pushnumber(L, sqlite3_column_double(statement, column)); break;
        case SQLITE_TEXT: {
            const char *bytes = (const char *)sqlite3_column_text(statement, column);
            if (bytes == NULL) abort(); /* out of memory; Swift frames may be below, so that nothing may be raised */
            lua_pushlstring(L, bytes, (size_t)sqlite3_column_bytes(statement, column));
            break;
        }
        case SQLITE_BLOB: {
            const char *bytes = sqlite3_column_blob(statement, column);
            lua_pushlstring(L, bytes ? bytes : "", (size_t)sqlite3_column_bytes(statement, column));
            break;
        }
        default: lua_pushnil(L); break;
    }
}
