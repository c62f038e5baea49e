/* Makes runs repeatable: orders keys, and replaces addresses by numbers. For deterministic states. */
#ifndef PERILUNE_SHIM_ORDER_H
#define PERILUNE_SHIM_ORDER_H

#include "CPeriluneShim/State/state.h"

/* Determines where blocks contain the numbers of objects. Must be called before any other object is numbered. [-0, +0, m] */
void plua_measure_objects(lua_State *L);

/* Replaces next, pairs, tostring, print, string.format and the text of files. [-0, +0, m] */
void plua_open_order(lua_State *L);

/* Replaces functions of the table of globals, on top. [-0, +0, m] */
void plua_open_traversal(lua_State *L);

#endif
