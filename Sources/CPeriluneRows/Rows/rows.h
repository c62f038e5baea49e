/* Rows as tables, and what execute returns. */
#ifndef PERILUNE_ROWS_INTERNAL_H
#define PERILUNE_ROWS_INTERNAL_H

#include <perilune_rows.h>

#include "CPeriluneRows/Connections/connections.h"

/* [-0, +0, m] */
void pdb_open_rows(lua_State *L);
void pdb_open_changes(lua_State *L);

/* Reads what the columns of a statement are, unless that is known, and pushes the list of keys of its rows. At 0 it has their metatable.
** [-0, +1, m] */
void pdb_push_keys(lua_State *L, pdb_statement *statement, int statement_index);

/* Pushes the row that the statement stands on. `keys` is the stack index of the list of keys. [-0, +1, m] */
void pdb_push_row(lua_State *L, pdb_statement *statement, int keys);

/* Whether the value is a row with a column of that name, be it NULL. Never fails. */
bool pdb_row_has(lua_State *L, int row, int name);

/* Pushes what execute returns; NULL for the row id if nothing was inserted. [-0, +1, m] */
void pdb_push_changes(lua_State *L, lua_Integer changed_rows, const lua_Integer *inserted_rowid);

#endif
