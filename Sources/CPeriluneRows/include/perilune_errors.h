/*
** SQLite errors as error objects.
*/
#ifndef PERILUNE_ERRORS_H
#define PERILUNE_ERRORS_H

#include <perilune_state.h>

/* Pops an error and stores it as the pending error, which the running statement raises instead of its own. For SQLite callbacks, which
** cannot raise. [-1, +0, m] */
void pdb_keep_pending_error(lua_State *L);

/* Pushes and clears the pending error, if any. Returns false if none exists. [-0, +(0|1), -] */
bool pdb_take_pending_error(lua_State *L);

/* Clears the pending error. [-0, +0, -] */
void pdb_drop_pending_error(lua_State *L);

/* Pushes the error object of an SQLite failure: kind, name, code, extended_code, message, sql, and the table and columns named in the
** message. `offset` counts bytes from 0, like sqlite3_error_offset; a negative one is unknown. [-0, +1, m] */
void pdb_push_sqlite_error(lua_State *L, int code, const char *message, const char *sql, int offset);

/* Return the kind ("constraint_unique", "busy", "sql" and so on) and SQLite's name for a result code. Never fail. */
const char *pdb_sqlite_kind(int extended_code);
const char *pdb_sqlite_name(int extended_code);

/* Returns a message that explains why a read-only database cannot be read, and how to fix this. It replaces SQLite's "attempt to write a
** readonly database". Returns NULL for other codes. */
const char *pdb_readonly_reason(int extended_code);

#endif
