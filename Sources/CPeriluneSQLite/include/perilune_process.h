/*
** Settings of SQLite for the whole process, and waiting for locks.
*/
#ifndef PERILUNE_PROCESS_H
#define PERILUNE_PROCESS_H

#include <stdbool.h>

#include <sqlite3.h>

/* Has SQLite count no memory, which makes writes and scans up to a fifth faster on libraries without lookaside, and lets
** threads scale. For the whole process, before SQLite is first used; returns SQLite's code. */
int psql_disable_memory_statistics(void);

/* Has threads that wait for a mutex of SQLite's look again for a while before they sleep. For the whole process, before SQLite is
** first used; returns SQLite's code. */
int psql_use_adaptive_mutexes(void);

/* For SQLite's busy handler: waits a little, longer with each attempt (from 0). Returns false, to give up, once all the waits
** together have taken this number of seconds, or if `is_cancelled`, unless it is NULL, says that the run on this thread is to end. */
bool psql_wait_while_busy(int attempts, double seconds, bool (*is_cancelled)(void));

#endif
