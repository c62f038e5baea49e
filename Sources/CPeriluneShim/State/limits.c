/* Cancellation of runs: the flag, the clock, the budget, the count hook, and the watchdog thread. */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "CPeriluneShim/State/state.h"

/* The number of instructions between two calls of a budget's hook, and the amount of work in C between two checks of the limits. A larger
** number is hardly faster, because any count hook switches Lua's interpreter to its tracing mode. */
enum { instructions_per_look = 200 };

static const char cancellation_marker;

static void count_hook(lua_State *L, lua_Debug *activation);

uint64_t plua_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int mask_of(lua_State *L) {
    return plua_context_of(L)->coverage ? LUA_MASKCOUNT | LUA_MASKLINE : LUA_MASKCOUNT;
}

/* Makes Lua call the hook before each instruction, until the hook finds no reason to end the run. Like lua_sethook, it can be called at any
** time, but only on the thread that runs the state. */
static void arm(lua_State *L) {
    lua_sethook(L, count_hook, mask_of(L), 1);
}

/* Returns whether the hook must be active permanently. With the thread sanitizer this is always the case in limited states, because the
** sanitizer delays signals until a thread blocks. */
static bool is_counting(plua_context *context) {
#if __has_feature(thread_sanitizer)
    if (context->limited) return true;
#endif
    return context->budget != INT64_MAX || context->coverage;
}

void plua_reset_hook(lua_State *L) {
    bool is_on = is_counting(plua_context_of(L));
    lua_sethook(L, is_on ? count_hook : NULL, is_on ? mask_of(L) : 0, is_on ? instructions_per_look : 0);
}

void plua_prepare_hook(lua_State *L) {
    plua_context *context = plua_context_of(L);
    if (context->armed || plua_cancel_reason_of(context) != PLUA_CANCEL_NONE) arm(L);
    else if (is_counting(context) && lua_gethook(L) == NULL) plua_reset_hook(L);
}

void plua_cancel_run(plua_context *context, int reason) {
    int expected = PLUA_CANCEL_NONE;
    bool is_first = atomic_compare_exchange_strong(&context->cancel_reason, &expected, reason);
    if (is_first && plua_running == context) arm(context->running);
}

static bool is_over_memory_limit(plua_context *context) {
    context->armed = NULL;
    return plua_exceeds_memory_limit(context);
}

void plua_arm_count_hook(plua_context *context) {
    context->armed = context->running;
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
    /* The armed hook stops a script that catches the error. Setting a hook takes time proportional to the size of the stack, so it is not
    ** set again if it is armed already. */
    if (lua_gethook(L) != count_hook || lua_gethookcount(L) != 1) arm(L);
    lua_pushlightuserdata(L, (void *)&cancellation_marker);
    return lua_error(L);
}

void plua_check(lua_State *L) {
    if (plua_poll(plua_context_of(L)) != PLUA_CANCEL_NONE) plua_raise_cancellation(L);
}

void plua_check_memory(lua_State *L) {
    if (plua_context_of(L)->armed) plua_check(L);
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
    if (period != instructions_per_look) plua_reset_hook(L);
}

/* MARK: - The watchdog */

/*
** A permanent hook makes the interpreter twice as slow, so the hook is armed only when needed: by the allocator, on the thread of the run,
** or by a signal to this thread. The watchdog is a thread of the process that sends the signal when the time of a run is over. It repeats
** the signal until the run has ended, because a signal that arrives while the run switches coroutines may arm the hook of the previous
** coroutine.
*/
enum { nanoseconds_between_signals = 10000000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t is_due;
    plua_context *watched; /* the watched runs of all threads */
    uint64_t wakes_at;
    bool is_running;
    atomic_int signal_number;
} watchdog = {.lock = PTHREAD_MUTEX_INITIALIZER, .wakes_at = UINT64_MAX};

/* The innermost watched run of this thread. The signal handler reads it on the same thread. */
static _Thread_local plua_context *volatile watched_here;
static _Thread_local int unblocked_signal;

/* The signal handler. Like the signal handler of the stand-alone interpreter, it may call lua_sethook. */
static void arm_hooks_here(int signal_number) {
    (void)signal_number;
    for (plua_context *context = watched_here; context; context = context->outer_watched) {
        if (atomic_load(&context->cancel_reason) == PLUA_CANCEL_NONE) continue;
        arm(context->main);
        if (context->running != context->main) arm(context->running);
    }
}

static int use_signal(int signal_number) {
    struct sigaction action = {.sa_handler = arm_hooks_here, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, &action, NULL) != 0) return errno;
    atomic_store(&watchdog.signal_number, signal_number);
    return 0;
}

/* Unblocks the signal on this thread, because Swift's concurrency starts threads with all signals blocked. */
static void unblock_signal(void) {
    /* SIGURG is ignored by default, and few programs handle it. */
    if (atomic_load(&watchdog.signal_number) == 0) use_signal(SIGURG);
    int number = atomic_load(&watchdog.signal_number);
    if (unblocked_signal == number) return;
    unblocked_signal = number;
    sigset_t unblocked;
    sigemptyset(&unblocked);
    sigaddset(&unblocked, number);
    pthread_sigmask(SIG_UNBLOCK, &unblocked, NULL);
}

/* The caller of the next three functions must hold the lock. */

static void send_signal(plua_context *context, uint64_t now) {
    pthread_kill(context->watched_thread, context->watch_signal);
    context->signal_at = now + nanoseconds_between_signals;
}

static void *run_watchdog(void *unused) {
    (void)unused;
    pthread_mutex_lock(&watchdog.lock);
    for (;;) {
        uint64_t now = plua_now(), next = UINT64_MAX;
        for (plua_context *context = watchdog.watched; context; context = context->next_watched) {
            if (context->watched_until <= now) plua_cancel_run(context, PLUA_CANCEL_TIMEOUT);
            if (context->signal_at <= now) send_signal(context, now);
            if (context->signal_at < next) next = context->signal_at;
        }
        watchdog.wakes_at = next;
        struct timespec time = {.tv_sec = (time_t)(next / 1000000000u), .tv_nsec = (long)(next % 1000000000u)};
        if (next == UINT64_MAX) pthread_cond_wait(&watchdog.is_due, &watchdog.lock);
        else pthread_cond_timedwait(&watchdog.is_due, &watchdog.lock, &time);
    }
    return NULL;
}

static void start_watchdog(void) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&watchdog.is_due, &clock);
    pthread_condattr_destroy(&clock);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    watchdog.is_running = pthread_create(&thread, &attributes, run_watchdog, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* Makes the watchdog wake in time for the run's next signal. */
static void wake_watchdog(plua_context *context) {
    if (context->signal_at >= watchdog.wakes_at) return;
    if (!watchdog.is_running) start_watchdog();
    if (!watchdog.is_running) return;
    watchdog.wakes_at = context->signal_at;
    pthread_cond_signal(&watchdog.is_due);
}

void plua_begin_watch(plua_context *context) {
    if (context->is_watched) return;
    unblock_signal();
    pthread_mutex_lock(&watchdog.lock);
    context->watched_thread = pthread_self();
    context->watch_signal = unblocked_signal;
    context->watched_until = context->deadline ? context->deadline : UINT64_MAX;
    context->signal_at = plua_cancel_reason_of(context) == PLUA_CANCEL_NONE ? context->watched_until : 0;
    context->is_watched = true;
    context->next_watched = watchdog.watched;
    if (context->next_watched) context->next_watched->link_watched = &context->next_watched;
    context->link_watched = &watchdog.watched;
    watchdog.watched = context;
    context->outer_watched = watched_here;
    watched_here = context;
    wake_watchdog(context);
    pthread_mutex_unlock(&watchdog.lock);
}

void plua_end_watch(plua_context *context) {
    if (!context->is_watched) return;
    pthread_mutex_lock(&watchdog.lock);
    context->is_watched = false;
    *context->link_watched = context->next_watched;
    if (context->next_watched) context->next_watched->link_watched = context->link_watched;
    pthread_mutex_unlock(&watchdog.lock);
    watched_here = context->outer_watched;
}

void plua_wake(plua_context *context) {
    pthread_mutex_lock(&watchdog.lock);
    if (context->is_watched) {
        send_signal(context, plua_now());
        wake_watchdog(context);
    }
    pthread_mutex_unlock(&watchdog.lock);
}

int plua_listen(plua_context *context, int signal_number) {
    context->is_listening = true;
    return use_signal(signal_number);
}
