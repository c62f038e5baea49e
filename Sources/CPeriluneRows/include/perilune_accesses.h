/*
** Accesses: permissions to use a connection.
*/
#ifndef PERILUNE_ACCESSES_H
#define PERILUNE_ACCESSES_H

#include <perilune_connections.h>

typedef enum {
    PDB_COMMIT,
    PDB_ROLLBACK,
} pdb_completion;

/* A request to Swift to open an access, call pdb_run_access in it, and end it according to `completion`. */
struct pdb_access_request {
    lua_State *L;
    pdb_database *database;
    pdb_access_mode mode;
    int argument_count; /* the number of arguments above the function to run, on the stack */
    int status;         /* out: the Lua status of the body; unless LUA_OK, its error is on top of the stack */
    pdb_completion completion; /* out */
    pdb_connection *connection; /* in: for an access inside an open one, the connection to use */
    bool is_readonly;                /* the value of `is_readonly` of the outer access */
    pdb_access_mode block_mode;      /* the mode of a block that pdb_enclose_block has enclosed */
    bool has_written;                /* out: whether the body has changed rows */
    void *context;                   /* in: data for the function to run, or NULL */
};

/* Runs the body of an access request on a connection. Swift calls it inside the access that it has opened. `grdb` is GRDB's object for the
** connection during the access. Raises nothing. Returns the Lua status, which is also stored in the request. */
int pdb_run_access(pdb_access_request *request, sqlite3 *handle, void *grdb);

/* Sets a function that is called once with a handle of each connection, before a script first uses the connection. The database object and
** the function are on top of the stack. [-2, +0, m] */
void pdb_set_preparation(lua_State *L);

/* Returns whether the preparation function has been called for a connection, or none is set. */
bool pdb_is_prepared(pdb_database *database, sqlite3 *handle);

/* Calls the preparation function for an access that is being opened, outside of transactions. Returns the Lua status; on failure the error
** is on top of the stack. */
int pdb_prepare_connection(pdb_access_request *request, sqlite3 *handle, void *grdb);

/* Changes the request of a block into a request for an access without a transaction. In this access, the block runs in a savepoint of the
** open transaction. Needs one free stack slot. [-0, +1, -] */
void pdb_enclose_block(pdb_access_request *request);

/* Runs the body of an access request for a transaction or savepoint inside an open access. */
int pdb_run_nested_access(pdb_access_request *request);

/* Pushes the function to run for an access request of mode PDB_MIGRATION. Its arguments are the database object, a function, and that
** function's arguments after the handle. [-0, +1, m] */
void pdb_push_block(lua_State *L);

/* Begins a PDB_READ transaction without GRDB, so that observers are not notified. Returns an SQLite result code. */
int pdb_begin_read(sqlite3 *handle);
int pdb_end_read(sqlite3 *handle);

/* Resets all running statements of a connection. After an interruption, SQLite refuses all further work while one of them is running, even
** the end of a transaction. A reset cursor raises when it is used again. */
void pdb_reset_running_statements(sqlite3 *handle);

/* Clears an interruption of the connection. Must be called before work that must not be refused. */
void pdb_end_interruption(sqlite3 *handle);

/* Clears an interruption before an access begins, if cursors of the state are open. The interruption was meant for earlier work. */
void pdb_end_interruption_of_cursors(pdb_database *database, sqlite3 *handle);

/* Pushes the handle of an open access. [-0, +1, m] */
void pdb_push_handle(lua_State *L, pdb_access *access);

/* Calls the C function below `argument_count` arguments in the open access, or in a new one. For C code only, because it raises errors.
** Leaves the results on the stack and returns their number. [-(argument_count + 1), +n, e] */
int pdb_with_access(lua_State *L, int handle_index, pdb_access_mode mode, int argument_count);

/* Pops the database object and makes it the default database. [-1, +0, m] */
void pdb_set_default_database(lua_State *L);

/* A Lua function: (database, f, ...) calls f(handle, ...) in a transaction or, inside one, in a savepoint. An error rolls it back.
** [-n, +n, e] */
int pdb_call_guarded(lua_State *L);

/* A Lua function: (database, f, ...) calls f(handle, is_enforced, ...) in a transaction or savepoint that does not enforce foreign keys;
** `is_enforced` is the previous setting. The function must check the foreign keys that it may have violated. [-n, +n, e] */
int pdb_call_unenforced(lua_State *L);

/* A Lua function: sets the function that implements `write` with options. [-1, +0, v] */
int pdb_set_write_options(lua_State *L);

/* Called when an observer is added inside an access: from then on, changes run through GRDB. [-0, +0, -] */
void pdb_observe(lua_State *L);

#endif
