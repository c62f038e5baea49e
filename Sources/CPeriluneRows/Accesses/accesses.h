/* Who may use a connection now. */
#ifndef PERILUNE_ACCESSES_INTERNAL_H
#define PERILUNE_ACCESSES_INTERNAL_H

#include <perilune_accesses.h>

#include "CPeriluneRows/Connections/connections.h"

/* The methods of databases that open blocks. */
extern const luaL_Reg pdb_database_blocks[];

/* Runs the function below the arguments in an access of its own. Raises its errors; returns the number of results. The function
** finds the context by its access; it may be NULL. [-(argument_count + 1), +n, e] */
int pdb_enter(lua_State *L, pdb_state *rows, pdb_database *database, pdb_access_mode mode, int argument_count, void *context);

/* The same for a transaction or savepoint inside an open access. [-(argument_count + 1), +n, e] */
int pdb_enter_nested(lua_State *L, pdb_state *rows, pdb_access *access, pdb_access_mode mode, int argument_count, void *context);

/* What the body of a task returns if it cannot be done on a connection that only reads. It has changed nothing then, and left its
** arguments. */
enum { PDB_WANTS_WRITER = -1 };

/* What a verb has to do in an access, once it has resolved what it was given. Lives on the C stack of the verb. */
typedef struct {
    pdb_database *database;
    pdb_access *access; /* the open one, or NULL: then one is opened for the task */
    bool is_read;       /* a pool may try it on a reader */
    bool is_guarded;    /* a failure undoes it: it gets a transaction or savepoint of its own */
    int (*body)(lua_State *L, pdb_access *access, void *context); /* returns the number of its results; may raise */
    void *context;
    bool wants_writer; /* out, for pdb_run_task */
} pdb_task;

/* Runs a task, whose body sees the stack of the caller with the same indices. Raises its errors; returns the number of results, which
** are on top of the stack. [-?, +results, v] */
int pdb_run_task(lua_State *L, pdb_task *task);

/* The same for a block that reads inside an open access. [-(argument_count + 1), +n, e] */
int pdb_enter_reading(lua_State *L, pdb_state *rows, pdb_access *access, int argument_count);

/* Begins to use a connection, which GRDB's object stands for until its `grdb` is reset. [-0, +0, m] */
pdb_connection *pdb_begin_connection(lua_State *L, pdb_database *database, sqlite3 *handle, void *grdb);

/* Runs an access request on its connection in an access of its own, outside of transactions. Returns the Lua status. */
int pdb_run_deferring_access(pdb_access_request *request);

/* MARK: - Guards */

/* Whether a change needs a guard, because a collation of a script may fail in it. Takes the guard that is open, if it has been
** opened for this call. [-0, +0, -] */
bool pdb_needs_guard(lua_State *L, pdb_database *database);

/* MARK: - The default database */

/* The database that a verb is for: that of the handle at `index`, unless it is 0 or nil is there; else that of the innermost
** access; else the default one. Sets the access that is open to it, or NULL. [-0, +0, e] */
pdb_database *pdb_resolve_database(lua_State *L, int index, const char *verb, pdb_access **access);

/* The same where none is named; or NULL. Never fails. */
pdb_database *pdb_implied_database(const pdb_state *rows);

/* A Lua function: () -> a handle of the innermost access, or the default database; raises if there is none. [-n, +1, v] */
int pdb_default_database(lua_State *L);

/* A Lua function: (database, library, f, ...) calls f(database, ...); meanwhile the database is the default one. [-n, +n, e] */
int pdb_with_default_database(lua_State *L);

#endif
