/*
** Opening the row path of a state.
*/
#ifndef PERILUNE_OPENING_H
#define PERILUNE_OPENING_H

#include <perilune_state.h>

/* Prepares a state for databases. Must be called once, before any other function of this target. The callbacks are copied. [-0, +0, m] */
void pdb_open(lua_State *L, const pdb_callbacks *callbacks);

#endif
