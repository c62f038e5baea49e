/*
** Loadable extensions: shared libraries that add functions and virtual tables to a connection.
*/
#ifndef PERILUNE_EXTENSIONS_H
#define PERILUNE_EXTENSIONS_H

#include <sqlite3.h>

/* Loads an extension from a file into a connection. Returns an SQLite result code. On failure sets `message`, which must be freed with
** sqlite3_free. */
int psql_load_extension(sqlite3 *handle, const char *path, char **message);

#endif
