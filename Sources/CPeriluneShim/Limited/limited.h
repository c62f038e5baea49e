/* Library functions for limited runs. They replace Lua's own functions, which a count hook cannot interrupt because they are written in
** C. */
#ifndef PERILUNE_LIMITED_H
#define PERILUNE_LIMITED_H

#include "CPeriluneShim/Calls/calls.h"

/* The maximum number of elements that a table function may access in one call, because __len can return any number. */
#define PLUA_RANGE_LIMIT 5000000

/* The number of steps that a meter counts between two calls of plua_count_work. */
#define PLUA_STRIDE 1000

/* A counter for the work of a C function. A step is a subtraction; plua_count_work is called every PLUA_STRIDE steps. */
typedef struct {
    lua_State *L;
    int64_t left;
} plua_meter;

/* Returns a new meter. [-0, +0, -] */
static inline plua_meter plua_meter_for(lua_State *L) {
    return (plua_meter){L, PLUA_STRIDE};
}

/* Charges the counted work to the budget. May raise. */
static inline void plua_charge_meter(plua_meter *meter) {
    int64_t done = PLUA_STRIDE - meter->left;
    meter->left = PLUA_STRIDE;
    plua_count_work(meter->L, done);
}

/* Counts steps without raising, inside a loop that calls plua_count. */
static inline void plua_note(plua_meter *meter, size_t steps) {
    meter->left -= (int64_t)steps;
}

static inline void plua_count(plua_meter *meter, size_t steps) {
    plua_note(meter, steps);
    if (meter->left <= 0) plua_charge_meter(meter);
}

/* Returns the cost of copying or searching a number of bytes in a single operation, which is much faster than a step of the interpreter. */
static inline size_t plua_cost_of_bytes(size_t bytes) { return bytes / 64; }

/* Cancels the run for memory and raises, before an allocation of this size exceeds the limit. [-0, +0, v] */
void plua_reserve(lua_State *L, size_t bytes);

/* Raises the cancellation if the run is cancelled. Must be called after a protected call, which may have caught it. [-0, +0, v] */
static inline void plua_raise_if_cancelled(lua_State *L) {
    plua_context *context = plua_context_of(L);
    if (atomic_load_explicit(&context->cancel_reason, memory_order_relaxed) != PLUA_CANCEL_NONE) plua_raise_cancellation(L);
}

/* Wraps the named functions of the table on top of the stack, if they exist and are C functions. The wrapper has the original as its first
** upvalue and calls it by plua_call_original. [-0, +0, m] */
void plua_wrap_functions(lua_State *L, const char *const *names, lua_CFunction wrapper);

/* Calls the original function in the frame of its wrapper, so that its messages do not change. Originals have no upvalues. [-n, +n, e] */
static inline int plua_call_original(lua_State *L) {
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* Wrappers of functions whose time is linear in the length of a string. They charge for the results, or for the first argument.
** [-n, +n, e] */
int plua_count_work_of_results(lua_State *L);
int plua_count_work_of_argument(lua_State *L);

/* Replace functions of the library whose table is on top of the stack; for the base library, this is the table of globals. [-0, +0, m] */
void plua_limit_base(lua_State *L);
void plua_limit_debug(lua_State *L);

/* Pushes the results of `load` for a mode that does not allow text and returns true. Pushes nothing and returns false for other modes.
** [-0, +(0|2), v] */
bool plua_refuse_mode(lua_State *L);
void plua_limit_utf8(lua_State *L);
void plua_limit_coroutine(lua_State *L);
void plua_limit_string(lua_State *L);
void plua_limit_table(lua_State *L);

/* Replaces table.sort. Lua's own function chooses pivots by the clock, but the order of equal elements must depend only on the table.
** [-0, +0, m] */
void plua_open_sort(lua_State *L);

/* Opens the coroutine library of every state and pushes its table; see coroutine.c. [-0, +1, m] */
int plua_open_coroutine(lua_State *L);

#endif
