/* SQLite errors as error objects. */
#ifndef PERILUNE_ERRORS_INTERNAL_H
#define PERILUNE_ERRORS_INTERNAL_H

#include <perilune_errors.h>

#include "CPeriluneRows/State/state.h"

/* Creates the slot for a pending error. [-0, +0, m] */
void pdb_open_pending_errors(lua_State *L);

#endif
