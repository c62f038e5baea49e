/*
** Rows: plain tables, with one metatable for each statement.
*/
#ifndef PERILUNE_ROWS_H
#define PERILUNE_ROWS_H

#include <perilune_state.h>

/* The table of the methods of rows: more may be added. [-0, +1, m] */
void pdb_push_row_methods(lua_State *L);

/* Whether the value is a row. [-0, +0, -] */
bool pdb_is_row(lua_State *L, int index);

/* For the library: Lua functions. row -> list of its column names, not to be changed; row -> its metatable; list of names, table
** of values, where its BLOBs are -> row; row -> where its BLOBs are. [-n, +1, v] */
int pdb_row_columns(lua_State *L);
int pdb_row_metatable(lua_State *L);
int pdb_make_row(lua_State *L);
int pdb_row_blobs(lua_State *L);

#endif
