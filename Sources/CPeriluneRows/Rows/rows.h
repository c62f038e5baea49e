/* Rows as tables, and the result of `execute`. */
#ifndef PERILUNE_ROWS_INTERNAL_H
#define PERILUNE_ROWS_INTERNAL_H

#include <perilune_rows.h>

#include "CPeriluneRows/Connections/connections.h"

/* [-0, +0, m] */
void pdb_open_rows(lua_State *L);
void pdb_open_lists(lua_State *L);
void pdb_open_changes(lua_State *L);

/* Pushes the list of keys for the rows of a statement. Index 0 of the list is the metatable of the rows. Reads the columns first if they
** are not known. [-0, +1, m] */
void pdb_push_keys(lua_State *L, pdb_statement *statement, int statement_index);

/* Pushes the current row. `keys` is the stack index of the list of keys. [-0, +1, m] */
void pdb_push_row(lua_State *L, pdb_statement *statement, int keys);

/* Pushes the metatable for a row with BLOBs, which marks its BLOB columns. [-0, +1, m] */
void pdb_push_blob_metatable(lua_State *L, pdb_statement *statement, int keys);

/* Returns whether the value is a row with a column of this name, even if its value is NULL. [-0, +0, -] */
bool pdb_row_has(lua_State *L, int row, int name);

/* MARK: - Fields */

/* Two stack indices describe the columns of a table: a list of column names, and a list of the keys of their values. Both may be the same
** list. */

/* Returns whether two tables have equal values in their columns. May call __eq. [-0, +0, e] */
bool pdb_have_equal_fields(lua_State *L, int left, int right, int keys);

/* Pushes {id = 1, name = "Ada"}. May call __tostring. [-0, +1, e] */
void pdb_push_text_of_fields(lua_State *L, int table, int names, int keys);

/* Pushes the iterator that __pairs returns: the columns in order, with nil for NULL, then other fields. `columns` is a table with the
** column names as keys, `hidden` a table with the names of fields to skip; 0 for none. Returns 1. [-0, +1, m] */
int pdb_push_iterator(lua_State *L, int table, int names, int keys, int columns, int hidden);

/* MARK: - The result of execute */

/* Pushes the result of `execute`. `inserted_rowid` is NULL if no row was inserted. [-0, +1, m] */
void pdb_push_changes(lua_State *L, lua_Integer changed_rows, const lua_Integer *inserted_rowid);

/* Pushes the result of `execute` for a statement with rows, such as a SELECT. [-0, +1, m] */
void pdb_push_result_without_rows(lua_State *L);

#endif
