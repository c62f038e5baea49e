/* Numbers of objects in deterministic states: creation numbers, which the allocator assigns, and the numbers that scripts see instead of
** addresses. */
#include <stdio.h>
#include <string.h>

#include "CPeriluneShim/Order/order.h"

/* The address is a registry key. */
static const char shown_key;

/* MARK: - Creation numbers */

/* Returns the offset of an address from the start of the last created object. */
static ptrdiff_t distance_from_start(lua_State *L, const void *address) {
    return (const char *)address - (const char *)plua_context_of(L)->last_object;
}

void plua_measure_objects(lua_State *L) {
    plua_context *context = plua_context_of(L);
    for (int count = 0; count < 3; count++) {
        const void *block = lua_newuserdatauv(L, 1, count);
        context->userdata_offsets[count] = distance_from_start(L, block);
    }
    lua_State *thread = lua_newthread(L);
    context->thread_offset = distance_from_start(L, thread);
    lua_settop(L, -5);
}

static ptrdiff_t userdata_offset(lua_State *L, int index) {
    const ptrdiff_t *offsets = plua_context_of(L)->userdata_offsets;
    int count = 0;
    while (lua_getiuservalue(L, index, count + 1) != LUA_TNONE) {
        plua_pop(L, 1);
        count++;
    }
    plua_pop(L, 1);
    return count == 0 ? offsets[0] : offsets[1] + (count - 1) * (offsets[2] - offsets[1]);
}

/* Returns whether the value is a C function without upvalues, which is not an object. */
static bool is_plain_function(lua_State *L, int index) {
    if (!lua_iscfunction(L, index)) return false;
    if (lua_getupvalue(L, index, 1) == NULL) return true;
    plua_pop(L, 1);
    return false;
}

uint64_t plua_object_number(lua_State *L, int index) {
    if (!plua_is_deterministic(L)) return 0;
    const char *start;
    switch (lua_type(L, index)) {
        case LUA_TTABLE: start = lua_topointer(L, index); break;
        case LUA_TFUNCTION:
            if (is_plain_function(L, index)) return 0;
            start = lua_topointer(L, index);
            break;
        case LUA_TUSERDATA: start = (const char *)lua_touserdata(L, index) - userdata_offset(L, index); break;
        case LUA_TTHREAD: start = (const char *)lua_topointer(L, index) - plua_context_of(L)->thread_offset; break;
        default: return 0;
    }
    return plua_number_of_block(start);
}

/* MARK: - Numbers that scripts see */

/* Returns the number that scripts see for an object or a light userdata: its position in the order in which they were first shown.
** [-0, +0, m] */
static uint64_t shown_number(lua_State *L, int index) {
    index = lua_absindex(L, index);
    luaL_checkstack(L, 4, NULL);
    plua_push_weak_table(L, &shown_key, "k");
    lua_pushvalue(L, index);
    if (lua_rawget(L, -2) == LUA_TNIL) {
        lua_pushvalue(L, index);
        lua_pushinteger(L, (lua_Integer)++plua_context_of(L)->shown_count);
        lua_pushvalue(L, -1);
        lua_replace(L, -4);
        lua_rawset(L, -4);
    }
    uint64_t number = (uint64_t)lua_tointeger(L, -1);
    plua_pop(L, 2);
    return number;
}

static bool has_address(int type) {
    return type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA || type == LUA_TTHREAD || type == LUA_TLIGHTUSERDATA;
}

/* Pushes the text that is shown instead of an address. [-0, +1, m] */
static void push_address(lua_State *L, uint64_t number) {
    char text[32];
    snprintf(text, sizeof text, "0x%012llx", (unsigned long long)number);
    lua_pushstring(L, text);
}

const char *plua_tolstring(lua_State *L, int index, size_t *length) {
    int type = lua_type(L, index);
    if (!plua_is_deterministic(L) || !has_address(type)) return luaL_tolstring(L, index, length);
    index = lua_absindex(L, index);
    if (luaL_getmetafield(L, index, "__tostring") != LUA_TNIL) {
        plua_pop(L, 1);
        return luaL_tolstring(L, index, length);
    }
    push_address(L, shown_number(L, index));
    bool has_name = luaL_getmetafield(L, index, "__name") == LUA_TSTRING;
    lua_pushfstring(L, "%s: %s", has_name ? lua_tostring(L, -1) : lua_typename(L, type), lua_tostring(L, has_name ? -2 : -1));
    lua_replace(L, has_name ? -3 : -2);
    if (has_name) plua_pop(L, 1);
    return lua_tolstring(L, -1, length);
}

/* MARK: - Functions of Lua's libraries */

static int numbered_tostring(lua_State *L) {
    luaL_checkany(L, 1);
    plua_tolstring(L, 1, NULL);
    return 1;
}

static int numbered_print(lua_State *L) {
    int count = lua_gettop(L);
    for (int i = 1; i <= count; i++) {
        size_t length;
        const char *text = plua_tolstring(L, i, &length);
        if (i > 1) fputc('\t', stdout);
        fwrite(text, 1, length, stdout);
        plua_pop(L, 1);
    }
    fputc('\n', stdout);
    fflush(stdout);
    return 0;
}

/* Returns a 48-bit FNV-1a hash of a string, which is shown instead of its address. It depends only on the bytes, because equal strings may
** be one object and must be shown alike. */
static uint64_t hash_of(const char *text, size_t length) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001B3u;
    return hash >> 16;
}

/* Replaces an argument of string.format by the text for %p. */
static void replace_with_address(lua_State *L, int argument) {
    size_t length;
    if (has_address(lua_type(L, argument))) {
        push_address(L, shown_number(L, argument));
    } else if (lua_type(L, argument) == LUA_TSTRING) {
        const char *text = lua_tolstring(L, argument, &length);
        push_address(L, hash_of(text, length));
    } else {
        lua_pushliteral(L, "(null)");
    }
    lua_replace(L, argument);
}

/* string.format, with numbers instead of addresses. */
static int numbered_format(lua_State *L) {
    size_t length;
    const char *format = luaL_checklstring(L, 1, &length);
    int count = lua_gettop(L), argument = 1;
    char *changed = NULL; /* a copy of the format with %s for %p */
    for (size_t i = 0; i < length; i++) {
        if (format[i] != '%') continue;
        if (++i >= length || format[i] == '%') continue;
        while (i < length && format[i] != '\0' && strchr("-+ #0123456789.", format[i])) i++;
        if (++argument > count || i >= length) break;
        if (format[i] == 'p') {
            if (changed == NULL) changed = memcpy(lua_newuserdatauv(L, length + 1, 0), format, length + 1);
            changed[i] = 's';
            replace_with_address(L, argument);
        } else if (format[i] == 's' && has_address(lua_type(L, argument))) {
            plua_tolstring(L, argument, NULL);
            lua_replace(L, argument);
        }
    }
    if (changed) {
        lua_pushlstring(L, changed, length);
        lua_replace(L, 1);
    }
    lua_settop(L, count);
    return plua_context_of(L)->format_function(L);
}

static int file_to_string(lua_State *L) {
    const luaL_Stream *file = luaL_checkudata(L, 1, LUA_FILEHANDLE);
    if (file->closef == NULL) {
        lua_pushliteral(L, "file (closed)");
    } else {
        push_address(L, shown_number(L, 1));
        lua_pushfstring(L, "file (%s)", lua_tostring(L, -1));
    }
    return 1;
}

/* Replaces a function of the table on top of the stack. Returns the previous function; does nothing and returns NULL if the field is not a
** function. [-0, +0, m] */
static lua_CFunction replace(lua_State *L, const char *name, lua_CFunction function) {
    lua_CFunction former = lua_getfield(L, -1, name) == LUA_TFUNCTION ? lua_tocfunction(L, -1) : NULL;
    plua_pop(L, 1);
    if (former == NULL) return NULL;
    lua_pushcfunction(L, function);
    lua_setfield(L, -2, name);
    return former;
}

void plua_open_order(lua_State *L) {
    lua_pushglobaltable(L);
    plua_open_traversal(L);
    replace(L, "tostring", numbered_tostring);
    replace(L, "print", numbered_print);
    if (lua_getfield(L, -1, LUA_STRLIBNAME) == LUA_TTABLE) {
        plua_context_of(L)->format_function = replace(L, "format", numbered_format);
    }
    if (luaL_getmetatable(L, LUA_FILEHANDLE) == LUA_TTABLE) replace(L, "__tostring", file_to_string);
    plua_pop(L, 3);
}
