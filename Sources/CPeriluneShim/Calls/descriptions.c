/* Descriptions of values for messages: `the integer 5`, `the string "x"`, `a request`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CPeriluneShim/Calls/calls.h"

/* The length beyond which strings are shortened, and the length of the part that is shown. */
enum { LONGEST_STRING = 40, PART_OF_STRING = 37 };

static bool is_vowel(char c) { return c != '\0' && strchr("aeiouAEIOU", c) != NULL; }

static int write_float(char *target, size_t size, lua_Number number) {
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number) break;
    }
    bool is_whole = strspn(digits, "-0123456789") == strlen(digits);
    return snprintf(target, size, "the float %s%s", digits, is_whole ? ".0" : "");
}

static int write_string(char *target, size_t size, const char *bytes, size_t length) {
    size_t shown = length;
    if (length > LONGEST_STRING) {
        shown = PART_OF_STRING;
        while (shown > 0 && ((unsigned char)bytes[shown] & 0xC0) == 0x80) shown--;
    }
    int start = snprintf(target, size, "the string \"");
    /* A NUL would end the message, because messages are C strings. */
    for (size_t i = 0; i < shown; i++) target[(size_t)start + i] = bytes[i] ? bytes[i] : '?';
    return start + (int)shown + snprintf(target + start + shown, size - (size_t)start - shown, shown < length ? "...\"" : "\"");
}

size_t plua_describe_plain(char *target, const plua_plain *value) {
    enum { SIZE = PLUA_DESCRIPTION_SIZE };
    int length;
    switch (value->type) {
        case LUA_TNONE: length = snprintf(target, SIZE, "no value"); break;
        case LUA_TNIL: length = snprintf(target, SIZE, "nil"); break;
        case LUA_TBOOLEAN: length = snprintf(target, SIZE, value->integer ? "true" : "false"); break;
        case LUA_TNUMBER:
            if (value->is_integer) length = snprintf(target, SIZE, "the integer %lld", (long long)value->integer);
            else length = write_float(target, SIZE, value->number);
            break;
        case LUA_TSTRING: length = write_string(target, SIZE, value->bytes, value->length); break;
        case LUA_TTABLE: length = snprintf(target, SIZE, "a table"); break;
        case LUA_TFUNCTION: length = snprintf(target, SIZE, "a function"); break;
        case LUA_TTHREAD: length = snprintf(target, SIZE, "a coroutine"); break;
        case LUA_TLIGHTUSERDATA: length = snprintf(target, SIZE, "a light userdata"); break;
        default: length = snprintf(target, SIZE, "a userdata"); break;
    }
    return (size_t)length;
}

/* Pushes the description from a value's metatable: `__described`, or `__name` with an article. Pushes nothing and returns false if none
** exists. [-0, +(0|1), m] */
static bool push_provided(lua_State *L, int index) {
    static const char prefix[] = "perilune.";
    int type = luaL_getmetafield(L, index, "__described");
    if (type == LUA_TSTRING) return true;
    if (type != LUA_TNIL) plua_pop(L, 1);
    type = luaL_getmetafield(L, index, "__name");
    if (type == LUA_TNIL) return false;
    if (type == LUA_TSTRING) {
        const char *name = lua_tostring(L, -1);
        if (strncmp(name, prefix, sizeof prefix - 1) == 0) name += sizeof prefix - 1;
        bool has_article = strncmp(name, "a ", 2) == 0 || strncmp(name, "an ", 3) == 0 || strncmp(name, "the ", 4) == 0;
        lua_pushfstring(L, "%s%s", has_article ? "" : is_vowel(*name) ? "an " : "a ", name);
        lua_remove(L, -2);
        return true;
    }
    plua_pop(L, 1);
    return false;
}

const char *plua_describe(lua_State *L, int index) {
    int type = lua_type(L, index);
    if ((type == LUA_TTABLE || type == LUA_TUSERDATA) && push_provided(L, index)) return lua_tostring(L, -1);
    plua_plain value = {.type = type};
    if (type == LUA_TBOOLEAN) value.integer = lua_toboolean(L, index);
    if (type == LUA_TNUMBER) {
        value.is_integer = lua_isinteger(L, index);
        value.integer = lua_tointeger(L, index), value.number = lua_tonumber(L, index);
    }
    if (type == LUA_TSTRING) value.bytes = lua_tolstring(L, index, &value.length);
    char text[PLUA_DESCRIPTION_SIZE];
    lua_pushlstring(L, text, plua_describe_plain(text, &value));
    return lua_tostring(L, -1);
}

int plua_describe_argument(lua_State *L) {
    luaL_checkany(L, 1);
    plua_describe(L, 1);
    return 1;
}

int plua_argument_error(lua_State *L, const char *function, int argument, const char *expected, int index) {
    const char *got = plua_describe(L, index);
    return plua_raise(L, "argument", "%s: argument %d: expected %s, got %s", function, argument, expected, got);
}
