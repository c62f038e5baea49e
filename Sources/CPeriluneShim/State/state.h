/* What belongs to one Lua state: its memory, its limits, the coverage of its lines. */
#ifndef PERILUNE_SHIM_STATE_H
#define PERILUNE_SHIM_STATE_H

#include <perilune_shim.h>

/* A state as plua_new_state makes it, once `prepare`, called under protection, has opened what every state has. [-0, +0, -] */
lua_State *plua_make_state(void *owner, int (*call)(lua_State *, void *), lua_CFunction prepare);

/* Whether the state has more memory than its limit after a full collection: garbage does not count. */
bool plua_exceeds_memory_limit(plua_context *context);

/* Has the memory limit looked at before the next instruction. Safe to call from the allocator. */
void plua_arm_count_hook(plua_context *context);

/* Makes sure that no signal finds the context any more. */
void plua_stop_listening(plua_context *context);

/* Puts the hook on a coroutine that begins to run, if the run is cancelled: the signal that armed it came just before, and has
** reached only what ran then. [-0, +0, -] */
void plua_arm_if_cancelled(lua_State *coroutine);

/* For the hook: a line begins. Raises nothing. [-0, +0, -] */
void plua_note_line(plua_coverage *coverage, lua_State *L, lua_Debug *activation);

void plua_free_coverage(plua_coverage *coverage);

#endif
