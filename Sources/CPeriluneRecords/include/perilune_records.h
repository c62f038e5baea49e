/*
** Records: tables of Lua whose fields are the columns of a row, above the row path.
*/
#ifndef PERILUNE_RECORDS_PUBLIC_H
#define PERILUNE_RECORDS_PUBLIC_H

#include <perilune_rows.h>

/* A table of functions for the Lua part of records. [-0, +1, m] */
void prec_push_record_functions(lua_State *L);

#endif
