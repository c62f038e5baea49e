/* What the files of the shim share. */
#ifndef PERILUNE_SHIM_INTERNAL_H
#define PERILUNE_SHIM_INTERNAL_H

#include <perilune_shim.h>

/* Registers the metatable of error objects. [-0, +0, m] */
void perilune_open_errors(lua_State *L);

/* The message handler of every protected call: keeps traceback and position of the error. */
int perilune_message_handler(lua_State *L);

/* Whether a C function calls Swift, or is what coroutine.wrap returns. */
bool perilune_is_swift_function(lua_CFunction function);
bool perilune_is_wrap(lua_CFunction function);

/* What compiling the next 256 bytes costs of the budget: a long chain of operands takes quadratic time. */
static inline int64_t perilune_cost_of_piece(size_t offset) { return 256 + (int64_t)(offset / 64); }

/* Has the memory limit looked at before the next instruction. Safe to call from the allocator. */
void perilune_hurry(perilune_context *context);

/* Makes sure that no signal finds the context any more. */
void perilune_stop_listening(perilune_context *context);

/* Puts the hook on a coroutine that begins to run, if the run is doomed: the signal that armed it came just before, and has
** reached only what ran then. */
void perilune_arm_if_doomed(lua_State *coroutine);

/* For the hook: a line begins. Raises nothing. */
void perilune_note_line(perilune_coverage *coverage, lua_State *L, lua_Debug *activation);

void perilune_free_coverage(perilune_coverage *coverage);

#endif
