/* Protected calls, their errors, and calls to Swift functions. */
#ifndef PERILUNE_SHIM_CALLS_H
#define PERILUNE_SHIM_CALLS_H

#include "CPeriluneShim/State/state.h"

/* Creates the metatable of error objects. [-0, +0, m] */
void plua_open_errors(lua_State *L);

/* Returns whether an activation belongs to a function of the script. lua_getinfo must have filled in its fields for "S" and "l". Never
** fails. */
bool plua_is_of_script(const lua_Debug *activation);

/* Completes the name of the called function at the beginning of the message of the error object on top of the stack: `write: argument 1:
** ...` becomes `db:write: argument 1: ...`. [-0, +0, m] */
void plua_name_function(lua_State *L);

/* The message handler of protected calls, which stores the traceback and position of an error. [-0, +1, -] */
int plua_message_handler(lua_State *L);

/* The global function getmetatable, which returns nil for hidden metatables. [-n, +1, v] */
int plua_getmetatable(lua_State *L);

/* Returns whether a C function is a trampoline to Swift. Never fails. */
bool plua_is_swift_function(lua_CFunction function);

#endif
