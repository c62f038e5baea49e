/*
** The coroutine library of every state. Unlike Lua's own functions, these
** - pass asynchronous calls inside coroutines outward, to the driver of the run;
** - check the limits at each resume: a new coroutine counts its instructions from zero, so a run that creates short
**   coroutines would never reach the hook of a budget;
** - never close a coroutine of a cancelled run: after the hook has ended it, its __close handlers would run without hooks;
** - store the traceback of a coroutine that fails;
** - handle long chains of coroutine.close, which overflow the C stack in Lua before 5.4.6.
*/
#include "CPeriluneShim/Limited/limited.h"

/* The cost of a resume, in instructions of the budget. */
enum { resume_cost = 20 };

/* The maximum size of the C stack for nested closes, in bytes. */
enum { close_stack_limit = 256 * 1024 };

/* A registry key. */
static const char close_base_key;

/* Results of carry_over for coroutines that have not returned control to the script normally. */
enum { has_failed = -1, is_waiting = -2 };

/* MARK: - Status */

typedef enum { is_running, is_dead, is_suspended, is_normal } coroutine_status;

static const char *const status_names[] = {"running", "dead", "suspended", "normal"};

static coroutine_status status_of(lua_State *L, lua_State *coroutine) {
    lua_Debug activation;
    if (L == coroutine) return is_running;
    int status = lua_status(coroutine);
    if (status == LUA_YIELD) return is_suspended;
    if (status != LUA_OK) return is_dead;
    if (lua_getstack(coroutine, 0, &activation)) return is_normal;
    return lua_gettop(coroutine) == 0 ? is_dead : is_suspended; /* suspended: the function has not been called yet */
}

static lua_State *check_coroutine(lua_State *L) {
    lua_State *coroutine = lua_tothread(L, 1);
    luaL_argexpected(L, coroutine, 1, "coroutine");
    return coroutine;
}

/* Returns whether a suspended coroutine is waiting for an asynchronous call. The marker is on top of its stack until the call's result is
** available. Scripts cannot push the marker, so only the driver can resume the coroutine. */
static bool has_marker(lua_State *coroutine) {
    return lua_gettop(coroutine) > 0 && lua_touserdata(coroutine, -1) == &plua_async_marker;
}

/* MARK: - Closing */

static int reset_thread(lua_State *L, lua_State *coroutine) {
#if LUA_VERSION_RELEASE_NUM >= 50406
    return lua_closethread(coroutine, L);
#else
    (void)L;
    return lua_resetthread(coroutine);
#endif
}

/* Closes the to-be-closed variables of a coroutine. The coroutine is then dead; an error value is on top of its stack. Lua before 5.4.6
** does not limit the C stack here, so its use is measured from the address of the outermost close. Returns a Lua status, or -1 if the C
** stack is used up. */
static int close_coroutine(lua_State *L, lua_State *coroutine) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &close_base_key);
    const char **base = lua_touserdata(L, -1);
    plua_pop(L, 1);
    const char *here = __builtin_frame_address(0);
    if (*base != NULL) {
        ptrdiff_t used = *base > here ? *base - here : here - *base;
        return used > close_stack_limit ? -1 : reset_thread(L, coroutine);
    }
    *base = here;
    int status = reset_thread(L, coroutine); /* never raises */
    *base = NULL;
    return status;
}

/* Creates the variable for the address of the outermost close. */
static void prepare_closing(lua_State *L) {
    const char **base = lua_newuserdatauv(L, sizeof *base, 0);
    *base = NULL;
    lua_rawsetp(L, LUA_REGISTRYINDEX, &close_base_key);
}

static int coroutine_close(lua_State *L) {
    lua_State *coroutine = check_coroutine(L);
    coroutine_status status = status_of(L, coroutine);
    if (status == is_running || status == is_normal) {
        return luaL_error(L, "cannot close a %s coroutine", status_names[status]);
    }
    if (status == is_suspended && has_marker(coroutine)) {
        return plua_raise(L, "yield", "cannot close a coroutine that waits for an asynchronous function");
    }
    plua_count_work(L, resume_cost);
    plua_raise_if_cancelled(L);
    int result = close_coroutine(L, coroutine);
    plua_raise_if_cancelled(L);
    if (result < 0) return luaL_error(L, "C stack overflow");
    lua_pushboolean(L, result == LUA_OK);
    if (result == LUA_OK) return 1;
    lua_xmove(coroutine, L, 1);
    return 2;
}

/* MARK: - Resuming */

/* Runs the coroutine, then restores the context. */
static int run(lua_State *L, plua_context *context, lua_State *coroutine, int argument_count, int *result_count) {
    bool has_driver = context->has_driver;
    /* An asynchronous call is passed outward through all coroutines that are waiting; if that is not possible, it is rejected before it
    ** begins. */
    if (has_driver) context->has_driver = lua_isyieldable(L);
    context->running = coroutine;
    int nested_calls = context->nested_calls;
    context->nested_calls = 0; /* the coroutine has its own nesting depth, which it restores after a yield */
    plua_prepare_hook(coroutine);
    int status = lua_resume(coroutine, L, argument_count, result_count);
    context->nested_calls = nested_calls;
    context->running = L;
    context->has_driver = has_driver;
    plua_prepare_hook(L);
    return status;
}

/* Moves the error of a failed resume to L. Stores its traceback if it was raised in the coroutine. */
static int carry_failure(lua_State *L, lua_State *coroutine, bool was_alive) {
    lua_xmove(coroutine, L, 1);
    if (was_alive && lua_status(coroutine) > LUA_YIELD) plua_keep_failure(L, coroutine, -1);
    return has_failed;
}

/* Resumes the coroutine with the topmost values of L. Moves its results or its error to L, unless it is waiting for an asynchronous call.
** Returns the number of results, has_failed or is_waiting. */
static int carry_over(lua_State *L, lua_State *coroutine, int argument_count, bool was_alive) {
    plua_context *context = plua_context_of(L);
    if (context->limited) {
        plua_count_work(L, resume_cost);
        plua_check(L);
    }
    if (argument_count > 0 && !lua_checkstack(coroutine, argument_count)) {
        lua_pushliteral(L, "too many arguments to resume");
        return has_failed;
    }
    if (argument_count > 0) lua_xmove(L, coroutine, argument_count);
    int result_count;
    int status = run(L, context, coroutine, argument_count, &result_count);
    if (atomic_load_explicit(&context->cancel_reason, memory_order_relaxed) != PLUA_CANCEL_NONE) plua_raise_cancellation(L);
    if (status > LUA_YIELD) return carry_failure(L, coroutine, was_alive);
    if (result_count == 1 && lua_touserdata(coroutine, -1) == &plua_async_marker) return is_waiting;
    if (result_count == 0) return 0;
    if (!lua_checkstack(L, result_count + 1)) {
        plua_pop(coroutine, result_count);
        lua_pushliteral(L, "too many results to resume");
        return has_failed;
    }
    lua_xmove(coroutine, L, result_count);
    return result_count;
}

/* Resumes a coroutine for a script. Fails if the coroutine is waiting for an asynchronous call, because only the driver may resume it
** then. */
static int carry_arguments_over(lua_State *L, lua_State *coroutine, int argument_count) {
    int status = lua_status(coroutine);
    if (status != LUA_YIELD || !has_marker(coroutine)) {
        return carry_over(L, coroutine, argument_count, status <= LUA_YIELD);
    }
    plua_push_error(L, "yield", "cannot resume a coroutine that waits for an asynchronous function");
    plua_add_position(L);
    return has_failed;
}

/* Removes the marker and resumes the coroutine with the result of the asynchronous call, which is on top of L. */
static int carry_outcome_over(lua_State *L, lua_State *coroutine, int argument_count) {
    int status = lua_status(coroutine);
    if (status == LUA_YIELD && has_marker(coroutine)) plua_pop(coroutine, 1);
    return carry_over(L, coroutine, argument_count, status <= LUA_YIELD);
}

/* Yields an asynchronous call of the coroutine to the code that has resumed L. `next` continues with its result. */
static int pass_outward(lua_State *L, lua_State *coroutine, lua_KFunction next) {
    if (!lua_isyieldable(L)) {
        plua_pop(coroutine, 1);
        close_coroutine(L, coroutine);
        plua_raise_if_cancelled(L);
        return plua_raise(L, "yield", "an asynchronous function cannot be called in a coroutine that was resumed "
                                          "inside a database block or a callback of table.sort, "
                                          "string.gsub or another library function");
    }
    lua_pushlightuserdata(L, (void *)&plua_async_marker);
    return lua_yieldk(L, 1, plua_context_of(L)->nested_calls, next);
}

/* MARK: - coroutine.resume */

static int resume_continued(lua_State *L, int status, lua_KContext nested_calls);

/* Stack: the coroutine, then its results or its error. */
static int finish_resume(lua_State *L, lua_State *coroutine, int outcome) {
    if (outcome == is_waiting) return pass_outward(L, coroutine, resume_continued);
    if (outcome == has_failed) {
        lua_pushboolean(L, false);
        lua_insert(L, -2);
        return 2;
    }
    lua_pushboolean(L, true);
    if (outcome > 0) lua_insert(L, -outcome - 1);
    return outcome + 1;
}

static int resume_continued(lua_State *L, int status, lua_KContext nested_calls) {
    (void)status;
    plua_context_of(L)->nested_calls = (int)nested_calls;
    lua_State *coroutine = lua_tothread(L, 1);
    return finish_resume(L, coroutine, carry_outcome_over(L, coroutine, lua_gettop(L) - 1));
}

static int coroutine_resume(lua_State *L) {
    lua_State *coroutine = check_coroutine(L);
    return finish_resume(L, coroutine, carry_arguments_over(L, coroutine, lua_gettop(L) - 1));
}

/* MARK: - coroutine.wrap */

static int wrap_continued(lua_State *L, int status, lua_KContext nested_calls);

/* Prepends the caller's position to a message, like Lua's own library. The result is a new string, so the failure's details are stored
** again for it. */
static void add_caller_position(lua_State *L) {
    luaL_where(L, 1);
    lua_pushvalue(L, -2);
    lua_concat(L, 2);
    plua_push_failure(L, -2);
    if (lua_isnil(L, -3)) {
        plua_pop(L, 3);
    } else {
        plua_restore_failure(L);
    }
    lua_remove(L, -2);
}

/* Closes the to-be-closed variables of a failed coroutine and raises its error, which is on top of L. */
static int raise_failure(lua_State *L, lua_State *coroutine) {
    int status = lua_status(coroutine);
    if (status > LUA_YIELD) {
        int closed = close_coroutine(L, coroutine);
        plua_raise_if_cancelled(L);
        if (closed > LUA_YIELD) { /* otherwise the C stack is used up, so the coroutine stays open and its own error is raised */
            plua_pop(L, 1);
            lua_xmove(coroutine, L, 1); /* the same error, or one of a __close handler */
        }
    }
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) add_caller_position(L);
    return plua_throw(L);
}

static int finish_wrap(lua_State *L, lua_State *coroutine, int outcome) {
    if (outcome == is_waiting) return pass_outward(L, coroutine, wrap_continued);
    if (outcome == has_failed) return raise_failure(L, coroutine);
    return outcome;
}

static int wrap_continued(lua_State *L, int status, lua_KContext nested_calls) {
    (void)status;
    plua_context_of(L)->nested_calls = (int)nested_calls;
    lua_State *coroutine = lua_tothread(L, lua_upvalueindex(1));
    return finish_wrap(L, coroutine, carry_outcome_over(L, coroutine, lua_gettop(L)));
}

static int wrapped(lua_State *L) {
    lua_State *coroutine = lua_tothread(L, lua_upvalueindex(1));
    return finish_wrap(L, coroutine, carry_arguments_over(L, coroutine, lua_gettop(L)));
}

/* MARK: - The other functions */

static int coroutine_create(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *coroutine = lua_newthread(L); /* inherits the hook of L */
    lua_pushvalue(L, 1);
    lua_xmove(L, coroutine, 1);
    return 1;
}

static int coroutine_wrap(lua_State *L) {
    coroutine_create(L);
    lua_pushcclosure(L, wrapped, 1);
    return 1;
}

/* Pushes the coroutine L. Returns whether it is the main one for the script: the state's main coroutine, or the one of the driver. */
static bool push_thread(lua_State *L) {
    bool is_main = lua_pushthread(L);
    return is_main || L == plua_context_of(L)->driven;
}

/* Continues after coroutine.yield: returns the arguments of the resume. */
static int yielded(lua_State *L, int status, lua_KContext nested_calls) {
    (void)status;
    plua_context_of(L)->nested_calls = (int)nested_calls;
    return lua_gettop(L);
}

static int coroutine_yield(lua_State *L) {
    bool is_main = push_thread(L);
    lua_pop(L, 1);
    if (!is_main && lua_isyieldable(L)) return lua_yieldk(L, lua_gettop(L), plua_context_of(L)->nested_calls, yielded);
    if (is_main) return luaL_error(L, "attempt to yield from outside a coroutine");
    return luaL_error(L, "attempt to yield across a C-call boundary: a database block, or a callback of table.sort, "
                         "string.gsub or another library function");
}

static int coroutine_get_status(lua_State *L) {
    lua_pushstring(L, status_names[status_of(L, check_coroutine(L))]);
    return 1;
}

static int coroutine_running(lua_State *L) {
    bool is_main = push_thread(L);
    lua_pushboolean(L, is_main);
    return 2;
}

static int coroutine_isyieldable(lua_State *L) {
    lua_State *coroutine = lua_isnone(L, 1) ? L : check_coroutine(L);
    lua_pushboolean(L, coroutine != plua_context_of(L)->driven && lua_isyieldable(coroutine));
    return 1;
}

static const luaL_Reg functions[] = {
    {"close", coroutine_close},
    {"create", coroutine_create},
    {"isyieldable", coroutine_isyieldable},
    {"resume", coroutine_resume},
    {"running", coroutine_running},
    {"status", coroutine_get_status},
    {"wrap", coroutine_wrap},
    {"yield", coroutine_yield},
    {NULL, NULL},
};

int plua_open_coroutine(lua_State *L) {
    prepare_closing(L);
    plua_context_of(L)->wrap_function = wrapped;
    luaL_newlib(L, functions);
    return 1;
}

void plua_limit_coroutine(lua_State *L) {
    prepare_closing(L);
    plua_context_of(L)->wrap_function = wrapped;
    plua_replace_functions(L, functions);
}
