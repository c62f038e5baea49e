/* Ending a run from outside: the flag, the clock, the budget and the count hook. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "CPeriluneShim/State/state.h"

/* A sparser hook gains next to nothing: any count hook puts Lua's interpreter in its tracing mode. A single instruction
** can take milliseconds: comparing two strings of 20 MB, copying 100,000 arguments. */
enum { instructions_per_look = 200 };

static const char cancellation_marker;

static void count_hook(lua_State *L, lua_Debug *activation);

uint64_t plua_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void plua_cancel_run(plua_context *context, int reason) {
    int expected = PLUA_CANCEL_NONE;
    atomic_compare_exchange_strong(&context->cancel_reason, &expected, reason);
}

static bool is_over_memory_limit(plua_context *context) {
    context->has_armed_hook = false;
    return plua_exceeds_memory_limit(context);
}

static int mask_of(lua_State *L) {
    return plua_context_of(L)->coverage ? LUA_MASKCOUNT | LUA_MASKLINE : LUA_MASKCOUNT;
}

/* Has the hook called at the next instruction, and at each after it until there is nothing left to say. Like lua_sethook
** itself, it may be called at any time on the thread that runs the state. */
static void arm(lua_State *L) {
    lua_sethook(L, count_hook, mask_of(L), 1);
}

void plua_arm_count_hook(plua_context *context) {
    context->has_armed_hook = true;
    arm(context->running);
}

int plua_poll(plua_context *context) {
    int reason = atomic_load_explicit(&context->cancel_reason, memory_order_relaxed);
    if (reason != PLUA_CANCEL_NONE) return reason;
    if (context->budget <= 0) {
        plua_cancel_run(context, PLUA_CANCEL_BUDGET);
    } else if (context->deadline != 0 && plua_now() >= context->deadline) {
        plua_cancel_run(context, PLUA_CANCEL_TIMEOUT);
    } else if (is_over_memory_limit(context)) {
        plua_cancel_run(context, PLUA_CANCEL_MEMORY);
    }
    return atomic_load_explicit(&context->cancel_reason, memory_order_relaxed);
}

int plua_raise_cancellation(lua_State *L) {
    /* A script that catches the error gets no further. To set a hook, Lua goes over the whole stack: not for each that catches it. */
    if (lua_gethook(L) != count_hook || lua_gethookcount(L) != 1) arm(L);
    lua_pushlightuserdata(L, (void *)&cancellation_marker);
    return lua_error(L);
}

void plua_check(lua_State *L) {
    if (plua_poll(plua_context_of(L)) != PLUA_CANCEL_NONE) plua_raise_cancellation(L);
}

void plua_check_memory(lua_State *L) {
    if (plua_context_of(L)->has_armed_hook) plua_check(L);
}

void plua_count_work(lua_State *L, int64_t cost) {
    plua_context *context = plua_context_of(L);
    if (!context->limited) return;
    if (context->budget != INT64_MAX) context->budget -= cost;
    context->uncharged += cost;
    if (context->uncharged < instructions_per_look) return;
    context->uncharged = 0;
    plua_check(L);
}

static void count_hook(lua_State *L, lua_Debug *activation) {
    plua_context *context = plua_context_of(L);
    if (activation->event == LUA_HOOKLINE) {
        plua_note_line(context->coverage, L, activation);
        return;
    }
    int period = lua_gethookcount(L);
    if (context->budget != INT64_MAX) context->budget -= period;
    if (plua_poll(context) != PLUA_CANCEL_NONE) plua_raise_cancellation(L);
    if (!context->limited) {
        lua_sethook(L, NULL, 0, 0); /* armed for a run that is over */
    } else if (period != instructions_per_look) {
        plua_install_hook(L);
    }
}

void plua_install_hook(lua_State *L) {
    lua_sethook(L, count_hook, mask_of(L), instructions_per_look);
}

void plua_arm_if_cancelled(lua_State *coroutine) {
    if (plua_cancel_reason_of(plua_context_of(coroutine)) == PLUA_CANCEL_NONE) return;
    lua_sethook(coroutine, count_hook, LUA_MASKCOUNT, 1);
}

/* Who listens on a thread. These are kept, one for each thread that ever listens: states are closed on other threads too, while
** a signal is on its way. */
typedef struct listener {
    _Atomic(plua_context *) context;
    atomic_bool is_handling;
    struct listener *next;
} listener;

static _Atomic(listener *) listeners;

/* That of this thread; read by the signal handler on the same thread. */
static _Thread_local listener *volatile own_listener;

/* As the stand-alone interpreter does it: lua_sethook is written to be called from a signal handler. */
static void arm_hook(int signal_number) {
    (void)signal_number;
    listener *own = own_listener;
    if (own == NULL) return;
    atomic_store(&own->is_handling, true);
    plua_context *context = atomic_load(&own->context);
    if (context != NULL && atomic_load(&context->cancel_reason) != PLUA_CANCEL_NONE) {
        arm(context->main);
        if (context->running != context->main) arm(context->running);
    }
    atomic_store(&own->is_handling, false);
}

static listener *make_own_listener(void) {
    listener *own = calloc(1, sizeof *own);
    if (own == NULL) return NULL;
    own->next = atomic_load(&listeners);
    while (!atomic_compare_exchange_weak(&listeners, &own->next, own)) {}
    own_listener = own;
    return own;
}

int plua_listen(plua_context *context, int signal_number) {
    listener *own = own_listener ? own_listener : make_own_listener();
    if (own == NULL) return ENOMEM;
    atomic_store(&own->context, context);
    if (context == NULL) return 0;
    struct sigaction action = {.sa_handler = arm_hook, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, &action, NULL) != 0) return errno;
    /* Threads that were started from Swift's concurrency have all signals blocked. */
    sigset_t unblocked;
    sigemptyset(&unblocked);
    sigaddset(&unblocked, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &unblocked, NULL);
    context->listening_thread = pthread_self();
    atomic_store(&context->listening_signal, signal_number);
    return 0;
}

void plua_stop_listening(plua_context *context) {
    atomic_store(&context->listening_signal, 0);
    for (listener *one = atomic_load(&listeners); one; one = one->next) {
        plua_context *expected = context;
        if (!atomic_compare_exchange_strong(&one->context, &expected, NULL)) continue;
        /* The handler has seen that it is gone, or is waited for. */
        while (atomic_load(&one->is_handling)) sched_yield();
    }
}

void plua_wake(plua_context *context) {
    int signal_number = atomic_load(&context->listening_signal);
    if (signal_number != 0) pthread_kill(context->listening_thread, signal_number);
}
