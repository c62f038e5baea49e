/*
** Process-wide SQLite settings, and waiting for locks.
*/
#ifndef PERILUNE_PROCESS_H
#define PERILUNE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

/* Turns off SQLite's memory statistics for the whole process; call it before SQLite is first used. Without them, threads scale, and writes
** and scans are up to a fifth faster on libraries without lookaside. Returns an SQLite result code. */
int psql_disable_memory_statistics(void);

/* Makes threads that wait for an SQLite mutex spin for a while before they sleep, in the whole process; call it before SQLite is first
** used. Returns an SQLite result code. */
int psql_use_adaptive_mutexes(void);

/* Waits before SQLite's busy handler tries again, longer with each of the `attempts`, which count from 0. Returns false once all waits
** together have taken `seconds`, or if `is_cancelled` returns true for the run on this thread. */
bool psql_wait_while_busy(int attempts, double seconds, bool (*is_cancelled)(void));

/* Replaces the busy timeout of a connection by calls of `psql_wait_while_busy`, for the same number of milliseconds. */
int psql_wait_cancellably(sqlite3 *db, int milliseconds, bool (*is_cancelled)(void));

/* Returns the system's number for this thread. */
uint32_t psql_thread_number(void);

/* Returns the number of the thread that is running a libdispatch queue, or 0 if none is. */
uint32_t psql_queue_owner(const void *queue);

#endif
