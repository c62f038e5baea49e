/* The parts of one Lua state: its memory, its limits, the coverage of its lines. */
#ifndef PERILUNE_SHIM_STATE_H
#define PERILUNE_SHIM_STATE_H

#include <perilune_shim.h>

/* Returns a state for plua_new_state. `prepare`, called under protection, has opened the parts that every state has. [-0, +0, -] */
lua_State *plua_make_state(void *owner, int (*call)(lua_State *, void *), lua_CFunction prepare, bool is_deterministic);

/* The context that runs on the current thread, or NULL. Written by the calls into Lua. */
extern _Thread_local plua_context *plua_running;

enum { plua_number_header = 16 }; /* bytes in front of each block of a deterministic state; keeps blocks aligned */

/* The number of the object that begins at an address, in a deterministic state. */
static inline uint64_t plua_number_of_block(const void *start) {
    return *(const uint64_t *)((const char *)start - plua_number_header);
}

/* Whether the state has more memory than its limit after a full collection: garbage does not count. */
bool plua_exceeds_memory_limit(plua_context *context);

/* Makes the hook check the memory limit before the next instruction. Safe to call from the allocator. */
void plua_arm_count_hook(plua_context *context);

/* Called when L begins or continues to run. Arms its hook if the run is cancelled or has passed its memory limit, because only the
** previously running coroutine's hook was armed. Adds a budget's hook to a coroutine that was made before the budget was set.
** [-0, +0, -] */
void plua_prepare_hook(lua_State *L);

/* For the hook: a line begins. Raises nothing. [-0, +0, -] */
void plua_note_line(plua_coverage *coverage, lua_State *L, lua_Debug *activation);

void plua_free_coverage(plua_coverage *coverage);

/* Replaces the named functions, if the table on top has them. [-0, +0, m] */
void plua_replace_functions(lua_State *L, const luaL_Reg *functions);

#endif
