/* Declarations shared by the replaced library functions. They exist because a count hook cannot interrupt a C function. */
#ifndef PERILUNE_LIMITED_H
#define PERILUNE_LIMITED_H

#include "CPeriluneShim/Calls/calls.h"

/* The maximum number of elements that one call of a table function may access, because __len can return any number. */
#define PLUA_RANGE_LIMIT 5000000

/* The number of steps between two calls of plua_count_work. */
#define PLUA_STRIDE 1000

/* Counts the work of one call of a C function: each step is a subtraction, and plua_count_work is called every PLUA_STRIDE steps. */
typedef struct {
    lua_State *L;
    int64_t left;
} plua_meter;

/* Returns a meter that has counted nothing. [-0, +0, -] */
static inline plua_meter plua_meter_for(lua_State *L) {
    return (plua_meter){L, PLUA_STRIDE};
}

/* Charges the counted work to the budget. May raise. */
static inline void plua_charge_meter(plua_meter *meter) {
    int64_t done = PLUA_STRIDE - meter->left;
    meter->left = PLUA_STRIDE;
    plua_count_work(meter->L, done);
}

/* Counts `steps` without raising, for code inside a loop that counts. */
static inline void plua_note(plua_meter *meter, size_t steps) {
    meter->left -= (int64_t)steps;
}

static inline void plua_count(plua_meter *meter, size_t steps) {
    plua_note(meter, steps);
    if (meter->left <= 0) plua_charge_meter(meter);
}

/* The cost of handling this number of bytes at once: memory is copied and searched much faster than a step of the interpreter. */
static inline size_t plua_cost_of_bytes(size_t bytes) { return bytes / 64; }

/* Ends the run with a memory error, before the allocation, if a block of this size exceeds the limit. [-0, +0, v] */
void plua_reserve(lua_State *L, size_t bytes);

/* Ends the call if the run is cancelled. Call it after a protected call, which may have caught the cancellation. [-0, +0, v] */
static inline void plua_raise_if_cancelled(lua_State *L) {
    plua_context *context = plua_context_of(L);
    if (atomic_load_explicit(&context->cancel_reason, memory_order_relaxed) != PLUA_CANCEL_NONE) plua_raise_cancellation(L);
}

/* Wraps the named functions of the table on top, if they exist and are C functions. `wrapper` is a C function that finds the original
** as its first upvalue, and calls it by plua_call_original. [-0, +0, m] */
void plua_wrap_functions(lua_State *L, const char *const *names, lua_CFunction wrapper);

/* Runs the original in the frame of the wrapper, so that its messages are unchanged. Originals have no upvalues. [-n, +n, e] */
static inline int plua_call_original(lua_State *L) {
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* Wrappers of functions that take time linear in a string: they charge for their results, or for their first argument. [-n, +n, e] */
int plua_count_work_of_results(lua_State *L);
int plua_count_work_of_argument(lua_State *L);

/* Each replaces functions of the library table on top; of the base library, in the table of globals. [-0, +0, m] */
void plua_limit_base(lua_State *L);
void plua_limit_debug(lua_State *L);

/* Pushes the results of `load` for a mode that does not allow text, and returns true; returns false for other modes. [-0, +(0|2), v] */
bool plua_refuse_mode(lua_State *L);
void plua_limit_utf8(lua_State *L);
void plua_limit_coroutine(lua_State *L);
void plua_limit_string(lua_State *L);
void plua_limit_table(lua_State *L);

/* Replaces table.sort, because stock Lua chooses pivots by the clock: the order of equal elements must only depend on the table.
** [-0, +0, m] */
void plua_open_sort(lua_State *L);

/* Opens the library `coroutine` for every state: it passes asynchronous calls to the driver, keeps the traceback of a failing coroutine,
** and limits the depth of nested closes. Pushes its table. [-0, +1, m] */
int plua_open_coroutine(lua_State *L);

#endif
