/*
** SQLite errors as error objects.
*/
#ifndef PERILUNE_ERRORS_H
#define PERILUNE_ERRORS_H

#include <perilune_state.h>

/* Pops an error value and keeps it for the running statement to raise in place of its own error, because SQLite callbacks
** cannot raise. [-1, +0, m] */
void pdb_keep_pending_error(lua_State *L);

/* Pushes the kept error value, if any, and forgets it. [-0, +(0|1), -] */
bool pdb_take_pending_error(lua_State *L);

/* Forgets the kept error value. [-0, +0, -] */
void pdb_drop_pending_error(lua_State *L);

/* Pushes the error object of an SQLite failure: kind, name, code, extended_code, message, sql, and the names in the message.
** `offset` counts bytes from 0 like sqlite3_error_offset; negative means unknown. [-0, +1, m] */
void pdb_push_sqlite_error(lua_State *L, int code, const char *message, const char *sql, int offset);

/* Return the kind ("constraint_unique", "busy", "sql" and so on) and SQLite's name of a code. Never fail. */
const char *pdb_sqlite_kind(int extended_code);
const char *pdb_sqlite_name(int extended_code);

/* Returns why a database opened for reading cannot be read, and how to fix it, instead of SQLite's "attempt to write a readonly
** database". NULL for other codes. */
const char *pdb_readonly_reason(int extended_code);

#endif
