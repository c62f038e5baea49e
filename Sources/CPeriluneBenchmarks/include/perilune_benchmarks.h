/*
** The baseline that benchmarks compare Perilune with: the same work written by hand in C.
**
** A plain Lua state with the stock allocator and one module, `reference`, over SQLite's C interface. It contains the code that a careful
** programmer would write for these tables: no limits, no schema checks, no protection of handles beyond C's own needs.
** scripts/benchmarks/reference.lua uses it.
*/
#ifndef PERILUNE_BENCHMARKS_H
#define PERILUNE_BENCHMARKS_H

/* Runs the Lua file arguments[0] with the arguments after it. Errors go to standard error. Returns an exit code. */
int perilune_run_reference(int argument_count, const char *const *arguments);

/* Seconds on a clock that never goes back. */
double perilune_monotonic_seconds(void);

/* In seconds. */
typedef struct {
    double wall;
    double processor;
} perilune_process_time;

/* Runs a program, found by PATH, until it exits; the list of arguments ends with NULL. Returns the time from spawn to exit; both
** results are -1 if the program cannot be started or fails. */
perilune_process_time perilune_time_process(char *const *arguments);

/* Makes threads read one row after the other by a statement with one parameter, each on its own connection. Returns the time from the first
** begin to the last end; -1 if a statement failed. */
double perilune_time_readers(const char *path, const char *sql, int threads, int count);

/* Runs a statement with two parameters in one transaction, once for each number up to `count`: the parameters are the text "code NUMBER"
** and the number. Returns the time in seconds; -1 if it failed. */
double perilune_time_upserts(const char *path, const char *sql, int count);

#endif
