/*
** What statements run on the connections of a test, with the place in the script that called them.
**
** For Swift. One trace belongs to one thread at a time. Statements that begin and end transactions, PRAGMAs and looks at the schema
** (sqlite_master, sqlite_schema, table-valued PRAGMAs) are left out, and so is all that runs while the trace is paused.
*/
#ifndef PERILUNE_TRACING_H
#define PERILUNE_TRACING_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

typedef struct psql_trace psql_trace;

/* A statement that has ended. The texts live until the next one ends. */
typedef struct {
    const char *sql;
    const char *expanded; /* with the bound values in place of the parameters; NULL if there are none, or very many */
    const char *file;     /* the chunk that called it, as Lua names it without its mark; NULL if no script did */
    int line;
    uint64_t nanoseconds; /* from its first step to its end */
    int64_t rows;         /* returned, or changed */
    bool is_writing;
} psql_traced;

/* Makes a trace. NULL without memory.
**
** SQLite asks for the present as a statement begins and ends, for the trace's sake: `forget_reading`, if not NULL, is called after
** each such reading, so that a clock which goes on with each one can take it back. */
psql_trace *psql_trace_make(void (*forget_reading)(void *clock), void *clock);

/* Frees it, when its connections are closed. */
void psql_trace_free(psql_trace *trace);

/* Traces a connection, in place of whatever traced it before. Returns SQLite's code. */
int psql_trace_connection(psql_trace *trace, sqlite3 *db);

/* The last statement that has ended, or NULL. */
const psql_traced *psql_trace_last(const psql_trace *trace);

/* How many have ended. */
int64_t psql_trace_count(const psql_trace *trace);

/* Has a function told of each that ends; NULL ends it. */
void psql_trace_tell(psql_trace *trace, void (*tell)(void *context, const psql_traced *statement), void *context);

/* Leaves out what runs until it is called with false as often as it was with true. */
void psql_trace_pause(psql_trace *trace, bool is_paused);

#endif
