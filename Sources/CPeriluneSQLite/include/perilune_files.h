/*
** Limits on SQLite's writes to files: databases, journals and temporary files.
*/
#ifndef PERILUNE_FILES_H
#define PERILUNE_FILES_H

#include <stdbool.h>

#include <sqlite3.h>

/* Returns whether the run on this thread may write `size` bytes. */
typedef bool psql_may_write(int size);

/* Sets the process-wide function that allows or refuses writes to watched files. */
void psql_ask_before_writes(psql_may_write *may_write);

/*
** Watches the files of a connection, both open ones and ones that its VFS opens later. A refused write fails as it does on a full disk;
** writes of a rollback are never refused. Only SQLite's own file systems are watched. Returns an SQLite result code.
*/
int psql_watch_files(sqlite3 *handle);

/* Returns whether a file or folder is on a network file system, where other machines do not see the shared memory of a write-ahead log. */
bool psql_is_on_network(const char *path);

#endif
