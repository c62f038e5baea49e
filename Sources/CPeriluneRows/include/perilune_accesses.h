/*
** Accesses: permissions to use a connection, and how they end.
*/
#ifndef PERILUNE_ACCESSES_H
#define PERILUNE_ACCESSES_H

#include <perilune_connections.h>

typedef enum {
    PDB_COMMIT,
    PDB_ROLLBACK,
} pdb_completion;

/* A request to Swift: open the access, call pdb_run_access in it, and end it according to `completion`. */
struct pdb_access_request {
    lua_State *L;
    pdb_database *database;
    pdb_access_mode mode;
    int argument_count; /* above the function to be run, which is on the stack */
    int status;         /* out: the Lua status of the body; if it is not LUA_OK, its error is on top of the stack */
    pdb_completion completion; /* out */
    pdb_connection *connection; /* in: for accesses inside an open one, which must stay */
    bool is_readonly;                /* as that one is */
    pdb_access_mode block_mode;      /* of a block that pdb_enclose_block has enclosed */
    bool has_written;                /* out: whether the body has changed rows */
    void *context;                   /* in: what the function to be run finds by the access, or NULL */
};

/* Runs the body of an access request on a connection. Called by Swift inside the access that it has opened. Raises nothing.
** `grdb` is GRDB's connection object, kept for the time of the access. Returns the Lua status, also found in the request. */
int pdb_run_access(pdb_access_request *request, sqlite3 *handle, void *grdb);

/* Sets a function that is called with a handle of each connection of a database before a script first uses it. The database object and
** the function are on top of the stack. [-2, +0, m] */
void pdb_set_preparation(lua_State *L);

/* Returns whether the function was called for a connection, or need not be called. */
bool pdb_is_prepared(pdb_database *database, sqlite3 *handle);

/* Calls the function of pdb_set_preparation for an access that is being opened, outside of transactions. Returns the Lua status; the error
** is on top of the stack. */
int pdb_prepare_connection(pdb_access_request *request, sqlite3 *handle, void *grdb);

/* Turns a block request into a request for an access without a transaction. The block is nested in that access and runs in a savepoint
** of the transaction open on the connection. Needs one free slot. [-0, +1, -] */
void pdb_enclose_block(pdb_access_request *request);

/* Runs the body of an access request for a transaction or savepoint inside an open access. */
int pdb_run_nested_access(pdb_access_request *request);

/* Pushes the function that an access request of mode PDB_MIGRATION runs. Its arguments are the database object, a function, and that
** function's arguments after the handle. [-0, +1, m] */
void pdb_push_block(lua_State *L);

/* Begins a transaction of PDB_READ without GRDB, so that observers are not notified. Returns SQLite's code. */
int pdb_begin_read(sqlite3 *handle);
int pdb_end_read(sqlite3 *handle);

/* Resets all running statements of a connection. While one runs, SQLite remembers that it was interrupted and refuses everything else,
** including the end of a transaction. A cursor raises when it is used again. */
void pdb_reset_running_statements(sqlite3 *handle);

/* Clears an interruption of the connection. Call it before work that must not be refused. */
void pdb_end_interruption(sqlite3 *handle);

/* Clears an interruption before an access begins, if cursors of the state are open: the interrupted work is over. */
void pdb_end_interruption_of_cursors(pdb_database *database, sqlite3 *handle);

/* Pushes the handle of an open access. [-0, +1, m] */
void pdb_push_handle(lua_State *L, pdb_access *access);

/* Calls the C function below `argument_count` arguments in the open access, or in a new one. C only; raises its errors. Leaves its results
** and returns their number. [-(argument_count + 1), +n, e] */
int pdb_with_access(lua_State *L, int handle_index, pdb_access_mode mode, int argument_count);

/* Pops the database object and makes it the default database. [-1, +0, m] */
void pdb_set_default_database(lua_State *L);

/* A Lua function: (database, f, ...) calls f(handle, ...) in a transaction, or in a savepoint inside one, which an error undoes.
** [-n, +n, e] */
int pdb_call_guarded(lua_State *L);

/* A Lua function: (database, f, ...) calls f(handle, is_enforced, ...) in a transaction or savepoint without enforcing foreign keys;
** `is_enforced` is the previous setting. The function must check the keys that it may have broken. [-n, +n, e] */
int pdb_call_unenforced(lua_State *L);

/* A Lua function: sets the function that `write` calls with its arguments when it is given options. [-1, +0, v] */
int pdb_set_write_options(lua_State *L);

/* Called when an observer is added inside an access: its changes go through GRDB again. [-0, +0, -] */
void pdb_observe(lua_State *L);

#endif
