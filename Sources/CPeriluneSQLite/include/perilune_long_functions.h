/*
** SQLite's functions that may take long for one call, in a form that can be ended.
*/
#ifndef PERILUNE_LONG_FUNCTIONS_H
#define PERILUNE_LONG_FUNCTIONS_H

#include <stdbool.h>

#include <sqlite3.h>

/* Puts instr, replace, trim, ltrim, rtrim, like and glob of this library in the place of SQLite's on a connection. They do the same,
** and fail as interrupted once `is_cancelled` says so. Returns SQLite's code: SQLITE_BUSY while statements run. */
int psql_bound_functions(sqlite3 *handle, bool (*is_cancelled)(void));

#endif
