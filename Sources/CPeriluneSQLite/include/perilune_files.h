/*
** What SQLite writes to files: to databases, their journals, and files in which it sorts.
*/
#ifndef PERILUNE_FILES_H
#define PERILUNE_FILES_H

#include <stdbool.h>

#include <sqlite3.h>

/* Whether what runs on this thread may write this number of bytes more. */
typedef bool psql_may_write(int size);

/* Has writes ask a function, on all files of connections that were given to psql_watch_files. The same one for the whole process. */
void psql_ask_before_writes(psql_may_write *may_write);

/*
** Watches the files of a connection: those that are open, and those that its VFS opens from now on. A write that is not allowed fails
** as if the disk were full, but for those that rolling back needs. Returns SQLite's code; other file systems than SQLite's own are
** left alone.
*/
int psql_watch_files(sqlite3 *handle);

#endif
