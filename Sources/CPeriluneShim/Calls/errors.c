/* Error objects, and the traceback and position of the last failure. */
#include <stdarg.h>
#include <string.h>

#include "CPeriluneShim/Calls/calls.h"

/* The addresses are registry keys. */
static const char error_metatable_key, failure_value_key, failure_traceback_key, failure_file_key, failure_line_key;

/* MARK: - Error objects: userdata with a Swift error or NULL; the user value is the table of fields */

bool plua_is_error(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) return false;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &error_metatable_key);
    bool is_error = lua_rawequal(L, -1, -2);
    plua_pop(L, 2);
    return is_error;
}

void **plua_error_payload(lua_State *L, int index) {
    return plua_is_error(L, index) ? lua_touserdata(L, index) : NULL;
}

void plua_push_error_fields(lua_State *L, int index) {
    lua_getiuservalue(L, index, 1);
}

void plua_push_error(lua_State *L, const char *kind, const char *format, ...) {
    void **payload = lua_newuserdatauv(L, sizeof *payload, 1);
    *payload = NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &error_metatable_key);
    lua_setmetatable(L, -2);
    lua_createtable(L, 0, 8);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, -3, 1);
    lua_pushstring(L, kind);
    lua_setfield(L, -2, "kind");
    va_list arguments;
    va_start(arguments, format);
    lua_pushvfstring(L, format, arguments);
    va_end(arguments);
    lua_setfield(L, -2, "message");
    plua_pop(L, 1);
}

void plua_set_error_field(lua_State *L, const char *name) {
    lua_getiuservalue(L, -2, 1);
    lua_insert(L, -2);
    lua_setfield(L, -2, name);
    plua_pop(L, 1);
}

bool plua_is_of_script(const lua_Debug *activation) {
    return activation->currentline > 0 && strncmp(activation->source, PLUA_LIBRARY_CHUNK, strlen(PLUA_LIBRARY_CHUNK)) != 0;
}

bool plua_find_position(lua_State *L, lua_Debug *activation) {
    for (int level = 0; lua_getstack(L, level, activation); level++) {
        lua_getinfo(L, "Sl", activation);
        if (plua_is_of_script(activation)) return true;
    }
    return false;
}

/* Returns whether Lua can yield across a C function with this name, which is not possible for most C functions. */
static bool can_wait(const char *name) {
    static const char *const names[] = {"pcall", "xpcall", "dofile"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}

const char *plua_find_unwaiting_caller(lua_State *L) {
    lua_Debug activation;
    const char *name = NULL;
    bool has_script = false, has_c = false;
    for (int level = 0; lua_getstack(L, level, &activation); level++) {
        lua_getinfo(L, "Sln", &activation);
        if (plua_is_of_script(&activation)) {
            if (has_c && name) return name;
            has_script = true, has_c = false, name = NULL;
        } else if (has_script && !(activation.name && can_wait(activation.name))) {
            /* A script may have called a Lua function of a library that calls a C function. */
            has_c = has_c || *activation.what == 'C';
            if (activation.name) name = activation.name;
        }
    }
    return has_c ? name : NULL;
}

/* Writes the digits of a line number. Signal handlers use this function, so it must not call functions like snprintf. */
static size_t write_line(char *target, int line) {
    char digits[16];
    size_t count = 0;
    for (; line > 0; line /= 10) digits[count++] = (char)('0' + line % 10);
    for (size_t i = 0; i < count; i++) target[i] = digits[count - 1 - i];
    return count;
}

void plua_describe_place(void *context, char *place, size_t size) {
    enum { ROOM_FOR_LINE = 16 };
    plua_context *self = context;
    lua_State *L = self->running ? self->running : self->main;
    lua_Debug activation;
    if (size <= ROOM_FOR_LINE || !L || !plua_find_position(L, &activation)) return;
    const char *name = activation.source;
    name = *name == '@' || *name == '=' ? name + 1 : activation.short_src;
    size_t length = strnlen(name, size - ROOM_FOR_LINE);
    memcpy(place, name, length);
    place[length++] = ':';
    length += write_line(place + length, activation.currentline);
    place[length] = '\0';
}

void plua_add_position(lua_State *L) {
    lua_Debug activation;
    lua_getiuservalue(L, -1, 1);
    lua_getfield(L, -1, "file");
    bool has_position = !lua_isnil(L, -1);
    plua_pop(L, 1);
    if (!has_position && plua_find_position(L, &activation)) {
        lua_pushstring(L, activation.short_src);
        lua_setfield(L, -2, "file");
        lua_pushinteger(L, activation.currentline);
        lua_setfield(L, -2, "line");
    }
    plua_pop(L, 1);
    if (!has_position) plua_name_function(L);
}

int plua_position(lua_State *L) {
    lua_Debug activation;
    if (!plua_find_position(L, &activation)) return 0;
    bool is_file = activation.source[0] == '@';
    lua_pushstring(L, is_file ? activation.source + 1 : activation.short_src);
    lua_pushinteger(L, activation.currentline);
    return 2;
}

int plua_raise(lua_State *L, const char *kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *message = lua_pushvfstring(L, format, arguments);
    va_end(arguments);
    plua_push_error(L, kind, "%s", message);
    plua_add_position(L);
    return plua_throw(L);
}

/* Adds the string keys of the table on top of the stack as fields to the error below it, unless the error has a field of the same name.
** [-1, +0] */
static void add_fields(lua_State *L) {
    lua_getiuservalue(L, -2, 1);
    int fields = lua_gettop(L), source = fields - 1;
    for (lua_pushnil(L); lua_next(L, source);) {
        lua_pushvalue(L, -2);
        bool is_new = lua_type(L, -1) == LUA_TSTRING && lua_rawget(L, fields) == LUA_TNIL;
        plua_pop(L, 1);
        if (is_new) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, fields);
        } else {
            plua_pop(L, 1);
        }
    }
    plua_pop(L, 2);
}

int plua_raise_error(lua_State *L) {
    const char *kind = luaL_checkstring(L, 1);
    plua_push_error(L, kind, "%s", luaL_checkstring(L, 2));
    lua_pushvalue(L, 2); /* the whole message, because the one above ends at the first NUL */
    plua_set_error_field(L, "message");
    if (lua_type(L, 3) == LUA_TTABLE) {
        lua_pushvalue(L, 3);
        add_fields(L);
    }
    plua_add_position(L);
    return plua_throw(L);
}

int plua_add_error_fields(lua_State *L) {
    lua_settop(L, 2);
    if (plua_is_error(L, 1) && lua_type(L, 2) == LUA_TTABLE) {
        lua_pushvalue(L, 1);
        if (lua_getfield(L, 2, "message") == LUA_TSTRING) plua_set_error_field(L, "message");
        lua_settop(L, 2);
        add_fields(L);
    }
    lua_settop(L, 1);
    return 1;
}

/* MARK: - Metamethods */

static int error_index(lua_State *L) {
    lua_getiuservalue(L, 1, 1);
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    return 1;
}

static int error_newindex(lua_State *L) {
    return plua_raise(L, "argument", "error objects cannot be changed");
}

static int error_to_string(lua_State *L) {
    lua_getiuservalue(L, 1, 1);
    lua_getfield(L, -1, "file");
    lua_getfield(L, -2, "line");
    lua_getfield(L, -3, "message");
    const char *message = luaL_tolstring(L, -1, NULL);
    if (lua_type(L, -4) == LUA_TSTRING) {
        lua_pushfstring(L, "%s:%d: %s", lua_tostring(L, -4), (int)lua_tointeger(L, -3), message);
    }
    return 1;
}

/* Makes "failed: " .. err work for error objects, too. */
static int error_concatenate(lua_State *L) {
    plua_tolstring(L, 1, NULL);
    plua_tolstring(L, 2, NULL);
    lua_concat(L, 2);
    return 1;
}

static int error_next(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (plua_next_in_order(L, 1)) return 2;
    lua_pushnil(L);
    return 1;
}

static int error_pairs(lua_State *L) {
    lua_pushcfunction(L, error_next);
    lua_getiuservalue(L, 1, 1);
    /* A copy, because the loop must not give scripts access to the error's own fields. */
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, -3);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    lua_remove(L, -2);
    return 2;
}

void plua_open_errors(lua_State *L) {
    static const luaL_Reg metamethods[] = {
        {"__index", error_index},         {"__newindex", error_newindex}, {"__tostring", error_to_string},
        {"__concat", error_concatenate},  {"__pairs", error_pairs},       {"__gc", plua_collect_object},
        {NULL, NULL},
    };
    lua_createtable(L, 0, 8);
    luaL_setfuncs(L, metamethods, 0);
    lua_pushliteral(L, "error");
    lua_setfield(L, -2, "__name");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &error_metatable_key);
}

/* MARK: - Details of the last failure */

/* Pushes the form in which an error value is stored: a placeholder for nil, because a stored nil means that no failure is stored. */
static void push_kept_form(lua_State *L, int index) {
    static char nil;
    if (lua_isnil(L, index)) lua_pushlightuserdata(L, &nil);
    else lua_pushvalue(L, index);
}

static bool is_kept(lua_State *L, int index) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &failure_value_key);
    push_kept_form(L, index);
    bool kept = lua_rawequal(L, -1, -2);
    plua_pop(L, 2);
    return kept;
}

static void keep_position(lua_State *L, lua_State *failed) {
    lua_Debug activation;
    if (plua_find_position(failed, &activation)) {
        lua_pushstring(L, activation.short_src);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_file_key);
        lua_pushinteger(L, activation.currentline);
    } else {
        lua_pushnil(L);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_file_key);
        lua_pushnil(L);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_line_key);
}

/* Adds the traceback of the coroutine that resumed the failed one. */
static void add_resumer(lua_State *L) {
    enum { most = 16 * 1024 };
    lua_Debug activation;
    if (!lua_getstack(L, 1, &activation)) return;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &failure_traceback_key) == LUA_TSTRING && lua_rawlen(L, -1) < most) {
        luaL_traceback(L, L, lua_tostring(L, -1), 1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_traceback_key);
    }
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &failure_file_key) == LUA_TNIL) keep_position(L, L);
    plua_pop(L, 2);
}

void plua_keep_failure(lua_State *L, lua_State *failed, int index) {
    index = lua_absindex(L, index);
    if (!lua_checkstack(L, 6)) return;
    if (!is_kept(L, index)) {
        luaL_traceback(L, failed, NULL, L == failed ? 1 : 0);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_traceback_key);
        keep_position(L, failed);
        push_kept_form(L, index);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_value_key);
    }
    if (L != failed) add_resumer(L);
}

void plua_restore_failure(lua_State *L) {
    lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_line_key);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_file_key);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_traceback_key);
    push_kept_form(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_value_key);
}

/* Clears the stored failure. The registry slot exists, so this allocates nothing. */
static void forget_failure(lua_State *L) {
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_value_key);
}

void plua_push_failure(lua_State *L, int index) {
    index = lua_absindex(L, index);
    if (!is_kept(L, index)) {
        for (int i = 0; i < 3; i++) lua_pushnil(L);
        return;
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &failure_traceback_key);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &failure_file_key);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &failure_line_key);
    forget_failure(L);
}

int plua_raise_again(lua_State *L) {
    plua_context_of(L)->raises_again = true;
    return plua_throw(L);
}

/* Returns whether the error was raised by a function that passes on a caught error. On the stack, level 0 is the handler, and level 1 the
** function that has raised the error. */
static bool is_raised_again(lua_State *L) {
    plua_context *context = plua_context_of(L);
    if (context->raises_again) {
        context->raises_again = false;
        return true;
    }
    lua_Debug activation;
    if (!lua_getstack(L, 1, &activation) || !lua_getinfo(L, "f", &activation)) return false;
    lua_CFunction function = lua_tocfunction(L, -1);
    plua_pop(L, 1);
    return plua_is_swift_function(function) || (function && function == plua_context_of(L)->wrap_function);
}

int plua_message_handler(lua_State *L) {
    /* Equal strings may be the messages of different failures. */
    bool is_new = !is_raised_again(L);
    if (is_new && lua_type(L, 1) == LUA_TSTRING) forget_failure(L);
    plua_keep_failure(L, L, 1);
    return 1;
}
