/* Databases, their connections, and the statements that are compiled on them. */
#ifndef PERILUNE_CONNECTIONS_INTERNAL_H
#define PERILUNE_CONNECTIONS_INTERNAL_H

#include <perilune_connections.h>

#include "CPeriluneRows/Errors/errors.h"
#include "CPeriluneRows/State/state.h"
#include "CPeriluneRows/Values/values.h"

/* Keys of the registry. */
extern const char pdb_database_metatable_key, pdb_compiled_metatable_key, pdb_statement_metatable_key;

/* Make the metatables of databases, and of compiled and prepared statements, with the methods that belong here. [-0, +0, m] */
void pdb_open_databases(lua_State *L);
void pdb_open_statements(lua_State *L);

enum { PDB_BOUND_COUNT = 3 }; /* SQLite's limits that follow those of the state */

struct pdb_connection {
    pdb_connection *next;
    pdb_database *database;
    sqlite3 *handle;
    void *grdb; /* while an access is open on it */
    int accesses;
    pdb_statement *statements; /* all that are not released */
    pdb_statement *active;     /* cursors opened outside of blocks */
    bool has_abandoned;             /* some cursors were collected before their end */
    int young, old;                 /* references to the two generations of the cache */
    int young_count;
    size_t cache_base, cache_growth; /* SQLite's pages: when the run first came here, and since then */
    uint64_t cache_count;
    int former_limits[PDB_BOUND_COUNT]; /* SQLite's outside of accesses */
    bool has_watched_files; /* what is written to them counts */
    bool has_bounded_functions; /* those that take long can be ended */
    struct pdb_connection_observers *observers; /* owned; NULL without observers */
    unsigned hub_generation;
    int savepoints; /* blocks that are open on it, each with a savepoint */
    bool is_prepared; /* by the script, if it prepares connections */
    int definition_count; /* the number of the database's functions and collations defined on it */
    pdb_release_list released;
};

struct pdb_database {
    pdb_state *rows;
    uint64_t id;               /* unlike that of any other of the state, also of one that is gone */
    int64_t schema_generation; /* unlike that of any other database; another one when the schema may have changed */
    const char *path; /* of the file, in the same userdata; empty if it is in memory */
    void *owner; /* NULL once it is collected: finalizers of scripts may still come here */
    unsigned flags;
    bool wants_writer; /* there are temporary tables, which readers do not see */
    bool has_collations; /* of scripts, which may fail */
    bool has_preparation; /* a script prepares each connection */
    int definitions, definition_count; /* reference to the list of functions and collations; 0 for none */
    pdb_connection *connections;
    pdb_release_list *leftover;
    pdb_remote remote; /* for which it stands; without a context if it stands for itself */
};

/* User values of a database object. */
enum { PDB_DATABASE_PREPARATION = 2, PDB_DATABASE_VALUES = PDB_DATABASE_PREPARATION };

/* The userdata of a database object (token 0), which the database itself follows, and of a handle, whose user value 1 is the
** database object. The first word is what the collector hands to Swift. */
typedef struct {
    void *owner; /* Swift's object; NULL for handles */
    pdb_database *database;
    uint64_t token;
} pdb_handle;

/* The database object or handle at `index`; raises for other values. `verb` is for the message. [-0, +0, e] */
pdb_handle *pdb_check_handle(lua_State *L, pdb_state *rows, int index, const char *verb);

/* Whether a database stands for one in a cluster, where statements run. */
static inline bool pdb_is_remote(const pdb_database *database) { return database->remote.context != NULL; }

/* Raises, with a message, for a database that stands for one in a cluster. [-0, +0, v] */
void pdb_refuse_in_cluster(lua_State *L, const pdb_database *database, const char *message);

/* Raises where no database may be used. [-0, +0, v] */
void pdb_check_place(lua_State *L, const pdb_state *rows);

/* The open access that belongs to a database (for token 0, the innermost one) or to a handle. NULL if there is none; raises
** if the handle is dead. [-0, +0, e] */
pdb_access *pdb_find_access(lua_State *L, pdb_state *rows, pdb_database *database, uint64_t token);

/* The innermost open access to a database, or NULL; with NULL for the database, to any. */
pdb_access *pdb_access_to(pdb_state *rows, pdb_database *database);

int pdb_release_add(pdb_release_list *list, void *object);

/* The number of rows that the last statement has changed. */
static inline sqlite3_int64 pdb_change_count(const pdb_connection *connection) {
    const pdb_database *database = connection->database;
    return pdb_is_remote(database) ? *database->remote.change_count : sqlite3_changes64(connection->handle);
}

/* To be called when the schema of a database may have changed. */
static inline void pdb_touch_schema(pdb_database *database) {
    database->schema_generation = ++database->rows->last_generation;
}

/* The connection of a database that has this handle, made if it is new. */
pdb_connection *pdb_connection_for(pdb_database *database, sqlite3 *handle);

/* MARK: - Hooks */

/*
** What rooms above do when something happens on a connection. Each registers its own, once for a state; a function that it has no
** need of is NULL. Unless it says otherwise, a function raises nothing.
*/
typedef struct pdb_connection_hooks {
    /* An access of its own begins on the connection, whose `grdb` is set. */
    void (*will_begin)(lua_State *L, pdb_connection *connection);
    /* A savepoint of a block begins. Returns what did_end_savepoint is given. */
    size_t (*will_begin_savepoint)(pdb_connection *connection);
    void (*did_end_savepoint)(pdb_connection *connection, size_t mark, bool is_kept);
    /* A statement that begins or ends transactions or savepoints has run. May keep a pending error. */
    void (*did_control)(pdb_connection *connection, const char *sql);
    /* A statement that went through GRDB has ended as it should. */
    void (*did_end_statement)(pdb_connection *connection);
    /* A statement that went through GRDB has failed; before did_fail. */
    void (*did_fail_statement)(pdb_connection *connection);
    /* What may have ended a transaction is over, as it should, and nothing of SQLite's or Swift's is on the stack. May raise. */
    void (*did_end)(lua_State *L, pdb_connection *connection);
    /* The same with an error on top of the stack, or pending, which stays. */
    void (*did_fail)(lua_State *L, pdb_connection *connection);
    /* The database is about to be closed, or a connection to be dropped. */
    void (*will_detach)(lua_State *L, const pdb_database *database);
    void (*will_drop)(pdb_connection *connection);
} pdb_connection_hooks;

/* Registers hooks, which must live as long as the state: at most pdb_most_hooks. */
void pdb_add_connection_hooks(pdb_state *rows, const pdb_connection_hooks *hooks);

/* Call the hooks of that name. Those with a state leave its stack as it is; pdb_did_end and pdb_will_begin may raise. [-0, +0, e] */
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

/* Where SQLite's memory is not counted, cancels the run if SQLite's pages have grown by more than the state's memory limit in it:
** databases in memory, and caches. Raises nothing. */
void pdb_watch_memory(pdb_connection *connection);

/* Begins and ends the bounds of an access to a connection. */
void pdb_begin_bounds(pdb_connection *connection);
void pdb_end_bounds(pdb_connection *connection);

/* Call what Swift has set for recordings of changes; nothing without it. */
void pdb_check_recordings(sqlite3 *handle);
void pdb_begin_recorded_access(sqlite3 *handle);
bool pdb_is_recorded(sqlite3 *handle);
void pdb_record_change(sqlite3 *handle, int kind, const char *schema, const char *table);

/* Whether recordings or observers read the rows that change. */
bool pdb_is_hooked(sqlite3 *handle);

/* Sets what says whether a connection has observers of its rows. */
void pdb_follow_observers(bool (*is_observed)(sqlite3 *handle));

/* MARK: - Statements */

struct pdb_statement {
    pdb_connection *connection; /* NULL once released */
    sqlite3_stmt *handle;
    void *object;
    const char *sql; /* as it was written; the object keeps it, or SQLite */
    pdb_statement *next, **link;               /* in connection->statements */
    pdb_statement *active_next, **active_link; /* in access->active or connection->active */
    uint32_t run_id;                                /* changes with each run, so that old cursors know */
    int column_count, parameter_count;
    int prepare_count; /* SQLite's count of re-preparations when the columns were read */
    bool is_readonly, is_direct, in_use, is_cached, is_abandoned, has_columns, has_shape, has_tail;
    bool is_carrier; /* it stands for a statement elsewhere, whose text SQLite does not know */
    pdb_screening screening;
    bool has_marked_rowid; /* see pdb_mark_rowid */
    sqlite3_int64 former_rowid;
    uint8_t *booleans; /* by column, or NULL if no column is declared boolean */
};

/* User values of a compiled statement. */
enum {
    PDB_KEYS = 1,       /* list of keys; at 0 the metatable of rows */
    PDB_PARAMETERS = 2, /* list of names (false for those without); name -> true */
    PDB_SQL = 3,
    PDB_LAYOUT = 4, /* how records were made of its rows the last time */
};

/* Pushes the compiled statement for the text at `sql_index`: from the cache if it is free, else newly prepared. Raises what is
** wrong with it. Checks that the access allows it. [-0, +1, e] */
pdb_statement *pdb_compile(lua_State *L, pdb_access *access, int sql_index);

/* A text of several statements, and how far it has been taken. */
typedef struct {
    void *object; /* Swift's */
    const char *sql;
    size_t length, offset;
} pdb_batch;

/* Pushes a compiled statement that holds nothing yet. [-0, +1, m] */
pdb_statement *pdb_push_statement(lua_State *L, int sql_index);

/* Pushes the next statement of a batch and returns it; NULL at the end, with nothing pushed. One after the other, they are all held by the
** userdata at `holder`: new ones would be garbage, of which the collector lets finalizers see little at a time. [-0, +(0|1), e] */
pdb_statement *pdb_next_in_batch(lua_State *L, pdb_access *access, pdb_batch *batch, int sql_index, int holder);

/* A prepared statement as scripts hold it: a text, compiled for whichever connection it is used on. */
typedef struct {
    pdb_database *database;
    uint64_t token;
    bool is_closed;
} pdb_prepared_object;

enum { PDB_PREPARED_DATABASE = 1, PDB_PREPARED_SQL = 2, PDB_PREPARED_COMPILED = 3 };

/* The prepared statement at `index`; raises if the value is none. [-0, +0, v] */
pdb_prepared_object *pdb_check_prepared(lua_State *L, pdb_state *rows, int index, const char *verb);

/* Pushes a prepared statement for the handle at 1 and the text at 2. [-0, +1, m] */
int pdb_push_prepared(lua_State *L, pdb_handle *handle, int statement_index);

/* Pushes the compiled statement of a prepared one, for the connection of the access. [-0, +1, e] */
pdb_statement *pdb_compile_prepared(lua_State *L, pdb_access *access, int index);

/* Puts a statement among those of its connection. */
void pdb_link_statement(pdb_connection *connection, pdb_statement *statement);

/* Pushes the cached statement for a text, or nothing. [-0, +(0|1), m] */
pdb_statement *pdb_find_cached(lua_State *L, pdb_connection *connection, int sql_index);

/* Caches the compiled statement on top of the stack. [-0, +0, m] */
void pdb_keep_cached(lua_State *L, pdb_connection *connection, pdb_statement *statement, int sql_index);

/* Raises if the access does not allow the statement. [-0, +0, e] */
void pdb_check_allowed(lua_State *L, pdb_access *access, pdb_statement *statement);

/*
** An upsert that updates, and an INSERT into a table without row ids, leave the last row id as some other statement has set it.
** So that it is not taken for their own, it is marked before the run; pdb_end_run puts it back.
*/
void pdb_mark_rowid(pdb_statement *statement);

/* Whether the statement that runs has inserted a row that has an id. */
bool pdb_has_inserted(pdb_statement *statement);

/* Puts a statement among those that are being run. */
void pdb_begin_run(pdb_statement *statement, pdb_statement **list);

/* Resets a statement and takes it out of the list. Releases it unless it is cached. */
void pdb_end_run(pdb_statement *statement);

/* The same for a whole list. */
void pdb_end_runs(pdb_statement **list);

/* Forgets a statement, and returns what must be released on the queue of its connection. */
void *pdb_empty_statement(pdb_statement *statement);

/* Releases a statement on its queue. */
void pdb_release_statement(pdb_statement *statement);

/* Reads what the columns are, unless that is known. To be called once a run has its first row. Raises nothing. */
void pdb_check_columns(pdb_statement *statement);

/* Releases what was collected, ends what was abandoned. Called with the access open. */
void pdb_tidy_connection(pdb_connection *connection);

/* Takes all statements from the connections of a database; their objects go to `leftover`. [-0, +0, -] */
void pdb_drop_connections(lua_State *L, pdb_database *database);

/* A Lua function: what the collector calls with a compiled statement. [-1, +0, -] */
int pdb_collect_compiled(lua_State *L);

/* Whether a column of the result is declared as one of booleans. */
static inline bool pdb_is_boolean(const pdb_statement *statement, int column) {
    return statement->booleans && statement->booleans[column];
}

/* Pushes a value of the row that the statement stands on. [-0, +1, m] */
static inline void pdb_push_value(lua_State *L, const pdb_statement *statement, int column) {
    sqlite3_value *value = sqlite3_column_value(statement->handle, column);
    pdb_push_column(L, value, sqlite3_value_type(value), pdb_is_boolean(statement, column));
}

/* Reports the statement to the journal, if one is kept. */
static inline void pdb_note_run(pdb_state *rows, const pdb_statement *statement) {
    if (rows->note != NULL) rows->note(rows->note_context, statement->sql);
}

/* MARK: - Open blobs */

/*
** A blob that is read and written in pieces. It belongs to its access and to the userdata of a script; the one that lets go of it last
** frees it. The collector closes none, because it may run while SQLite calls a function of the script.
*/
typedef struct pdb_open_blob {
    sqlite3_blob *handle; /* NULL once it is closed */
    pdb_access *access;   /* NULL then, too */
    struct pdb_open_blob *next, **link; /* in access->blobs */
    sqlite3_stmt *witness; /* of a blob that may be written: SQLite compiles it anew when it has read the schema anew */
    bool is_abandoned; /* its userdata was collected */
} pdb_open_blob;

/* Makes one of a handle, which belongs to it from then on; NULL without memory. */
pdb_open_blob *pdb_add_open_blob(pdb_access *access, sqlite3_blob *handle);

/* Has a blob of a database of the connection be written. Returns SQLite's code. */
int pdb_permit_writing(pdb_open_blob *blob, const char *schema);

/* Whether a blob can still be written. Returns SQLite's code: SQLITE_ABORT after a change of the row, SQLITE_SCHEMA after one of the schema. */
int pdb_check_writing(pdb_open_blob *blob);

/* Closes one, unless it is closed. Returns SQLite's code. */
int pdb_close_open_blob(pdb_open_blob *blob);

/* To be called when the userdata is collected. */
void pdb_abandon_open_blob(pdb_open_blob *blob);

/* Closes those of an access: at its end, or only those that were abandoned. */
void pdb_close_open_blobs(pdb_access *access, bool only_abandoned);

/* MARK: - Failures */

/*
** Both raise for a statement, or NULL, after its run has ended. The state's `explain_failure` may then add what it knows to the error
** on top of the stack: [-0, +0], raises nothing.
*/

/* Pushes the error of the last failure on a connection, with what is known of the statement, and raises it. [-0, +0, v] */
int pdb_raise_sqlite(lua_State *L, pdb_connection *connection, pdb_statement *statement, int code);

/* Raises the error on top of the stack, which Swift or SQLite has made, with the statement's text and position. [-1, +0, v] */
int pdb_raise_failure(lua_State *L, pdb_statement *statement);

#endif
