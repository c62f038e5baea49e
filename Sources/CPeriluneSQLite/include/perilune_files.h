/*
** Limiting SQLite's writes to files: databases, journals and temporary files.
*/
#ifndef PERILUNE_FILES_H
#define PERILUNE_FILES_H

#include <stdbool.h>

#include <sqlite3.h>

/* Returns whether the code on this thread may write this number of bytes. */
typedef bool psql_may_write(int size);

/* Sets the function that decides about writes to watched files, for the whole process. */
void psql_ask_before_writes(psql_may_write *may_write);

/*
** Watches the files of a connection, both open ones and ones that its VFS opens later. A refused write fails as on a full disk, except
** writes that a rollback needs. Returns an SQLite result code. Only SQLite's own file systems are watched.
*/
int psql_watch_files(sqlite3 *handle);

/* Returns whether a file or folder is on a network file system, where other machines do not see the shared memory of a write-ahead
** log. */
bool psql_is_on_network(const char *path);

#endif
