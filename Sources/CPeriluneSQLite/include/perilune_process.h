/*
** Settings of SQLite for the whole process, and waiting for locks.
*/
#ifndef PERILUNE_PROCESS_H
#define PERILUNE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

/* Turns off SQLite's memory statistics, which makes writes and scans up to a fifth faster on libraries without lookaside, and lets threads
** scale. Applies to the whole process; call it before SQLite is first used. Returns an SQLite result code. */
int psql_disable_memory_statistics(void);

/* Makes threads that wait for an SQLite mutex spin for a while before they sleep. Applies to the whole process; call it before SQLite
** is first used. Returns SQLite's code. */
int psql_use_adaptive_mutexes(void);

/* For SQLite's busy handler: waits a little, longer with each attempt (from 0). Returns false once all waits together have taken this
** number of seconds, or if `is_cancelled` returns true for the run on this thread. */
bool psql_wait_while_busy(int attempts, double seconds, bool (*is_cancelled)(void));

/* Replaces the busy timeout of a connection by `psql_wait_while_busy` of as many milliseconds. */
int psql_wait_cancellably(sqlite3 *db, int milliseconds, bool (*is_cancelled)(void));

/* Returns the system's number of this thread. */
uint32_t psql_thread_number(void);

/* The number of the thread that has a queue of libdispatch; 0: none has it. */
uint32_t psql_queue_owner(const void *queue);

#endif
