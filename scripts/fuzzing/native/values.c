/* Reads bytes as a list of values in text, the format of page cursors; also writes values in this format and reads them back. */
#include <stdlib.h>
#include <string.h>

#include "CPeriluneRows/Values/values.h"

static void require(bool holds) {
    if (!holds) abort();
}

enum { most_values = 20, number = 12345 };

static lua_State *make_state(void) {
    lua_State *L = plua_new_state(NULL, NULL, false);
    pdb_callbacks callbacks = {0};
    pdb_make_state(L, &callbacks);
    pdb_open_null(L);
    pdb_open_blobs(L);
    lua_settop(L, 0);
    return L;
}

/* Pushes the list at `index` as text. */
static void write(lua_State *L, int index) {
    lua_pushcfunction(L, pdb_write_values);
    lua_pushinteger(L, number);
    lua_pushvalue(L, index);
    require(lua_pcall(L, 2, 1, 0) == LUA_OK);
}

/* Pushes the list that the text at `index` contains, or nil. */
static void read(lua_State *L, int index, int count) {
    lua_pushcfunction(L, pdb_read_values);
    lua_pushvalue(L, index);
    lua_pushinteger(L, number);
    lua_pushinteger(L, count);
    require(lua_pcall(L, 3, 1, 0) == LUA_OK);
}

/* If the text on top of the stack can be read, writing its values must yield the same text. */
static void read_text(lua_State *L, int count) {
    int text = lua_gettop(L);
    read(L, text, count);
    if (!lua_istable(L, -1)) return;
    require((int)lua_rawlen(L, -1) == count);
    write(L, text + 1);
    require(lua_rawequal(L, text, -1));
}

static void push_value(lua_State *L, const unsigned char **data, const unsigned char *end) {
    unsigned char kind = *(*data)++;
    size_t left = (size_t)(end - *data), length = kind / 6 < left ? kind / 6 : left;
    lua_Integer integer = 0;
    lua_Number real = 0;
    switch (kind % 6) {
        case 0: memcpy(&integer, *data, length < 8 ? length : 8); lua_pushinteger(L, integer); break;
        case 1: memcpy(&real, *data, length < 8 ? length : 8); lua_pushnumber(L, real); break;
        case 2: lua_pushlstring(L, (const char *)*data, length); break;
        case 3: pdb_push_blob(L, (const char *)*data, length); break;
        case 4: lua_pushboolean(L, length % 2); break;
        default: pdb_push_null(L);
    }
    *data += length;
}

static void write_list(lua_State *L, const unsigned char *data, const unsigned char *end) {
    unsigned char place = data[0], byte = data[1];
    data += 2;
    int count = 0;
    lua_newtable(L);
    while (count < most_values && data < end) {
        push_value(L, &data, end);
        lua_rawseti(L, 1, ++count);
    }
    write(L, 1);
    read(L, 2, count);
    require(lua_istable(L, 3) && (int)lua_rawlen(L, 3) == count);
    for (int i = 1; i <= count; i++) {
        require(lua_rawgeti(L, 1, i) == lua_rawgeti(L, 3, i));
        require(lua_isinteger(L, -1) == lua_isinteger(L, -2));
        lua_pop(L, 2);
    }
    write(L, 3);
    require(lua_rawequal(L, 2, 4));
    /* Reads the text with one byte changed, and then also cut off after that byte. */
    size_t length;
    const char *text = lua_tolstring(L, 2, &length);
    char changed[length];
    memcpy(changed, text, length);
    place %= length;
    changed[place] = (char)byte;
    lua_pushlstring(L, changed, length);
    read_text(L, count);
    lua_pushlstring(L, changed, (size_t)place + 1);
    read_text(L, count);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    static lua_State *L;
    if (!L) L = make_state();
    if (size < 3) return 0;
    if (data[0] % 2) {
        lua_pushlstring(L, (const char *)data + 2, size - 2);
        read_text(L, data[1] % most_values);
    } else write_list(L, data + 1, data + size);
    lua_settop(L, 0);
    return 0;
}
