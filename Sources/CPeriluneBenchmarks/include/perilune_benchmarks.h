/*
** The baseline that benchmarks compare Perilune with: the same work written by hand in C.
**
** A plain Lua state with the stock allocator and one module, `reference`, over SQLite's C interface. It contains the code that a careful
** programmer would write for these tables: no limits, no schema checks, and only the handle checks that C itself needs.
** scripts/benchmarks/reference.lua uses it.
*/
#ifndef PERILUNE_BENCHMARKS_H
#define PERILUNE_BENCHMARKS_H

/* Runs the Lua file arguments[0] with the arguments after it. Writes errors to standard error and returns an exit code. */
int perilune_run_reference(int argument_count, const char *const *arguments);

/* Returns the seconds on the monotonic clock. */
double perilune_monotonic_seconds(void);

/* The time that a process used, in seconds. */
typedef struct {
    double wall;
    double processor;
} perilune_process_time;

/* Runs a program, found by PATH, until it exits; the list of arguments ends with NULL. Returns the time from spawn to exit; both fields are
** -1 if the program cannot be started or fails. */
perilune_process_time perilune_time_process(char *const *arguments);

/* Starts threads that each read `count` rows one by one, with a statement of one parameter on a separate connection. Returns the seconds
** from the first start to the last end, or -1 if a statement failed. */
double perilune_time_readers(const char *path, const char *sql, int threads, int count);

/* Runs a statement with two parameters, the text "code NUMBER" and the number, for each number up to `count` in one transaction. Returns
** the time in seconds, or -1 on failure. */
double perilune_time_upserts(const char *path, const char *sql, int count);

#endif
