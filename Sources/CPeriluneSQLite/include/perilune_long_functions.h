/*
** SQLite's functions that may take long for one call, in a form that can be ended.
*/
#ifndef PERILUNE_LONG_FUNCTIONS_H
#define PERILUNE_LONG_FUNCTIONS_H

#include <stdbool.h>

#include <sqlite3.h>

/* What statements of this library begin with, which traces leave out. */
#define PSQL_OWN_SQL "/* perilune */ "

/* Reads the first page of a database. */
#define PSQL_FIRST_PAGE "/* perilune */ SELECT 1 FROM sqlite_schema LIMIT 1"

/* Whether what runs on this thread is to end. */
typedef bool psql_is_cancelled(void);

/* Whether a hook reads the rows that are inserted on a connection. */
typedef bool psql_is_hooked(sqlite3 *handle);

/* Puts instr, replace, trim, ltrim, rtrim, like and glob of this library in the place of SQLite's on a connection, and highlight and
** snippet in that of FTS5's. They do the same, and fail as interrupted once `is_cancelled` says so. So does zeroblob, whose zeros take
** memory at once while `is_hooked` says so. Returns SQLite's code: SQLITE_BUSY while statements run. */
int psql_bound_functions(sqlite3 *handle, psql_is_cancelled *is_cancelled, psql_is_hooked *is_hooked);

#endif
