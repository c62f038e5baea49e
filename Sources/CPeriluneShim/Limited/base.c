/* The base library for limited runs. Its functions cannot catch the cancellation of the run or load bytecode. */
#include <string.h>

#include "CPeriluneShim/Limited/limited.h"
#include "CPeriluneShim/Text/source_scanner.h"

void plua_reserve(lua_State *L, size_t bytes) {
    plua_context *context = plua_context_of(L);
    size_t most = context->limit;
    if (most == 0 || (context->hard_cap != 0 && context->hard_cap < most)) most = context->hard_cap;
    if (most == 0 || (context->used <= most && bytes <= most - context->used)) return;
    lua_gc(L, LUA_GCCOLLECT); /* garbage does not count as used memory */
    if (context->used <= most && bytes <= most - context->used) return;
    plua_cancel_run(context, PLUA_CANCEL_MEMORY);
    plua_raise_cancellation(L);
}

/* MARK: - Protected calls */

/*
** Standard Lua allows 200 nested calls through C. However, a coroutine that catches the error for exceeding this limit can continue without
** those calls on the C stack. Scripts could thus nest a hundred thousand calls. Ending such calls took minutes, because Lua traverses its
** whole stack for each one.
*/
enum { most_nested_calls = 200 };

/* Begins a protected call. Encodes data for its continuation: the nesting depth, and the number of values below the results. */
static lua_KContext begin_protected_call(lua_State *L, int ignored) {
    plua_context *context = plua_context_of(L);
    if (context->nested_calls >= most_nested_calls) luaL_error(L, "C stack overflow");
    return (lua_KContext)context->nested_calls++ << 2 | ignored;
}

/* Ends a protected call; also its continuation. */
static int finish_protected_call(lua_State *L, int status, lua_KContext call) {
    plua_context_of(L)->nested_calls = (int)(call >> 2);
    plua_raise_if_cancelled(L);
    if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - (int)(call & 3);
    lua_pushboolean(L, false);
    lua_insert(L, -2);
    return 2;
}

static int limited_pcall(lua_State *L) {
    luaL_checkany(L, 1);
    plua_count_work(L, 1);
    lua_pushboolean(L, true);
    lua_insert(L, 1);
    lua_KContext call = begin_protected_call(L, 0);
    int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, call, finish_protected_call);
    return finish_protected_call(L, status, call);
}

/* Calls the script's message handler, unless the run is cancelled: hooks are disabled while a handler runs for an error from a hook, so a
** Lua handler could loop forever. */
static int call_message_handler(lua_State *L) {
    plua_context *context = plua_context_of(L);
    if (atomic_load_explicit(&context->cancel_reason, memory_order_relaxed) != PLUA_CANCEL_NONE) {
        plua_keep_failure(L, L, 1); /* the stack still shows where the run was cancelled */
        return 1;
    }
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

static int limited_xpcall(lua_State *L) {
    luaL_checktype(L, 2, LUA_TFUNCTION);
    plua_count_work(L, 1);
    /* Only Lua handlers are wrapped. A C handler cannot run forever on the light userdata that ends a run, and debug.traceback, the usual
    ** handler, would show the wrapper. */
    if (!lua_iscfunction(L, 2)) {
        lua_pushvalue(L, 2);
        lua_pushcclosure(L, call_message_handler, 1);
        lua_replace(L, 2);
    }
    int argument_count = lua_gettop(L) - 2;
    lua_pushboolean(L, true);
    lua_pushvalue(L, 1);
    lua_rotate(L, 3, 2); /* the order is now: function, handler, true, function, arguments... */
    lua_KContext call = begin_protected_call(L, 2);
    int status = lua_pcallk(L, argument_count, LUA_MULTRET, 2, call, finish_protected_call);
    return finish_protected_call(L, status, call);
}

/* MARK: - Metatables */

/* Rejects a metatable with __gc. Checking when the metatable is set is sufficient, because only then does Lua mark an object for
** finalization. */
static void refuse_finalizer(lua_State *L, int index) {
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, index) != LUA_TNIL) {
        plua_raise(L, "limited", "setmetatable: a metatable with __gc is not allowed: a finalizer could outlive "
                                     "the limits of the run");
    }
    plua_pop(L, 1);
}

/* debug.setmetatable, which accepts values of any type. [-n, +1, v] */
static int limited_set_any_metatable(lua_State *L) {
    if (lua_type(L, 2) == LUA_TTABLE) refuse_finalizer(L, 2);
    return plua_call_original(L);
}

/* Rejects debug.sethook, because the limits use the only hook of the state. [-n, +0, v] */
static int limited_sethook(lua_State *L) {
    return plua_raise(L, "limited", "debug.sethook is not available to a script with limits, because the limits use the only hook");
}

static int limited_setmetatable(lua_State *L) {
    int type = lua_type(L, 2);
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) {
        return luaL_error(L, "cannot change a protected metatable");
    }
    if (type == LUA_TTABLE) refuse_finalizer(L, 2);
    lua_settop(L, 2);
    lua_setmetatable(L, 1);
    return 1;
}

/* MARK: - Loading */

enum { piece_length = 256, piece_slot = 5 };

/* Source text that is passed to the compiler in small pieces, because hooks do not run during compilation. */
typedef struct {
    const char *rest;
    size_t length; /* the length of `rest` */
    size_t total;  /* the number of bytes passed so far */
    bool is_string;
    plua_scanner scanner;
} chunk_source;

/* Calls the reader function for more text; returns false at the end. The text is stored in a stack slot of `load`. */
static bool read_more(lua_State *L, chunk_source *source) {
    luaL_checkstack(L, 2, "too many nested functions");
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);
    if (lua_isnil(L, -1)) {
        plua_pop(L, 1);
        return false;
    }
    if (!lua_isstring(L, -1)) luaL_error(L, "reader function must return a string");
    lua_replace(L, piece_slot);
    source->rest = lua_tolstring(L, piece_slot, &source->length);
    return source->length > 0;
}

static const char *read_piece(lua_State *L, void *data, size_t *size) {
    chunk_source *source = data;
    *size = 0;
    plua_count_work(L, plua_cost_of_piece(source->total));
    if (source->length == 0 && (source->is_string || !read_more(L, source))) return NULL;
    const char *piece = source->rest;
    *size = source->length < piece_length ? source->length : piece_length;
    source->rest += *size;
    source->length -= *size;
    source->total += *size;
    if (source->total > PLUA_SOURCE_LIMIT) {
        luaL_error(L, "load: the source is longer than %d bytes", PLUA_SOURCE_LIMIT);
    }
    if (!plua_scan(&source->scanner, piece, *size)) {
        luaL_error(L, "load: line %d of the source: more than %d indexing steps in one expression", source->scanner.line,
                   PLUA_STEP_LIMIT);
    }
    return piece;
}

/* Sets the first upvalue, _ENV, of the function on top of the stack. */
static void set_environment(lua_State *L, int environment) {
    lua_pushvalue(L, environment);
    if (!lua_setupvalue(L, -2, 1)) plua_pop(L, 1);
}

bool plua_refuse_mode(lua_State *L) {
    const char *mode = luaL_optstring(L, 3, "t");
    if (strchr(mode, 't')) return false;
    bool is_binary = lua_type(L, 1) == LUA_TSTRING && *lua_tostring(L, 1) == *LUA_SIGNATURE;
    luaL_pushfail(L);
    /* Bytecode is rejected, because it can corrupt the host's memory. */
    lua_pushfstring(L, "attempt to load a %s chunk (mode is '%s')", is_binary ? "binary" : "text", is_binary ? "t" : mode);
    return true;
}

/* Loads text only, never bytecode. */
static int limited_load(lua_State *L) {
    if (plua_refuse_mode(L)) return 2;
    chunk_source source;
    source.total = source.length = 0;
    source.is_string = lua_type(L, 1) == LUA_TSTRING || lua_type(L, 1) == LUA_TNUMBER;
    if (source.is_string) source.rest = lua_tolstring(L, 1, &source.length);
    bool has_environment = !lua_isnone(L, 4);
    const char *name = luaL_optstring(L, 2, source.is_string ? source.rest : "=(load)");
    if (!source.is_string) luaL_checktype(L, 1, LUA_TFUNCTION);
    plua_scan_begin(&source.scanner);
    lua_settop(L, piece_slot);
    int status = lua_load(L, read_piece, &source, name, "t");
    plua_raise_if_cancelled(L);
    if (status == LUA_OK) {
        if (has_environment) set_environment(L, 4);
        return 1;
    }
    luaL_pushfail(L);
    lua_insert(L, -2);
    return 2;
}

/* MARK: - The collector */

/* Allows only options that do not change the collector's settings and reveal nothing that exploits could use. */
static int limited_collectgarbage(lua_State *L) {
    const char *option = luaL_optstring(L, 1, "collect");
    int kilobytes = lua_gc(L, LUA_GCCOUNT);
    if (strcmp(option, "count") == 0) {
        lua_pushnumber(L, (lua_Number)kilobytes + (lua_Number)lua_gc(L, LUA_GCCOUNTB) / 1024);
        return 1;
    }
    if (strcmp(option, "collect") == 0) {
        plua_count_work(L, (int64_t)kilobytes * 10);
        lua_pushinteger(L, lua_gc(L, LUA_GCCOLLECT));
        return 1;
    }
    return plua_raise(L, "limited", "collectgarbage: option '%s' is not allowed here, only 'count' and 'collect'",
                          option);
}

/* MARK: - Functions whose duration depends on their arguments */

/* Calls the original function and charges for its results. Without this, a loop could process a large string many times between two calls
** of the hook, which runs every thousand instructions. */
int plua_count_work_of_results(lua_State *L) {
    int result_count = plua_call_original(L);
    size_t cost = (size_t)result_count;
    for (int i = 1; i <= result_count; i++) {
        if (lua_type(L, -i) == LUA_TSTRING) cost += plua_cost_of_bytes(lua_rawlen(L, -i));
    }
    plua_count_work(L, (int64_t)cost);
    return result_count;
}

int plua_count_work_of_argument(lua_State *L) {
    if (lua_type(L, 1) == LUA_TSTRING) plua_count_work(L, (int64_t)lua_rawlen(L, 1) / 8 + 1);
    return plua_call_original(L);
}

/* Charges utf8.offset for the characters that it traverses: as many as its second argument specifies, if they exist. */
static int limited_utf8_offset(lua_State *L) {
    lua_Unsigned length = lua_type(L, 1) == LUA_TSTRING ? lua_rawlen(L, 1) : 0;
    lua_Integer count = lua_tointeger(L, 2);
    lua_Unsigned steps = count < 0 ? 0 - (lua_Unsigned)count : (lua_Unsigned)count;
    plua_count_work(L, (int64_t)((steps < length ? steps : length) / 8 + 1));
    return plua_call_original(L);
}

void plua_limit_utf8(lua_State *L) {
    plua_wrap_functions(L, (const char *const[]){"codepoint", NULL}, plua_count_work_of_results);
    plua_wrap_functions(L, (const char *const[]){"len", NULL}, plua_count_work_of_argument);
    plua_wrap_functions(L, (const char *const[]){"offset", NULL}, limited_utf8_offset);
}

/* MARK: - Installing */

void plua_wrap_functions(lua_State *L, const char *const *names, lua_CFunction wrapper) {
    for (; *names; names++) {
        lua_pushstring(L, *names);
        lua_pushvalue(L, -1);
        lua_rawget(L, -3);
        if (lua_iscfunction(L, -1) && lua_tocfunction(L, -1) != wrapper) {
            lua_pushcclosure(L, wrapper, 1);
            lua_rawset(L, -3);
        } else {
            plua_pop(L, 2);
        }
    }
}

void plua_limit_debug(lua_State *L) {
    plua_replace_functions(L, (const luaL_Reg[]){{"sethook", limited_sethook}, {NULL, NULL}});
    plua_wrap_functions(L, (const char *const[]){"setmetatable", NULL}, limited_set_any_metatable);
}

void plua_limit_base(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"pcall", limited_pcall},
        {"xpcall", limited_xpcall},
        {"setmetatable", limited_setmetatable},
        {"load", limited_load},
        {"collectgarbage", limited_collectgarbage},
        {NULL, NULL},
    };
    plua_replace_functions(L, functions);
    plua_wrap_functions(L, (const char *const[]){"tonumber", NULL}, plua_count_work_of_argument);
}
