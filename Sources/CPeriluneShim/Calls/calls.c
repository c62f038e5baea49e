/* Calls in both directions: trampolines from Lua to Swift, and protected calls from Swift to Lua. */
#include "CPeriluneShim/Calls/calls.h"

const char plua_async_marker;

static const char function_metatable_key;

/* The cost of calling a Swift function, in instructions of the budget. */
enum { host_call_cost = 50 };

/* MARK: - From Lua to Swift */

/* Calls the Swift function that the running closure stores. No allocation may be refused while Swift frames are on the stack. */
static int call_swift(lua_State *L) {
    plua_context *context = plua_context_of(L);
    void *function = plua_object(L, lua_upvalueindex(1));
    /* A finalizer of a script may still call this function after its release, because the finalizers of newer objects run first. */
    if (function == NULL || context->is_closing) plua_raise(L, "dead_handle", "this function of the host has been released");
    luaL_checkstack(L, LUA_MINSTACK, "too many arguments");
    bool may_refuse = context->may_refuse;
    context->may_refuse = false;
    int result = context->call(L, function);
    context->may_refuse = may_refuse;
    if (context->limited) {
        if (context->budget != INT64_MAX) context->budget -= host_call_cost;
        plua_check(L); /* a host function may take long and return much data */
    } else if (atomic_load_explicit(&context->cancel_reason, memory_order_relaxed) != PLUA_CANCEL_NONE) {
        plua_raise_cancellation(L);
    }
    return result;
}

static int swift_function(lua_State *L) {
    int result = call_swift(L);
    return result >= 0 ? result : plua_throw(L);
}

/* Continues after an asynchronous call. The driver passes true and the results, or false and the error. */
static int async_finished(lua_State *L, int status, lua_KContext nested_calls) {
    (void)status;
    plua_context_of(L)->nested_calls = (int)nested_calls;
    if (lua_toboolean(L, 1)) return lua_gettop(L) - 1;
    lua_settop(L, 2);
    return plua_throw(L);
}

static int refuse_to_wait(lua_State *L, const char *name) {
    const char *caller = plua_find_unwaiting_caller(L);
    if (caller) {
        return plua_raise(L, "yield", "%s: an asynchronous function cannot be called inside `%s`, which does not wait; call it before "
                                          "or after", name, caller);
    }
    bool is_main = lua_pushthread(L);
    plua_pop(L, 1);
    return plua_raise(L, "yield", "%s: an asynchronous function cannot be called in a run that the host started synchronously%s", name,
                          is_main ? "" : ", nor in a coroutine that is resumed inside a function that does not wait");
}

static int swift_async_function(lua_State *L) {
    if (!plua_context_of(L)->has_driver || !lua_isyieldable(L)) return refuse_to_wait(L, lua_tostring(L, lua_upvalueindex(2)));
    int result = call_swift(L);
    if (result != PLUA_YIELD) return result >= 0 ? result : plua_throw(L);
    lua_settop(L, 0);
    lua_pushlightuserdata(L, (void *)&plua_async_marker);
    return lua_yieldk(L, 1, plua_context_of(L)->nested_calls, async_finished);
}

bool plua_is_swift_function(lua_CFunction function) {
    return function == swift_function || function == swift_async_function;
}

/* Pushes the metatable of the userdata in which a closure stores its Swift function. */
static void push_function_metatable(lua_State *L) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &function_metatable_key) == LUA_TTABLE) return;
    plua_pop(L, 1);
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, plua_collect_object);
    lua_setfield(L, -2, "__gc");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &function_metatable_key);
}

void plua_push_function(lua_State *L, void *function) {
    push_function_metatable(L);
    plua_push_object(L, function);
    lua_pushcclosure(L, swift_function, 1);
}

void plua_push_async_function(lua_State *L, void *function, const char *name) {
    push_function_metatable(L);
    plua_push_object(L, function);
    lua_pushstring(L, name);
    lua_pushcclosure(L, swift_async_function, 2);
}

/* MARK: - From Swift to Lua */

/* The fields of the context that a protected call or a resume changes and then restores. */
typedef struct {
    plua_context *outer;
    lua_State *running;
    bool may_refuse;
    int nested_calls;
} entered;

static entered enter_lua(plua_context *context, lua_State *L) {
    entered before = {plua_running, context->running, context->may_refuse, context->nested_calls};
    plua_running = context;
    context->running = L;
    context->may_refuse = true;
    plua_prepare_hook(L);
    return before;
}

static void leave_lua(plua_context *context, entered before) {
    plua_running = before.outer;
    context->running = before.running;
    context->may_refuse = before.may_refuse;
    context->nested_calls = before.nested_calls;
    plua_prepare_hook(before.running);
}

int plua_pcall(lua_State *L, int argument_count, int result_count) {
    plua_context *context = plua_context_of(L);
    int function = lua_gettop(L) - argument_count;
    if (!lua_checkstack(L, LUA_MINSTACK)) {
        lua_settop(L, function - 1);
        lua_pushnil(L);
        return LUA_ERRMEM;
    }
    lua_pushcfunction(L, plua_message_handler);
    lua_insert(L, function);
    entered before = enter_lua(context, L);
    int status = lua_pcall(L, argument_count, result_count, function);
    leave_lua(context, before);
    lua_remove(L, function);
    return status;
}

/* Arguments: the failed coroutine and its error value. */
static int keep_coroutine_failure(lua_State *L) {
    plua_keep_failure(L, lua_tothread(L, 1), 2);
    return 0;
}

int plua_resume(lua_State *coroutine, lua_State *from, int argument_count, int *result_count) {
    plua_context *context = plua_context_of(coroutine);
    entered before = enter_lua(context, coroutine);
    context->nested_calls = 0; /* the coroutine has its own nesting depth, which it restores after a yield */
    lua_State *driven = context->driven;
    context->driven = coroutine;
    int status = lua_resume(coroutine, from, argument_count, result_count);
    if (status > LUA_YIELD && lua_checkstack(coroutine, 3) && lua_checkstack(from, 4)) {
        lua_pushcfunction(from, keep_coroutine_failure);
        lua_pushthread(coroutine);
        lua_xmove(coroutine, from, 1);
        lua_pushvalue(coroutine, -1);
        lua_xmove(coroutine, from, 1);
        if (lua_pcall(from, 2, 0, 0) != LUA_OK) plua_pop(from, 1); /* in which case there is no traceback */
        /* Closes the coroutine's to-be-closed variables. Does not do this in a cancelled run, because a dead coroutine runs without the
        ** hook. */
        if (plua_cancel_reason_of(context) == PLUA_CANCEL_NONE) lua_resetthread(coroutine);
    }
    context->driven = driven;
    leave_lua(context, before);
    return status;
}
