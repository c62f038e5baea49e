/*
** The clock and random numbers that SQLite uses, for databases that must not use the system's, such as test databases.
**
** SQLite reads the time from its VFS, so a database opened with its own VFS has its own clock. All date functions,
** CURRENT_TIMESTAMP and the rest follow it exactly, with all rules on where 'now' is allowed. random() and randomblob() use one
** generator per process, so they are replaced on each connection.
*/
#ifndef PERILUNE_CLOCK_H
#define PERILUNE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

/* The prefix of the names of these VFSs. */
#define PSQL_ENVIRONMENT_PREFIX "perilune-environment-"

/* The environment of a database. The functions are called on any thread. */
typedef struct {
    void *object;
    int64_t (*now)(void *object); /* milliseconds since the epoch of Julian days */
    uint64_t (*random)(void *object);
    void (*release)(void *object); /* called after the last connection has closed; may be NULL */
} psql_environment;

/* Makes the environment of a database. Returns the name of its VFS, which stays valid, or NULL without memory. The caller owns
** it until psql_release_environment, and so does each connection on which it is installed. */
const char *psql_make_environment(const psql_environment *environment);

/* Ends the caller's ownership. */
void psql_release_environment(const char *name);

/* Replaces the random functions of a connection opened with the VFS. Returns an SQLite result code. */
int psql_install_environment(sqlite3 *handle, const char *name);

/* Makes databases with an environment use this one instead while they are called on the current thread. NULL ends it. The environment must
** stay valid until then. */
void psql_use_environment(const psql_environment *environment);

#endif
