/* Conversion of an SQLite value to Lua: a column of the current row, a value of a changing row, or an argument. */
#include "CPeriluneRows/Values/values.h"

void pdb_push_column(lua_State *L, sqlite3_value *value, int type, bool is_boolean) {
    switch (type) {
        case SQLITE_INTEGER: {
            lua_Integer integer = sqlite3_value_int64(value);
            if (is_boolean) lua_pushboolean(L, integer != 0);
            else lua_pushinteger(L, integer);
            break;
        }
        case SQLITE_FLOAT: lua_pushnumber(L, sqlite3_value_double(value)); break;
        case SQLITE_TEXT:
        case SQLITE_BLOB: {
            size_t length;
            const char *bytes = pdb_value_bytes(value, type, &length);
            lua_pushlstring(L, bytes, length);
            break;
        }
        default: lua_pushnil(L); break;
    }
}

const char *pdb_value_bytes(sqlite3_value *value, int type, size_t *length) {
    const char *bytes = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : sqlite3_value_blob(value);
    /* SQLite could not allocate the text's final NUL. Nothing may be raised, because Swift frames may be on the stack. In a state with
    ** limits, the run is about to end. */
    if (bytes == NULL && type == SQLITE_TEXT && !plua_is_run_cancelled()) abort();
    *length = bytes ? (size_t)sqlite3_value_bytes(value) : 0;
    return bytes ? bytes : "";
}
