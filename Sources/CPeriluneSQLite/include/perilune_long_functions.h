/*
** Versions of slow SQLite functions that can be cancelled during a call.
*/
#ifndef PERILUNE_LONG_FUNCTIONS_H
#define PERILUNE_LONG_FUNCTIONS_H

#include <stdbool.h>

#include <sqlite3.h>

/* The prefix of the library's own statements, by which traces recognize and omit them. */
#define PSQL_OWN_SQL "/* perilune */ "

/* A statement that makes SQLite read the first page of a database. */
#define PSQL_FIRST_PAGE "/* perilune */ SELECT 1 FROM sqlite_schema LIMIT 1"

/* Returns whether the run on this thread must end. */
typedef bool psql_is_cancelled(void);

/* Returns whether a hook reads the rows inserted on a connection. */
typedef bool psql_is_hooked(sqlite3 *handle);

/* Replaces instr, replace, trim, ltrim, rtrim, like, glob, json_patch, zeroblob, and FTS5's highlight and snippet on a connection. The
** replacements return the same results, but fail as interrupted once `is_cancelled` returns true. json_patch rejects very long values.
** zeroblob allocates its zeros immediately while `is_hooked` returns true. Returns an SQLite result code: SQLITE_BUSY while statements
** run. */
int psql_bound_functions(sqlite3 *handle, psql_is_cancelled *is_cancelled, psql_is_hooked *is_hooked);

#endif
