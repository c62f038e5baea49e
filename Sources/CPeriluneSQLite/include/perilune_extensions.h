/*
** Loadable extensions: shared libraries that add functions and virtual tables to a connection.
*/
#ifndef PERILUNE_EXTENSIONS_H
#define PERILUNE_EXTENSIONS_H

#include <sqlite3.h>

/* Loads an extension from a file on a connection. Returns an SQLite result code. On failure `message` is set and must be freed
** by sqlite3_free. */
int psql_load_extension(sqlite3 *handle, const char *path, char **message);

#endif
