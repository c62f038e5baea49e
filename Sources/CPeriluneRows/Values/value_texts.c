/* Encoding of lists of values as text for URLs: a number that identifies the list, then each value after a letter for its kind, in URL-safe
** base64 (RFC 4648) without padding. Equal values have equal texts. */
#include <string.h>

#include "CPeriluneRows/Values/values.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

enum { number_size = 8, length_size = 4, head_size = 4, most_values = 2000 };

/* The longest text whose length fits into the length field. */
static const size_t longest_text = UINT32_MAX;

/* MARK: - Bytes */

static void put_integer(uint8_t **end, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++) *(*end)++ = (uint8_t)(value >> 8 * i);
}

static uint64_t get_integer(const uint8_t *bytes, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* [-0, +1, m] */
static void push_base64(lua_State *L, const uint8_t *bytes, size_t length) {
    luaL_Buffer buffer;
    size_t rest = length % 3, text_length = length / 3 * 4 + (rest ? rest + 1 : 0);
    char *text = luaL_buffinitsize(L, &buffer, text_length + 3);
    for (size_t i = 0; i < length; i += 3, text += 4) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < length ? bytes[i + 1] << 8 : 0) | (i + 2 < length ? bytes[i + 2] : 0);
        for (int j = 0; j < 4; j++) text[j] = digits[three >> (18 - 6 * j) & 63];
    }
    luaL_pushresultsize(&buffer, text_length);
}

/* Returns the value of a digit, or -1 for another byte. */
static int digit_value(char digit) {
    if (digit >= 'A' && digit <= 'Z') return digit - 'A';
    if (digit >= 'a' && digit <= 'z') return digit - 'a' + 26;
    if (digit >= '0' && digit <= '9') return digit - '0' + 52;
    return digit == '-' ? 62 : digit == '_' ? 63 : -1;
}

/* Pushes the decoded bytes of a text and returns them. Returns NULL if push_base64 cannot have created the text. [-0, +(0|1), m] */
static const uint8_t *push_bytes(lua_State *L, const char *text, size_t text_length, size_t *length) {
    if (text_length % 4 == 1) return NULL;
    *length = text_length / 4 * 3 + (text_length % 4 ? text_length % 4 - 1 : 0);
    uint8_t *bytes = lua_newuserdatauv(L, *length + 3, 0);
    for (size_t i = 0, at = 0; i < text_length; i += 4, at += 3) {
        uint32_t three = 0;
        for (size_t j = 0; j < 4; j++) {
            int digit = i + j < text_length ? digit_value(text[i + j]) : 0;
            if (digit < 0) return NULL;
            three = three << 6 | (uint32_t)digit;
        }
        for (size_t j = 0; j < 3; j++) bytes[at + j] = (uint8_t)(three >> (16 - 8 * j));
        /* The unused bits of the last digit must be 0, as push_base64 leaves them. */
        for (size_t j = at; j < at + 3; j++) if (j >= *length && bytes[j] != 0) return NULL;
    }
    return bytes;
}

/* MARK: - Writing */

/* Returns the bytes of a text or blob and sets `kind` to the letter of its kind. */
static const char *text_at(lua_State *L, int index, char *kind, size_t *length) {
    *kind = 't';
    if (lua_type(L, index) == LUA_TSTRING) return lua_tolstring(L, index, length);
    *kind = 'b';
    return pdb_blob_bytes(L, index, length);
}

/* Pushes the plain values of the list at `list` and returns the size of their encoding. [-0, +count, e] */
static size_t push_plain_values(lua_State *L, int list, int count) {
    size_t size = 0;
    luaL_checkstack(L, count + 8, NULL);
    for (int i = 1; i <= count; i++) {
        size_t length = 0;
        char kind;
        lua_rawgeti(L, list, i);
        pdb_push_plain(L, lua_gettop(L));
        lua_remove(L, -2);
        int type = lua_type(L, -1);
        if (type == LUA_TNUMBER) size += number_size;
        else if (type != LUA_TBOOLEAN && !pdb_is_null(L, -1)) {
            if (!text_at(L, lua_gettop(L), &kind, &length)) luaL_error(L, "a %s has no place in a text", luaL_typename(L, -1));
            if (length > longest_text) luaL_error(L, "too long a text");
            size += length_size + length;
        }
        size++;
    }
    return size;
}

static void put_value(lua_State *L, int index, uint8_t **end) {
    uint64_t bits;
    size_t length;
    char kind;
    if (lua_isinteger(L, index)) {
        *(*end)++ = 'i';
        put_integer(end, (uint64_t)lua_tointeger(L, index), number_size);
    } else if (lua_type(L, index) == LUA_TNUMBER) {
        double number = lua_tonumber(L, index);
        memcpy(&bits, &number, sizeof bits);
        *(*end)++ = 'f';
        put_integer(end, bits, number_size);
    } else if (lua_isboolean(L, index)) {
        *(*end)++ = lua_toboolean(L, index) ? 'y' : 'n';
    } else if (pdb_is_null(L, index)) {
        *(*end)++ = '0';
    } else {
        const char *bytes = text_at(L, index, &kind, &length);
        *(*end)++ = (uint8_t)kind;
        put_integer(end, length, length_size);
        memcpy(*end, bytes, length);
        *end += length;
    }
}

int pdb_write_values(lua_State *L) {
    lua_Integer number = luaL_checkinteger(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_Unsigned count = lua_rawlen(L, 2);
    luaL_argcheck(L, count <= most_values, 2, "too many values");
    lua_settop(L, 2);
    size_t size = head_size + push_plain_values(L, 2, (int)count);
    uint8_t *bytes = lua_newuserdatauv(L, size, 0), *end = bytes;
    put_integer(&end, (uint64_t)number, head_size);
    for (int i = 0; i < (int)count; i++) put_value(L, 3 + i, &end);
    push_base64(L, bytes, size);
    return 1;
}

/* MARK: - Reading */

/* Pushes the value encoded at `bytes` and returns the position after it. Returns NULL for an invalid encoding. [-0, +(0|1), m] */
static const uint8_t *push_value(lua_State *L, const uint8_t *bytes, const uint8_t *end) {
    if (bytes == end) return NULL;
    char kind = (char)*bytes++;
    size_t left = (size_t)(end - bytes), length;
    double number;
    uint64_t bits;
    switch (kind) {
        case 'y':
        case 'n': lua_pushboolean(L, kind == 'y'); return bytes;
        case '0': pdb_push_null(L); return bytes;
        case 'i':
        case 'f':
            if (left < number_size) return NULL;
            bits = get_integer(bytes, number_size);
            memcpy(&number, &bits, sizeof number);
            if (kind == 'i') lua_pushinteger(L, (lua_Integer)bits);
            else lua_pushnumber(L, number);
            return bytes + number_size;
        case 't':
        case 'b':
            if (left < length_size) return NULL;
            length = (size_t)get_integer(bytes, length_size);
            bytes += length_size;
            if (left - length_size < length) return NULL;
            if (kind == 't') lua_pushlstring(L, (const char *)bytes, length);
            else pdb_push_blob(L, (const char *)bytes, length);
            return bytes + length;
        default: return NULL;
    }
}

int pdb_read_values(lua_State *L) {
    size_t text_length, length;
    const char *text = luaL_checklstring(L, 1, &text_length);
    lua_Integer number = luaL_checkinteger(L, 2), count = luaL_checkinteger(L, 3);
    luaL_argcheck(L, count >= 0 && count <= most_values, 3, "too many values");
    const uint8_t *bytes = push_bytes(L, text, text_length, &length);
    lua_pushnil(L);
    if (!bytes || length < head_size) return 1;
    lua_pushliteral(L, "other number");
    if (get_integer(bytes, head_size) != (uint32_t)number) return 2;
    lua_pop(L, 2);
    const uint8_t *position = bytes + head_size, *end = bytes + length;
    lua_createtable(L, (int)count, 0);
    for (lua_Integer i = 1; i <= count && position; i++) {
        position = push_value(L, position, end);
        if (position) lua_rawseti(L, -2, i);
    }
    if (position != end) lua_pushnil(L);
    return 1;
}
