/* Databases, their connections and compiled statements. */
#ifndef PERILUNE_CONNECTIONS_INTERNAL_H
#define PERILUNE_CONNECTIONS_INTERNAL_H

#include <string.h>

#include <perilune_connections.h>
#include <perilune_long_functions.h>

#include "CPeriluneRows/Errors/errors.h"
#include "CPeriluneRows/State/state.h"
#include "CPeriluneRows/Values/values.h"

/* Registry keys. */
extern const char pdb_database_metatable_key, pdb_compiled_metatable_key, pdb_statement_metatable_key;

/* Create the metatables of databases, compiled statements and prepared statements. [-0, +0, m] */
void pdb_open_databases(lua_State *L);
void pdb_open_statements(lua_State *L);

enum { PDB_BOUND_COUNT = 3 }; /* the number of SQLite limits derived from the state's limits */

struct pdb_connection {
    pdb_connection *next;
    pdb_database *database;
    sqlite3 *handle;
    void *grdb; /* valid while an access is open */
    int accesses;
    pdb_statement *statements; /* all statements that have not been released */
    pdb_statement *active;     /* open cursors that were opened outside of blocks */
    bool has_abandoned;             /* some cursors were collected while their statements were running */
    uint64_t write_count;           /* the number of runs that may have written */
    int young, old;                 /* references to the two generations of the statement cache */
    int young_count;
    size_t cache_base, cache_growth; /* memory of SQLite's page cache at the run's first access, and its growth since */
    uint64_t cache_count;
    int former_limits[PDB_BOUND_COUNT]; /* SQLite's limits while no access is open */
    bool has_watched_files; /* SQLite's writes to files are counted */
    bool has_bounded_functions; /* long SQL functions can be interrupted */
    struct pdb_connection_observers *observers; /* owned; NULL without observers */
    unsigned hub_generation;
    int savepoints; /* the number of open blocks with a savepoint */
    bool is_prepared; /* the script's preparation function has been called */
    int definition_count; /* how many of the database's definitions exist on this connection */
    pdb_release_list released;
};

struct pdb_database {
    pdb_state *rows;
    uint64_t id;               /* unique in the state, even among closed databases */
    int64_t schema_generation; /* unique; changes when the schema may have changed */
    const char *path; /* the file, stored in the same userdata; empty in memory */
    void *owner; /* NULL once collected; finalizers of scripts may still use this struct then */
    unsigned flags;
    bool wants_writer; /* temporary tables exist, which only the writing connection sees */
    bool has_collations; /* scripts have added collations, which may raise errors */
    bool has_preparation; /* a script prepares each connection */
    unsigned interruption_count; /* the number of interruptions by scripts */
    int definitions, definition_count; /* registry reference of the list of functions and collations, or 0; length of the list */
    pdb_connection *connections;
    pdb_release_list *leftover;
    pdb_remote remote; /* the remote database that this one represents; `context` is NULL if the database is local */
};

/* User values of a database object. */
enum { PDB_DATABASE_PREPARATION = 2, PDB_DATABASE_VALUES = PDB_DATABASE_PREPARATION };

/* A userdata by which scripts use a database. It is either the database object, which has token 0 and also contains the pdb_database, or a
** handle, whose user value 1 is the database object. The finalizer passes `owner` to Swift, so it is the first field. */
typedef struct {
    void *owner; /* Swift's object; NULL for handles */
    pdb_database *database;
    uint64_t token;
} pdb_handle;

/* Returns the database object or handle at `index`; raises if it is anything else. `verb` is for the message. [-0, +0, e] */
pdb_handle *pdb_check_handle(lua_State *L, pdb_state *rows, int index, const char *verb);

/* Returns whether a database represents a remote one, in a cluster. */
static inline bool pdb_is_remote(const pdb_database *database) { return database->remote.context != NULL; }

/* Raises an error with this message if the database is in a cluster. [-0, +0, v] */
void pdb_refuse_in_cluster(lua_State *L, const pdb_database *database, const char *message);

/* Raises if the state is running code that may not use databases; see pdb_place. [-0, +0, v] */
void pdb_check_place(lua_State *L, const pdb_state *rows);

/* Returns the open access to a database, or NULL. Token 0 selects the innermost access. Any other token selects the access of the handle
** with this token. Raises if the handle is dead. [-0, +0, e] */
pdb_access *pdb_find_access(lua_State *L, pdb_state *rows, pdb_database *database, uint64_t token);

/* Returns the innermost open access to a database, or to any database if `database` is NULL. Returns NULL if none exists. */
pdb_access *pdb_access_to(pdb_state *rows, pdb_database *database);

int pdb_release_add(pdb_release_list *list, void *object);

/* Returns the number of rows changed by the last statement. */
static inline sqlite3_int64 pdb_change_count(const pdb_connection *connection) {
    const pdb_database *database = connection->database;
    return pdb_is_remote(database) ? *database->remote.change_count : sqlite3_changes64(connection->handle);
}

/* Records that the schema of a database may have changed. */
static inline void pdb_touch_schema(pdb_database *database) {
    database->schema_generation = ++database->rows->last_generation;
}

/* Returns the connection with this SQLite handle. Adds a new one to the database if necessary. */
pdb_connection *pdb_connection_for(pdb_database *database, sqlite3 *handle);

/* MARK: - Hooks */

/*
** Hooks by which higher layers follow events on connections. Each layer registers once per state and sets unused hooks to NULL. A hook
** raises nothing unless its comment allows it.
*/
typedef struct pdb_connection_hooks {
    /* An outermost access begins to use the connection. `grdb` is set. */
    void (*will_begin)(lua_State *L, pdb_connection *connection);
    /* A block begins a savepoint. The result is passed to did_end_savepoint. */
    size_t (*will_begin_savepoint)(pdb_connection *connection);
    void (*did_end_savepoint)(pdb_connection *connection, size_t mark, bool is_kept);
    /* A statement that controls transactions or savepoints has run. The hook may keep a pending error. */
    void (*did_control)(pdb_connection *connection, const char *sql);
    /* A statement run by GRDB has succeeded. */
    void (*did_end_statement)(pdb_connection *connection);
    /* A statement run by GRDB has failed. Called before did_fail. */
    void (*did_fail_statement)(pdb_connection *connection);
    /* A transaction may have ended successfully, and no SQLite or Swift code is on the stack. May raise. */
    void (*did_end)(lua_State *L, pdb_connection *connection);
    /* A transaction may have ended because of an error. The error is on top of the stack or pending, and must stay there. */
    void (*did_fail)(lua_State *L, pdb_connection *connection);
    /* The database is about to be closed, or a connection to be dropped. */
    void (*will_detach)(lua_State *L, const pdb_database *database);
    void (*will_drop)(pdb_connection *connection);
} pdb_connection_hooks;

/* Registers hooks, which must live as long as the state. At most pdb_most_hooks can be registered. */
void pdb_add_connection_hooks(pdb_state *rows, const pdb_connection_hooks *hooks);

/* Call the hook of the same name in all registrations. The stack is unchanged. pdb_did_end and pdb_will_begin may raise. [-0, +0, e] */
void pdb_will_begin(lua_State *L, pdb_connection *connection);
void pdb_will_begin_savepoint(pdb_connection *connection, size_t marks[pdb_most_hooks]);
void pdb_did_end_savepoint(pdb_connection *connection, const size_t marks[pdb_most_hooks], bool is_kept);
void pdb_did_control(pdb_connection *connection, const char *sql);
void pdb_did_end_statement(pdb_connection *connection);
void pdb_did_fail_statement(pdb_connection *connection);
void pdb_did_end(lua_State *L, pdb_connection *connection);
void pdb_did_fail(lua_State *L, pdb_connection *connection);
void pdb_will_detach(lua_State *L, const pdb_database *database);
void pdb_will_drop(pdb_state *rows, pdb_connection *connection);

/* MARK: - Memory */

/* Cancels the run if the in-memory databases and page caches of its state have grown by more than the memory limit. Needed only if SQLite's
** allocations are not counted. Raises nothing. */
void pdb_watch_memory(pdb_connection *connection);

/* Begin and end SQLite's limits for an access to a connection. */
void pdb_begin_bounds(pdb_connection *connection);
void pdb_end_bounds(pdb_connection *connection);

/* Call Swift's functions for recording changes, if set. */
void pdb_check_recordings(sqlite3 *handle);
void pdb_begin_recorded_access(sqlite3 *handle);
bool pdb_is_recorded(sqlite3 *handle);
void pdb_record_change(sqlite3 *handle, int kind, const char *schema, const char *table);

/* Returns whether recordings or observers read changed rows. */
bool pdb_is_hooked(sqlite3 *handle);

/* Sets the function that returns whether row observers follow a connection. */
void pdb_follow_observers(bool (*is_observed)(sqlite3 *handle));

/* MARK: - Statements */

struct pdb_statement {
    pdb_connection *connection; /* NULL after the statement was released */
    sqlite3_stmt *handle;
    void *object;
    const char *sql; /* the text, owned by the object or by SQLite */
    pdb_statement *next, **link;               /* in connection->statements */
    pdb_statement *active_next, **active_link; /* in access->active or connection->active */
    uint32_t run_id;                                /* changes with every run, so that cursors of earlier runs are recognized */
    int column_count, parameter_count;
    int prepare_count; /* SQLite's count of recompilations when the columns were read */
    bool is_readonly, is_direct, in_use, is_cached, is_abandoned, has_columns, has_shape, has_tail;
    bool is_carrier; /* represents a statement that runs in a cluster; SQLite does not have the text of that statement */
    pdb_screening screening;
    bool has_marked_rowid; /* see pdb_mark_rowid */
    sqlite3_int64 former_rowid;
    uint8_t *booleans; /* one per column, or NULL if no column is declared BOOLEAN */
};

/* User values of a compiled statement. */
enum {
    PDB_KEYS = 1,       /* the list of keys, with the metatable of rows at 0 */
    PDB_PARAMETERS = 2, /* the list of names (false for nameless parameters), and name -> true */
    PDB_SQL = 3,
    PDB_LAYOUT = 4, /* the layout used for the last records */
};

/* Pushes the compiled statement for the text at `sql_index`, from the cache if it is unused. Raises compile errors, and an error if the
** access does not allow the statement. [-0, +1, e] */
pdb_statement *pdb_compile(lua_State *L, pdb_access *access, int sql_index);

/* SQL text with several statements and the position of the next one. */
typedef struct {
    void *object; /* owned by Swift */
    const char *sql;
    size_t length, offset;
} pdb_batch;

/* Pushes an empty compiled statement. [-0, +1, m] */
pdb_statement *pdb_push_statement(lua_State *L, int sql_index);

/* Pushes and returns the next statement of a batch; at the end, pushes nothing and returns NULL. All statements use the same userdata, at
** `holder`. With a userdata for each statement, garbage would pile up, because the collector runs only a few finalizers at a time.
** [-0, +(0|1), e] */
pdb_statement *pdb_next_in_batch(lua_State *L, pdb_access *access, pdb_batch *batch, int sql_index, int holder);

/* A prepared statement of a script: SQL text, compiled on each connection that uses it. */
typedef struct {
    pdb_database *database;
    uint64_t token;
    bool is_closed;
} pdb_prepared_object;

enum { PDB_PREPARED_DATABASE = 1, PDB_PREPARED_SQL = 2, PDB_PREPARED_COMPILED = 3 };

/* Returns the prepared statement at `index` and raises for other values. [-0, +0, v] */
pdb_prepared_object *pdb_check_prepared(lua_State *L, pdb_state *rows, int index, const char *verb);

/* Pushes a prepared statement for the handle at 1, the SQL at 2, and the compiled statement at `statement_index`. [-0, +1, m] */
int pdb_push_prepared(lua_State *L, pdb_handle *handle, int statement_index);

/* Pushes the compiled statement of a prepared statement, for the connection of the access. [-0, +1, e] */
pdb_statement *pdb_compile_prepared(lua_State *L, pdb_access *access, int index);

/* Adds a statement to the list of its connection. */
void pdb_link_statement(pdb_connection *connection, pdb_statement *statement);

/* Pushes and returns the cached statement for a text; returns NULL and pushes nothing if none exists. [-0, +(0|1), m] */
pdb_statement *pdb_find_cached(lua_State *L, pdb_connection *connection, int sql_index);

/* Caches the compiled statement on top of the stack. [-0, +0, m] */
void pdb_keep_cached(lua_State *L, pdb_connection *connection, pdb_statement *statement, int sql_index);

/* Raises if the access does not allow the statement. [-0, +0, e] */
void pdb_check_allowed(lua_State *L, pdb_access *access, pdb_statement *statement);

/*
** If an upsert updates a row, or an INSERT writes to a WITHOUT ROWID table, SQLite does not set the last row id, so it still belongs to an
** earlier statement. To detect this, a marker is set as the last row id before such a run. pdb_end_run restores the previous id.
*/
void pdb_mark_rowid(pdb_statement *statement);

/* Returns whether the running statement has inserted a row with an id. */
bool pdb_has_inserted(pdb_statement *statement);

/* Adds a statement to a list of running statements. */
void pdb_begin_run(pdb_statement *statement, pdb_statement **list);

/* Resets a statement and removes it from its list. Releases it unless it is cached. */
void pdb_end_run(pdb_statement *statement);

/* Ends all runs of a list. */
void pdb_end_runs(pdb_statement **list);

/* Empties a statement and returns its Swift object, which must be released on the queue of its connection. */
void *pdb_empty_statement(pdb_statement *statement);

/* Releases a statement on the queue of its connection. */
void pdb_release_statement(pdb_statement *statement);

/* Reads the columns of a statement if they are not known or have changed. Must be called once the run has its first row. Raises nothing. */
void pdb_check_columns(pdb_statement *statement);

/* Releases collected statements and ends the runs of collected cursors. An access must be open. */
void pdb_tidy_connection(pdb_connection *connection);

/* Removes the connections of a database and adds the Swift objects of their statements to `leftover`. [-0, +0, -] */
void pdb_drop_connections(lua_State *L, pdb_database *database);

/* A Lua function: the finalizer of a compiled statement. [-1, +0, -] */
int pdb_collect_compiled(lua_State *L);

/* Returns whether a result column is declared BOOLEAN. */
static inline bool pdb_is_boolean(const pdb_statement *statement, int column) {
    return statement->booleans && statement->booleans[column];
}

/* Pushes a value of the current row. [-0, +1, m] */
static inline void pdb_push_value(lua_State *L, const pdb_statement *statement, int column) {
    sqlite3_value *value = sqlite3_column_value(statement->handle, column);
    pdb_push_column(L, value, sqlite3_value_type(value), pdb_is_boolean(statement, column));
}

/* Counts the run of a statement and reports it to the state's `note`, if set. */
static inline void pdb_note_run(pdb_state *rows, const pdb_statement *statement) {
    plua_usage *usage = &rows->context->usage;
    if (usage->is_on && strncmp(statement->sql, PSQL_OWN_SQL, sizeof PSQL_OWN_SQL - 1) != 0) usage->statements++;
    if (rows->note != NULL) rows->note(rows->note_context, statement->sql);
}

/* MARK: - Open blobs */

/*
** A blob that is open for reading and writing in pieces. It is shared by its access and a script's userdata, and freed once it is closed
** and the userdata has been collected. The collector does not close blobs, because it may run while SQLite is calling a script function.
*/
typedef struct pdb_open_blob {
    sqlite3_blob *handle; /* NULL once closed */
    pdb_access *access;   /* NULL once closed */
    struct pdb_open_blob *next, **link; /* in access->blobs */
    sqlite3_stmt *witness; /* for a writable blob: a statement that SQLite recompiles when the schema has changed */
    bool is_abandoned; /* the userdata has been collected */
} pdb_open_blob;

/* Creates an open blob that owns the handle. Returns NULL if memory runs out. */
pdb_open_blob *pdb_add_open_blob(pdb_access *access, sqlite3_blob *handle);

/* Allows writing to a blob in one of the connection's databases. Returns an SQLite result code. */
int pdb_permit_writing(pdb_open_blob *blob, const char *schema);

/* Checks whether a blob can still be written. Returns SQLITE_ABORT if its row has changed, and SQLITE_SCHEMA if the schema has changed. */
int pdb_check_writing(pdb_open_blob *blob);

/* Closes an open blob. Returns an SQLite result code. */
int pdb_close_open_blob(pdb_open_blob *blob);

/* Records that the userdata has been collected. */
void pdb_abandon_open_blob(pdb_open_blob *blob);

/* Closes the open blobs of an access: all of them, or those whose userdata was collected. */
void pdb_close_open_blobs(pdb_access *access, bool only_abandoned);

/* MARK: - Failures */

/*
** Both functions must be called after the run of the statement has ended; the statement may be NULL. They call the state's
** `explain_failure`, which may add details to the error on top of the stack. [-0, +0, -]
*/

/* Raises the error of the last failure on a connection, with the details of the statement. [-0, +0, v] */
int pdb_raise_sqlite(lua_State *L, pdb_connection *connection, pdb_statement *statement, int code);

/* Raises the error on top of the stack, which comes from Swift or SQLite, with the statement's text and position. [-1, +0, v] */
int pdb_raise_failure(lua_State *L, pdb_statement *statement);

#endif
