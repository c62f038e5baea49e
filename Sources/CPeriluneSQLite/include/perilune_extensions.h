/*
** Loadable extensions: shared libraries that add functions and virtual tables to a connection.
*/
#ifndef PERILUNE_EXTENSIONS_H
#define PERILUNE_EXTENSIONS_H

#include <sqlite3.h>

/* Loads the extension of a file for a connection. Returns SQLite's code; `message` is set if it fails, and freed by sqlite3_free. */
int psql_load_extension(sqlite3 *handle, const char *path, char **message);

#endif
