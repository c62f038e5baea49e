/* The parts of a Lua state: its memory, its limits and its line coverage. */
#ifndef PERILUNE_SHIM_STATE_H
#define PERILUNE_SHIM_STATE_H

#include <perilune_shim.h>

/* Creates a state for plua_new_state. `prepare` is called under protection and opens the parts that every state has. [-0, +0, -] */
lua_State *plua_make_state(void *owner, int (*call)(lua_State *, void *), lua_CFunction prepare, bool is_deterministic);

/* The context that is running on the current thread, or NULL. Set by calls into Lua. */
extern _Thread_local plua_context *plua_running;

enum { plua_number_header = 16 }; /* the size of the header before each block of a deterministic state, which keeps blocks aligned */

/* Returns the number of the object whose block starts at an address, in a deterministic state. */
static inline uint64_t plua_number_of_block(const void *start) {
    return *(const uint64_t *)((const char *)start - plua_number_header);
}

/* Returns whether the state uses more memory than its limit after a full collection; garbage does not count. */
bool plua_exceeds_memory_limit(plua_context *context);

/*
** Returns the number of bytes in use at which the next collection begins: twice as many as now, as is usual in Lua, or 4 MB (with a memory
** limit, a sixteenth of it) if that is more. A small script would otherwise spend much of its time on marking the library again and again.
*/
size_t plua_collection_threshold(plua_context *context);

/* Makes the hook check the memory limit before the next instruction. The allocator may call it. */
void plua_arm_count_hook(plua_context *context);

/* Prepares the hook of L, which begins or continues to run. Arms it if the run is cancelled or exceeds its memory limit, because only the
** hook of the coroutine that ran before was armed. Adds the hook of a budget if L was created before the budget was set. [-0, +0, -] */
void plua_prepare_hook(lua_State *L);

/* Records that a line begins; called by the hook. Raises nothing. [-0, +0, -] */
void plua_note_line(plua_coverage *coverage, lua_State *L, lua_Debug *activation);

void plua_free_coverage(plua_coverage *coverage);

/* Replaces the named functions that exist in the table on top of the stack. [-0, +0, m] */
void plua_replace_functions(lua_State *L, const luaL_Reg *functions);

#endif
