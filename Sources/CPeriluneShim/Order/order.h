/* Deterministic states: makes runs repeatable by a fixed order of keys, and by numbers instead of addresses. */
#ifndef PERILUNE_SHIM_ORDER_H
#define PERILUNE_SHIM_ORDER_H

#include "CPeriluneShim/State/state.h"

/* Determines the distance from a block's start to the address of its object, for each type. Must be called before any other object is
** numbered. [-0, +0, m] */
void plua_measure_objects(lua_State *L);

/* Replaces next, pairs, tostring, print, string.format and the tostring of files. [-0, +0, m] */
void plua_open_order(lua_State *L);

/* Replaces functions in the table of globals, which is on top of the stack. [-0, +0, m] */
void plua_open_traversal(lua_State *L);

#endif
