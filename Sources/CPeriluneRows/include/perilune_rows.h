/*
** Rows: plain tables with one metatable per statement. Lists of rows, records and values share another metatable.
*/
#ifndef PERILUNE_ROWS_H
#define PERILUNE_ROWS_H

#include <perilune_state.h>

/* Pushes the method table of rows, so that methods can be added. [-0, +1, m] */
void pdb_push_row_methods(lua_State *L);

/* Returns whether the value is a row. [-0, +0, -] */
bool pdb_is_row(lua_State *L, int index);

/* Lua functions for the library: (row) returns the list of its column names, which must not be changed; (row) returns its metatable; (list
** of names, table of values, mask of BLOBs) returns a new row; (row) returns its mask of BLOBs; (function) sets the function for missing
** columns. [-n, +1, v] */
int pdb_row_columns(lua_State *L);
int pdb_row_metatable(lua_State *L);
int pdb_make_row(lua_State *L);
int pdb_row_blobs(lua_State *L);
int pdb_set_missing_column(lua_State *L);

/* MARK: - Lists */

/* Gives the table on top of the stack the metatable of fetched lists, which raises errors for unknown fields. Scripts do not see the
** metatable. [-0, +0, -] */
void pdb_mark_list(lua_State *L);

/* Lua function for the library: (function) sets the function for missing fields of lists. [-n, +0, v] */
int pdb_set_missing_list_field(lua_State *L);

#endif
