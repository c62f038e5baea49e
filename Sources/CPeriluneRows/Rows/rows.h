/* Rows as tables, and the result of `execute`. */
#ifndef PERILUNE_ROWS_INTERNAL_H
#define PERILUNE_ROWS_INTERNAL_H

#include <perilune_rows.h>

#include "CPeriluneRows/Connections/connections.h"

/* [-0, +0, m] */
void pdb_open_rows(lua_State *L);
void pdb_open_changes(lua_State *L);

/* Reads the columns of a statement if they are not known yet and pushes the list of keys of its rows, with their metatable at
** 0. [-0, +1, m] */
void pdb_push_keys(lua_State *L, pdb_statement *statement, int statement_index);

/* Pushes the current row. `keys` is the stack index of the list of keys. [-0, +1, m] */
void pdb_push_row(lua_State *L, pdb_statement *statement, int keys);

/* Pushes the metatable of a row with BLOBs, which marks their columns. [-0, +1, m] */
void pdb_push_blob_metatable(lua_State *L, pdb_statement *statement, int keys);

/* Returns whether the value is a row with a column of that name, NULL included. [-0, +0, -] */
bool pdb_row_has(lua_State *L, int row, int name);

/* MARK: - Fields */

/* A table with columns is described by two stack indices: the list of column names, and the list of keys of its values. They
** may be the same list. */

/* Returns whether two tables have equal values in their columns. May call __eq. [-0, +0, e] */
bool pdb_have_equal_fields(lua_State *L, int left, int right, int keys);

/* Pushes {id = 1, name = "Ada"}. May call __tostring. [-0, +1, e] */
void pdb_push_text_of_fields(lua_State *L, int table, int names, int keys);

/* Pushes the iterator that __pairs returns: the columns in order, NULL as nil, then other fields. `columns` has each column
** name as a key, `hidden` the names of fields to leave out; 0 for none. Returns 1. [-0, +1, m] */
int pdb_push_iterator(lua_State *L, int table, int names, int keys, int columns, int hidden);

/* MARK: - What execute returns */

/* Pushes the result of `execute`; NULL for the row id if nothing was inserted. [-0, +1, m] */
void pdb_push_changes(lua_State *L, lua_Integer changed_rows, const lua_Integer *inserted_rowid);

#endif
