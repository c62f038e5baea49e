/* What the files of the shim share. */
#ifndef PERILUNE_SHIM_INTERNAL_H
#define PERILUNE_SHIM_INTERNAL_H

#include "perilune_shim.h"

/* Registers the metatable of error objects. [-0, +0, m] */
void perilune_open_errors(lua_State *L);

/* The message handler of every protected call: keeps traceback and position of the error. */
int perilune_message_handler(lua_State *L);

/* Whether a C function calls Swift, or is what coroutine.wrap returns. */
bool perilune_is_swift_function(lua_CFunction function);
bool perilune_is_wrap(lua_CFunction function);

/* Has the memory limit looked at before the next instruction. Safe to call from the allocator. */
void perilune_hurry(perilune_context *context);

/* Makes sure that no signal finds the context any more. */
void perilune_stop_listening(perilune_context *context);

#endif
