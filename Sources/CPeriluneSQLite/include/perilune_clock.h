/*
** The present and the random numbers that SQLite sees, for databases that must not get the machine's: those of tests.
**
** SQLite asks its VFS for the present: a database that is opened with a VFS of its own has a clock of its own, and all of SQLite's
** date functions, CURRENT_TIMESTAMP and the rest, follow it exactly, with all their rules on where 'now' is allowed. random() and
** randomblob(), which come from one generator for the whole process, are replaced on each connection.
*/
#ifndef PERILUNE_CLOCK_H
#define PERILUNE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

/* How the names of these VFSs begin. */
#define PSQL_ENVIRONMENT_PREFIX "perilune-environment-"

/* What a database sees. The functions are called on any thread. */
typedef struct {
    void *object;
    int64_t (*now)(void *object); /* milliseconds since the epoch of Julian days */
    uint64_t (*random)(void *object);
    void (*release)(void *object); /* called when the last connection is closed; may be NULL */
} psql_environment;

/* Makes the environment of a database. Returns the name of its VFS, which stays valid, or NULL without memory; owned by the caller
** until psql_release_environment, and by each connection on which it is installed. */
const char *psql_make_environment(const psql_environment *environment);

/* Ends the caller's ownership. */
void psql_release_environment(const char *name);

/* Replaces the random functions of a connection that was opened with the VFS. Returns SQLite's code. */
int psql_install_environment(sqlite3 *handle, const char *name);

/* Has databases with an environment of their own see this one instead while the calling thread uses them; NULL ends it. It must
** stay valid until then. */
void psql_use_environment(const psql_environment *environment);

#endif
