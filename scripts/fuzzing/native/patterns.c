/* Checks that the string functions that count their work behave like Lua's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CPeriluneShim/Limited/limited.h"

static const char *const calls[] = {
    "find(s, p)", "find(s, p, -3)", "match(s, p)", "gsub(s, p, '<%0>')", "gsub(s, p, '%1', 2)", "gsub(s, p, r)",
    "gmatch(s, p)()", "find(s, p, 2, true)", "rep(s, #p)", "rep(s, 3, p)", "byte(s, 1, -1)", "upper(s .. p)", "reverse(s)", "format(p, s, 1, 2)",
};

/* Creates a function for each of these calls: (subject, pattern) -> results. */
static lua_State *make_state(bool is_limited) {
    lua_State *L = is_limited ? plua_new_state(NULL, NULL, false) : luaL_newstate();
    luaL_requiref(L, "string", luaopen_string, 1);
    if (is_limited) plua_limit_string(L);
    lua_settop(L, 0);
    lua_newtable(L);
    for (int i = 0; i < (int)(sizeof calls / sizeof *calls); i++) {
        char text[200];
        snprintf(text, sizeof text, "local s, p = ... local r = { a = 'b', x = false } return string.%s", calls[i]);
        if (luaL_loadstring(L, text) != LUA_OK) abort();
        lua_rawseti(L, 1, i + 1);
    }
    return L;
}

/* Appends the results with their types, or the message. Returns false if a limit has ended the call. */
static bool run(lua_State *L, int call, const char *data, size_t subject, size_t pattern, luaL_Buffer *into, bool is_limited) {
    lua_settop(L, 1);
    lua_rawgeti(L, 1, call + 1);
    lua_pushlstring(L, data, subject);
    lua_pushlstring(L, data + subject, pattern);
    int status = is_limited ? plua_pcall(L, 2, LUA_MULTRET) : lua_pcall(L, 2, LUA_MULTRET, 0);
    if (is_limited && plua_cancel_reason_of(plua_context_of(L)) != PLUA_CANCEL_NONE) {
        plua_clear_cancel_reason(plua_context_of(L));
        return false;
    }
    luaL_addstring(into, status == LUA_OK ? "results" : "error");
    for (int i = 2; i <= lua_gettop(L); i++) {
        size_t length;
        const char *text = lua_type(L, i) == LUA_TSTRING || lua_type(L, i) == LUA_TNUMBER ? lua_tolstring(L, i, &length) : NULL;
        luaL_addstring(into, " ");
        luaL_addstring(into, text ? "=" : lua_typename(L, lua_type(L, i)));
        if (text) luaL_addlstring(into, text, length);
    }
    return true;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    static lua_State *limited, *stock, *results;
    if (!limited) limited = make_state(true), stock = make_state(false), results = luaL_newstate();
    if (size < 2) return 0;
    int call = data[0] % (int)(sizeof calls / sizeof *calls);
    const char *text = (const char *)data + 2;
    size_t length = size - 2, subject = data[1] < length ? data[1] : length;
    /* Addresses differ. */
    if (strncmp(calls[call], "format", 6) == 0 && memchr(text, 'p', length)) return 0;
    plua_context_of(limited)->budget = 200000;
    plua_context_of(limited)->limited = true;

    luaL_Buffer first, second;
    luaL_buffinit(results, &first);
    bool has_ended = run(limited, call, text, subject, length - subject, &first, true);
    luaL_pushresult(&first);
    if (has_ended) {
        luaL_buffinit(results, &second);
        run(stock, call, text, subject, length - subject, &second, false);
        luaL_pushresult(&second);
        if (!lua_rawequal(results, -1, -2)) {
            fprintf(stderr, "string.%s\n  limited: %s\n  stock:   %s\n", calls[call], lua_tostring(results, -2), lua_tostring(results, -1));
            abort();
        }
    }
    lua_settop(results, 0);
    lua_settop(limited, 1);
    lua_settop(stock, 1);
    return 0;
}
