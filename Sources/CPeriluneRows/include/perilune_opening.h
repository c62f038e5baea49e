/*
** The row path of a state: the one place that knows every room.
*/
#ifndef PERILUNE_OPENING_H
#define PERILUNE_OPENING_H

#include <perilune_state.h>

/* Makes the state able to hold databases. Must come before anything else here; once. The callbacks are copied. [-0, +0, m] */
void pdb_open(lua_State *L, const pdb_callbacks *callbacks);

#endif
