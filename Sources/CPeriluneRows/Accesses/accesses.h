/* Access to connections: opening, nesting and resolving the database of a call. */
#ifndef PERILUNE_ACCESSES_INTERNAL_H
#define PERILUNE_ACCESSES_INTERNAL_H

#include <perilune_accesses.h>

#include "CPeriluneRows/Connections/connections.h"

/* The methods of databases that open blocks. */
extern const luaL_Reg pdb_database_blocks[];

/* Runs the function below the arguments in a new access. Raises its errors and returns the number of results. `context` becomes the context
** of the access request; it may be NULL. [-(argument_count + 1), +n, e] */
int pdb_enter(lua_State *L, pdb_state *rows, pdb_database *database, pdb_access_mode mode, int argument_count, void *context);

/* Runs the function in a transaction or savepoint inside an open access. [-(argument_count + 1), +n, e] */
int pdb_enter_nested(lua_State *L, pdb_state *rows, pdb_access *access, pdb_access_mode mode, int argument_count, void *context);

/* The result of a task's body that needs a writing connection. In this case the body has changed nothing, and its arguments are still on
** the stack. */
enum { PDB_WANTS_WRITER = -1 };

/* The work of a verb inside an access. Its arguments have been resolved. Lives on the C stack of the verb. */
typedef struct {
    pdb_database *database;
    pdb_access *access; /* the open access, or NULL to open one for the task */
    bool is_read;       /* a pool may run it on a reader first */
    bool is_guarded;    /* runs in its own transaction or savepoint, so that a failure undoes it */
    int (*body)(lua_State *L, pdb_access *access, void *context); /* returns the number of results; may raise */
    void *context;
    bool wants_writer; /* out: the body returned PDB_WANTS_WRITER */
} pdb_task;

/* Runs a task. Its body has the caller's stack, with the same indices. Raises its errors and returns the number of results, which are on
** top of the stack. [-?, +results, v] */
int pdb_run_task(lua_State *L, pdb_task *task);

/* Runs a reading block inside an open access. The block uses the open transaction; in autocommit, it begins one.
** [-(argument_count + 1), +n, e] */
int pdb_enter_reading(lua_State *L, pdb_state *rows, pdb_access *access, int argument_count, void *context);

/* Begins to use a connection and sets its GRDB object to `grdb`. The caller must clear this object afterwards. [-0, +0, m] */
pdb_connection *pdb_begin_connection(lua_State *L, pdb_database *database, sqlite3 *handle, void *grdb);

/* Runs an access request in a new access outside of transactions. Returns a Lua status. */
int pdb_run_deferring_access(pdb_access_request *request);

/* MARK: - Guards */

/* Returns whether a change needs a guard, because a script's collation may fail in it. Returns false and marks the open guard as used if
** that guard was opened for this call. [-0, +0, -] */
bool pdb_needs_guard(lua_State *L, pdb_database *database);

/* MARK: - The default database */

/* Returns the database of the handle at `index`. If `index` is 0 or the value there is nil, returns the database of the innermost access,
** or else the default database. Sets `access` to the open access to this database, or to NULL. [-0, +0, e] */
pdb_database *pdb_resolve_database(lua_State *L, int index, const char *verb, pdb_access **access);

/* Returns the database of a verb that is called without one, or NULL. Never fails. */
pdb_database *pdb_implied_database(const pdb_state *rows);

/* A Lua function: () -> a handle of the innermost access, or the default database. Raises if neither exists. [-n, +1, v] */
int pdb_default_database(lua_State *L);

/* A Lua function: (database, library, f, ...) calls f(database, ...) with the database as the default one. [-n, +n, e] */
int pdb_with_default_database(lua_State *L);

#endif
