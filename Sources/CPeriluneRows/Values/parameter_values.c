/* Binds Lua values to statement parameters. */
#include "CPeriluneRows/Values/values.h"

/* Strings of this length and longer ones are rejected before they are passed to SQLite, which has its own limit. */
static const size_t longest_string = 1u << 30;

static const char *bind_string(lua_State *L, sqlite3_stmt *statement, int parameter, int index, bool is_blob) {
    size_t length;
    const char *bytes = lua_tolstring(L, index, &length);
    if (length >= longest_string) return "a string shorter than 1 GiB";
    int code = is_blob
        ? sqlite3_bind_blob64(statement, parameter, length ? bytes : "", length, SQLITE_STATIC)
        : sqlite3_bind_text64(statement, parameter, bytes, length, SQLITE_STATIC, SQLITE_UTF8);
    return code == SQLITE_OK ? NULL : "a string within the length limit of SQLite";
}

static inline const char *bind_plain(lua_State *L, sqlite3_stmt *statement, int parameter, int index);

/* The result if a conversion has failed: its error is on top of the stack. */
const char pdb_conversion_failed[] = "a value that can be converted";

/* The maximum number of successive conversions. A custom type may return a date, which must also be converted. */
enum { most_conversions = 4 };

static bool has_conversion(lua_State *L, int index) {
    int type = lua_type(L, index);
    return type == LUA_TTABLE || (type == LUA_TUSERDATA && !pdb_is_blob(L, index) && !pdb_is_null(L, index));
}

/* Converts a value by `__to_database` until it is plain, and binds it. The results stay on the stack. */
static const char *bind_converted(lua_State *L, sqlite3_stmt *statement, int parameter, int index) {
    static const char expected[] =
        "a value that SQLite can store (nil, boolean, number, string, perilune.null, perilune.blob or a date)";
    for (int count = 0; count < most_conversions; count++) {
        if (luaL_getmetafield(L, index, "__to_database") == LUA_TNIL) {
            return count == 0 ? expected : "a value from to_database that SQLite can store";
        }
        lua_pushvalue(L, index);
        if (plua_pcall(L, 1, 1) != LUA_OK) return pdb_conversion_failed;
        index = lua_gettop(L);
        if (!has_conversion(L, index)) return bind_plain(L, statement, parameter, index);
    }
    return "a value from to_database that is not converted again and again";
}

static const char *bind_object(lua_State *L, sqlite3_stmt *statement, int parameter, int index) {
    if (pdb_is_null(L, index)) {
        sqlite3_bind_null(statement, parameter);
        return NULL;
    }
    if (!pdb_is_blob(L, index)) return bind_converted(L, statement, parameter, index);
    lua_getiuservalue(L, index, 1);
    return bind_string(L, statement, parameter, lua_gettop(L), true);
}

/* Binds a plain value. Returns NULL, or a description of the expected types if the value cannot be bound. */
static inline const char *bind_plain(lua_State *L, sqlite3_stmt *statement, int parameter, int index) {
    switch (lua_type(L, index)) {
        case LUA_TNIL:
            sqlite3_bind_null(statement, parameter);
            return NULL;
        case LUA_TBOOLEAN:
            sqlite3_bind_int64(statement, parameter, lua_toboolean(L, index));
            return NULL;
        case LUA_TNUMBER: {
            if (lua_isinteger(L, index)) {
                sqlite3_bind_int64(statement, parameter, lua_tointeger(L, index));
                return NULL;
            }
            double number = lua_tonumber(L, index);
            if (number != number) return "a number that is not NaN, which SQLite would store as NULL";
            sqlite3_bind_double(statement, parameter, number);
            return NULL;
        }
        case LUA_TSTRING: return bind_string(L, statement, parameter, index, false);
        case LUA_TUSERDATA: return bind_object(L, statement, parameter, index);
        default: return bind_converted(L, statement, parameter, index);
    }
}

const char *pdb_bind_plain(lua_State *L, sqlite3_stmt *statement, int parameter, int index, bool is_blob) {
    if (is_blob) return bind_string(L, statement, parameter, index, true);
    return bind_plain(L, statement, parameter, index);
}

void pdb_push_plain(lua_State *L, int index) {
    lua_pushvalue(L, index);
    for (int count = 0; count < most_conversions && has_conversion(L, -1); count++) {
        if (luaL_getmetafield(L, -1, "__to_database") == LUA_TNIL) return;
        lua_insert(L, -2);
        lua_call(L, 1, 1);
    }
}

int pdb_plain_value(lua_State *L) {
    pdb_push_plain(L, 1);
    return 1;
}

void pdb_bind_value(lua_State *L, sqlite3_stmt *statement, int parameter, int index, const char *what) {
    index = lua_absindex(L, index);
    const char *expected = bind_plain(L, statement, parameter, index);
    if (expected == pdb_conversion_failed) plua_throw(L);
    if (expected) plua_raise(L, "argument", "%s: expected %s, got %s", what, expected, plua_describe(L, index));
}
