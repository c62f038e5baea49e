/* print with limited output, so that a script cannot fill the disk. Each line is written by one call, because several states in the process
** may print at the same time. */
#include <stdio.h>

#include "CPeriluneShim/Limited/limited.h"

bool plua_take_output(lua_State *L, size_t bytes) {
    plua_context *context = plua_context_of(L);
    bool fits = bytes <= context->output_left;
    context->output_left = fits ? context->output_left - bytes : 0;
    return fits;
}

static int bounded_print(lua_State *L) {
    int count = lua_gettop(L);
    size_t total = count > 0 ? (size_t)count : 1; /* tabs and the line break */
    for (int i = 1; i <= count; i++) {
        size_t length;
        plua_tolstring(L, i, &length);
        lua_replace(L, i);
        total += length;
    }
    plua_count_work(L, (int64_t)plua_cost_of_bytes(total));
    if (!plua_take_output(L, total)) return plua_raise(L, "output", "print: the script has written more than its limit of output");
    flockfile(stdout);
    for (int i = 1; i <= count; i++) {
        size_t length;
        const char *text = lua_tolstring(L, i, &length);
        if (i > 1) putc_unlocked('\t', stdout);
        fwrite(text, 1, length, stdout);
    }
    putc_unlocked('\n', stdout);
    fflush(stdout);
    funlockfile(stdout);
    return 0;
}

static int install(lua_State *L) {
    lua_pushcfunction(L, bounded_print);
    lua_setglobal(L, "print");
    return 0;
}

void plua_limit_output(lua_State *L, size_t bytes) {
    plua_context_of(L)->output_left = bytes;
    lua_pushcfunction(L, install);
    if (plua_pcall(L, 0, 0) != LUA_OK) lua_settop(L, -2);
}
