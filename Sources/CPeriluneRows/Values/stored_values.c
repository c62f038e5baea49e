/* Equality of two values in a column: compares the values that the column would store. */
#include <stdio.h>
#include <string.h>

#include "CPeriluneRows/Values/values.h"

/* A value as a column stores it. */
typedef struct {
    int type; /* LUA_TNIL for NULL, LUA_TNUMBER, LUA_TSTRING, or LUA_TNONE for values that SQLite cannot store */
    bool is_integer, is_blob;
    lua_Integer integer;
    lua_Number number;
    const char *bytes;
    size_t length;
    char digits[40];
} stored_value;

enum { LONGEST_NUMBER = 400 };

static bool is_affinity(const char *affinity, const char *name) { return strcmp(affinity, name) == 0; }

/* Returns whether a column with numeric affinity stores a float as an integer. SQLite never converts a float to the smallest or the largest
** integer. */
static bool is_whole(lua_Number number, lua_Integer *integer) {
    if (!(number > -9223372036854775808.0 && number < 9223372036854775808.0)) return false;
    *integer = (lua_Integer)number;
    return (lua_Number)*integer == number && *integer < LUA_MAXINTEGER;
}

static void store_as_text(stored_value *value) {
    if (value->is_integer) sqlite3_snprintf(sizeof value->digits, value->digits, "%lld", (long long)value->integer);
    else sqlite3_snprintf(sizeof value->digits, value->digits, "%!.15g", value->number);
    value->type = LUA_TSTRING;
    value->bytes = value->digits;
    value->length = strlen(value->digits);
}

static void store_number(stored_value *value, const char *affinity) {
    value->type = LUA_TNUMBER;
    if (is_affinity(affinity, "blob")) return;
    if (is_affinity(affinity, "text")) {
        store_as_text(value);
    } else if (is_affinity(affinity, "real")) {
        if (value->is_integer) value->number = (lua_Number)value->integer;
        value->is_integer = false;
    } else if (!value->is_integer) {
        value->is_integer = is_whole(value->number, &value->integer);
    }
}

/* Reads a text that consists of a decimal number. Like SQLite, rejects hexadecimal digits, infinities and names. [-0, +0, -] */
static bool read_number(lua_State *L, stored_value *value) {
    if (value->length == 0 || value->length > LONGEST_NUMBER || strspn(value->bytes, " \t\n\v\f\r+-.0123456789eE") != value->length) return false;
    if (lua_stringtonumber(L, value->bytes) != value->length + 1) return false;
    value->is_integer = lua_isinteger(L, -1);
    value->integer = lua_tointeger(L, -1);
    value->number = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return true;
}

static void store(lua_State *L, int index, const char *affinity, stored_value *value) {
    *value = (stored_value){.type = lua_type(L, index)};
    switch (value->type) {
        case LUA_TNIL: return;
        case LUA_TBOOLEAN:
            value->is_integer = true, value->integer = lua_toboolean(L, index);
            store_number(value, affinity);
            return;
        case LUA_TNUMBER:
            value->is_integer = lua_isinteger(L, index);
            value->integer = lua_tointeger(L, index), value->number = lua_tonumber(L, index);
            store_number(value, affinity);
            return;
        case LUA_TSTRING:
            value->bytes = lua_tolstring(L, index, &value->length);
            if (!is_affinity(affinity, "text") && !is_affinity(affinity, "blob") && read_number(L, value)) store_number(value, affinity);
            return;
        default: break;
    }
    if (pdb_is_null(L, index)) {
        value->type = LUA_TNIL;
    } else {
        value->bytes = pdb_blob_bytes(L, index, &value->length);
        value->is_blob = value->bytes != NULL;
        value->type = value->is_blob ? LUA_TSTRING : LUA_TNONE;
    }
}

static bool are_equal(const stored_value *left, const stored_value *right) {
    if (left->type != right->type) return false;
    switch (left->type) {
        case LUA_TNIL: return true;
        case LUA_TSTRING: return left->length == right->length && memcmp(left->bytes, right->bytes, left->length) == 0;
        case LUA_TNUMBER:
            if (left->is_integer != right->is_integer) return false;
            return left->is_integer ? left->integer == right->integer : left->number == right->number;
        default: return false;
    }
}

int pdb_are_same_stored(lua_State *L) {
    enum { LEFT = 1, RIGHT, AFFINITY, CONTENT, PLAIN_LEFT, PLAIN_RIGHT };
    const char *affinity = luaL_checkstring(L, AFFINITY);
    lua_settop(L, CONTENT);
    pdb_push_plain(L, LEFT);
    pdb_push_plain(L, RIGHT);
    stored_value left, right;
    store(L, PLAIN_LEFT, affinity, &left);
    store(L, PLAIN_RIGHT, affinity, &right);
    bool are_same = are_equal(&left, &right);
    if (left.type == LUA_TNONE && right.type == LUA_TNONE) are_same = lua_rawequal(L, PLAIN_LEFT, PLAIN_RIGHT);
    /* In columns declared as BLOB, strings and blobs with the same bytes are equal. */
    bool holds_bytes = lua_type(L, CONTENT) == LUA_TSTRING && is_affinity(lua_tostring(L, CONTENT), "blob");
    lua_pushboolean(L, are_same && (left.is_blob == right.is_blob || holds_bytes));
    return 1;
}
