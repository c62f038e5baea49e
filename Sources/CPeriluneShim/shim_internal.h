/* What the files of the shim share. */
#ifndef PERILUNE_SHIM_INTERNAL_H
#define PERILUNE_SHIM_INTERNAL_H

#include <perilune_shim.h>

/* Registers the metatable of error objects. [-0, +0, m] */
void plua_open_errors(lua_State *L);

/* The message handler of every protected call: keeps traceback and position of the error. */
int plua_message_handler(lua_State *L);

/* Whether a C function calls Swift, or is what coroutine.wrap returns. */
bool plua_is_swift_function(lua_CFunction function);
bool plua_is_wrap(lua_CFunction function);

/* What compiling the next 256 bytes costs of the budget: a long chain of operands takes quadratic time. */
static inline int64_t plua_cost_of_piece(size_t offset) { return 256 + (int64_t)(offset / 64); }

/* Has the memory limit looked at before the next instruction. Safe to call from the allocator. */
void plua_arm_count_hook(plua_context *context);

/* Makes sure that no signal finds the context any more. */
void plua_stop_listening(plua_context *context);

/* Puts the hook on a coroutine that begins to run, if the run is cancelled: the signal that armed it came just before, and has
** reached only what ran then. */
void plua_arm_if_cancelled(lua_State *coroutine);

/* For the hook: a line begins. Raises nothing. */
void plua_note_line(plua_coverage *coverage, lua_State *L, lua_Debug *activation);

void plua_free_coverage(plua_coverage *coverage);

#endif
