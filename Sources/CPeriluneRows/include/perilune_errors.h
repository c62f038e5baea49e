/*
** Errors of SQLite as error objects.
*/
#ifndef PERILUNE_ERRORS_H
#define PERILUNE_ERRORS_H

#include <perilune_state.h>

/* Pops an error value and keeps it, to be raised by the statement that runs now in place of its own error. Callbacks of SQLite
** cannot raise. [-1, +0, m] */
void pdb_keep_pending_error(lua_State *L);

/* Pushes the error value that was kept, if there is one, and forgets it. [-0, +(0|1), -] */
bool pdb_take_pending_error(lua_State *L);

/* Forgets it. [-0, +0, -] */
void pdb_drop_pending_error(lua_State *L);

/* Pushes the error object of an SQLite failure: kind, name, code, extended_code, message, sql, and what the message names.
** `offset` counts bytes from 0 as sqlite3_error_offset does; negative means unknown. [-0, +1, m] */
void pdb_push_sqlite_error(lua_State *L, int code, const char *message, const char *sql, int offset);

/* "constraint_unique", "busy", "sql" and so on, and SQLite's own name. Never fail. */
const char *pdb_sqlite_kind(int extended_code);
const char *pdb_sqlite_name(int extended_code);

/* Why a database that is opened for reading cannot be read, and what to do: what SQLite says of it is "attempt to write a readonly
** database". NULL for other codes. */
const char *pdb_readonly_reason(int extended_code);

#endif
