/*
** A clock and random numbers for databases that must not use the system's, such as test databases.
**
** SQLite reads the time from its VFS, so a database opened with its own VFS has its own clock. CURRENT_TIMESTAMP and all date functions use
** this clock, and SQLite's rules on where 'now' is allowed still apply. random() and randomblob() use one generator per process, so they
** are replaced on each connection.
*/
#ifndef PERILUNE_CLOCK_H
#define PERILUNE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

/* The prefix of the VFS names. */
#define PSQL_ENVIRONMENT_PREFIX "perilune-environment-"

/* The clock and random numbers of a database. The functions are called on any thread. */
typedef struct {
    void *object;
    int64_t (*now)(void *object); /* milliseconds since the epoch of Julian days */
    uint64_t (*random)(void *object);
    void (*release)(void *object); /* called after the last connection has closed; may be NULL */
} psql_environment;

/* Creates the environment of a database. Returns the name of its VFS, which stays valid, or NULL if memory runs out. The environment is
** owned by the caller until psql_release_environment, and by each connection on which it is installed. */
const char *psql_make_environment(const psql_environment *environment);

/* Releases the caller's ownership of an environment. */
void psql_release_environment(const char *name);

/* Replaces the random functions of a connection opened with the VFS. Returns an SQLite result code. */
int psql_install_environment(sqlite3 *handle, const char *name);

/* Overrides the environment of all databases that have one, for calls on the current thread, until it is called with NULL. The new
** environment must stay valid until then. */
void psql_use_environment(const psql_environment *environment);

#endif
