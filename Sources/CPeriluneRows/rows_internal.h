/* What the files of the row path share. */
#ifndef PERILUNE_ROWS_INTERNAL_H
#define PERILUNE_ROWS_INTERNAL_H

#include <stdlib.h>
#include <string.h>

#include <perilune_rows.h>

/* MARK: - The state */

/* The write of a record that runs: what an error of a constraint is told by. */
typedef struct {
    lua_State *L;
    pdb_statement *statement; /* or NULL */
    int record, plan;              /* on its stack */
} prec_pending_write;

struct pdb_state {
    prec_pending_write written;
    pdb_callbacks callbacks;
    plua_context *context;
    pdb_access *access; /* the innermost one, or NULL */
    uint64_t last_token;
    int64_t last_generation; /* of the schema of any database */
    uint64_t last_database;
    pdb_database *default_database; /* kept by the registry; NULL if there is none */
    pdb_access *overridden_access;  /* the innermost one as the default database was overridden, which wins over it */
    bool is_recording;
    pdb_note note; /* is told of each statement that runs, or NULL */
    void *note_context;
    pdb_place place; /* where no database may be used now */
    size_t cache_growth;         /* what SQLite's pages have taken in this run, on all connections */
    uint64_t cache_run;          /* the run that it is counted for */
    size_t statement_start;      /* where in the text the statement begins that was taken last: for texts of several */
    pdb_notifier mail; /* without an object until it is set */
    struct pdb_deferred_callbacks *settlements; /* what observers are to be told, or NULL */
    bool has_pending_error;      /* a callback of SQLite has kept an error for the statement to raise */
    bool pending_is_nil;
    bool has_type_mismatch;             /* a record was made with a value that is none of its column's */
    /* Metatables by address: a userdata is one of ours if its metatable is. */
    const void *database_metatable, *compiled_metatable, *statement_metatable, *cursor_metatable, *blob_metatable;
    const void *model_metatable, *plan_metatable, *shape_metatable, *layout_metatable, *write_metatable;
    const void *null;
};

/* The row path of a state, or NULL before pdb_open. Never fails. */
static inline pdb_state *pdb_state_of(lua_State *L) { return plua_context_of(L)->extension; }

/* Keys of the registry: their addresses. */
extern const char pdb_database_metatable_key, pdb_compiled_metatable_key, pdb_statement_metatable_key,
    pdb_cursor_metatable_key, pdb_row_methods_key, pdb_null_key, pdb_blob_metatable_key,
    pdb_guard_key;

/* The block of a userdata, or NULL if its metatable is another. Never fails. */
void *pdb_to_userdata(lua_State *L, int index, const void *metatable);

/* Makes a metatable, keeps it in the registry and leaves it. Returns its address. [-0, +1, m] */
const void *pdb_new_metatable(lua_State *L, const void *key, const char *name, const luaL_Reg *functions);

/* Around every call into Swift: nothing may be refused while its frames are on the stack. */
static inline bool pdb_begin_host_call(pdb_state *rows) {
    bool may_refuse = rows->context->may_refuse;
    rows->context->may_refuse = false;
    return may_refuse;
}

static inline void pdb_end_host_call(pdb_state *rows, bool may_refuse) {
    rows->context->may_refuse = may_refuse;
}

static inline bool pdb_is_cancelled(pdb_state *rows) {
    return atomic_load_explicit(&rows->context->cancel_reason, memory_order_relaxed) != PLUA_CANCEL_NONE;
}

/* MARK: - Databases, connections, accesses */

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
    uint64_t cache_run;
    int former_longest_value; /* SQLite's limit outside of accesses */
    struct pdb_connection_observers *hub; /* owned; NULL if nobody observes it */
    unsigned hub_generation;
    int savepoints; /* blocks that are open on it, each with a savepoint */
    int definition_count; /* so many of the database's functions and collations are defined on it */
    pdb_release_list released;
};

struct pdb_database {
    pdb_state *rows;
    uint64_t id;               /* unlike that of any other of the state, also of one that is gone */
    int64_t schema_generation; /* unlike that of any other database; another one when the schema may have changed */
    void *owner; /* NULL once it is collected: finalizers of scripts may still come here */
    unsigned flags;
    bool wants_writer; /* there are temporary tables, which readers do not see */
    bool has_collations; /* of scripts, which may fail */
    int definitions, definition_count; /* reference to the list of functions and collations; 0 for none */
    pdb_connection *connections;
    pdb_release_list *leftover;
};

/* The userdata of a database object (token 0), which the database itself follows, and of a handle, whose user value 1 is the
** database object. The first word is what the collector hands to Swift. */
typedef struct {
    void *owner; /* Swift's object; NULL for handles */
    pdb_database *database;
    uint64_t token;
} pdb_handle;

/* The database object or handle at `index`; raises if it is none. `verb` is for the message. */
pdb_handle *pdb_check_handle(lua_State *L, pdb_state *rows, int index, const char *verb);

/* The open access that belongs to a database (for token 0, the innermost one) or to a handle. NULL if there is none; raises
** if the handle is dead. */
pdb_access *pdb_find_access(lua_State *L, pdb_state *rows, pdb_database *database, uint64_t token);

/* The innermost open access to a database, or NULL; with NULL for the database, to any. */
pdb_access *pdb_access_to(pdb_state *rows, pdb_database *database);

/* Runs the function below the arguments in an access of its own. Raises its errors; returns the number of results. The function
** finds the context by its access; it may be NULL. */
int pdb_enter(lua_State *L, pdb_state *rows, pdb_database *database, pdb_access_mode mode, int argument_count, void *context);

/* The same for a transaction or savepoint inside an open access. */
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

/* The same for a block that reads inside an open access. */
int pdb_enter_reading(lua_State *L, pdb_state *rows, pdb_access *access, int argument_count);

int pdb_release_add(pdb_release_list *list, void *object);

/* To be called when the schema of a database may have changed. */
static inline void pdb_touch_schema(pdb_database *database) {
    database->schema_generation = ++database->rows->last_generation;
}

/* Adds what is known of a record to the error on top of the stack, if it comes from the statement that writes one. [-0, +0] */
void prec_explain_failure(lua_State *L, pdb_state *rows, pdb_statement *statement);

/* MARK: - Memory */

/* Cancels the run if SQLite's pages have grown by more than the state's memory limit in it: databases in memory, and caches. Does
** nothing without such a limit. Raises nothing. */
void pdb_watch_memory(pdb_connection *connection);

/* Begins and ends the bounds of an access to a connection. */
void pdb_begin_bounds(pdb_connection *connection);
void pdb_end_bounds(pdb_connection *connection);

/* Ends the recordings of a connection that have grown beyond their limit. */
void psql_watch_recordings(sqlite3 *db);

/* MARK: - Observers */

/* Looks for the observers of a connection, in case there are others than when it was last used. */
void pdb_find_observers(pdb_connection *connection);

/* Lets go of observers that were removed; without any, of the hooks. On the queue of the connection. */
void pdb_prune_observers(pdb_connection *connection);

/* A savepoint begins; returns how many there are. It ends, and all inside of it, if the transaction has not. */
size_t pdb_observers_begin_savepoint(struct pdb_connection_observers *hub, const char *name);
void pdb_observers_end_savepoint(struct pdb_connection_observers *hub, size_t depth, bool is_kept);

/* A statement of a script that begins or ends savepoints has been run. */
void pdb_observers_take_control(struct pdb_connection_observers *hub, const char *sql);

/* A statement has failed. */
void pdb_observers_statement_failed(struct pdb_connection_observers *hub);

/* Whether did_commit and did_rollback wait to be called. */
bool pdb_has_deferred_callbacks(pdb_state *rows);

/* Calls them; raises what they raise. */
void pdb_run_deferred_callbacks(lua_State *L, pdb_connection *connection);

/* Calls them with an error on top of the stack, or pending: it stays what it is. Raises nothing. */
void pdb_run_deferred_callbacks_after_failure(lua_State *L, pdb_connection *connection);

void pdb_release_observers(struct pdb_connection_observers *hub);

/* Removes the observers that scripts have added to a database. */
void pdb_remove_observers(lua_State *L, const pdb_database *database);

/* Takes the observers' hook off a connection, on which SQLite's sessions are about to be used, and puts it back. */
struct pdb_connection_observers *pdb_lift_hook(sqlite3 *handle);
void pdb_put_hook_back(struct pdb_connection_observers *hub);

/* Gives up the recordings of a connection: observers take their hook. */
void psql_interrupt_recordings(sqlite3 *db);

/* MARK: - Screening */

/* What a statement may need that not every access allows. */
typedef enum {
    PDB_KEYWORD_OTHER,
    PDB_KEYWORD_READ,    /* SELECT, VALUES, WITH, EXPLAIN: may be stepped here if SQLite says that it only reads */
    PDB_KEYWORD_INSERT,  /* INSERT, REPLACE */
    PDB_KEYWORD_CHANGE,  /* UPDATE, DELETE */
    PDB_KEYWORD_CONTROL, /* BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT, RELEASE */
    PDB_KEYWORD_FILES,   /* ATTACH, DETACH, VACUUM INTO, PRAGMA temp_store_directory */
    PDB_KEYWORD_FORBIDDEN, /* PRAGMA query_only = ..., writable_schema = ... */
    PDB_KEYWORD_MEMORY,  /* PRAGMA temp_store: temporary tables in memory, which no limit would see */
    PDB_KEYWORD_EMPTY,   /* nothing but blanks, comments and semicolons */
} pdb_keyword;

typedef struct {
    pdb_keyword keyword;
    char word[32];    /* the first word, upper case, and the name of a PRAGMA: for messages */
    bool is_temporary; /* CREATE TEMP: readers of a pool would not see it */
    bool wants_writer; /* its result depends on the connection */
    bool reads_rowid;  /* it asks for last_insert_rowid() */
    bool opens_file;   /* ATTACH of anything but ':memory:', VACUUM INTO: not in a preview, even if files are granted */
} pdb_screening;

pdb_screening pdb_screen(const char *sql, size_t length);

/* Whether only blanks, comments and semicolons are left. */
bool pdb_is_blank(const char *sql, size_t length);

/* Whether the text has statements that insert, update or delete, and none that cannot be in a transaction with them. */
bool pdb_changes_rows(const char *sql, size_t length);

/* Whether the bytes are valid UTF-8. */
bool pdb_is_utf8(const char *bytes, size_t length);

/* MARK: - Statements */

struct pdb_statement {
    pdb_connection *connection; /* NULL once released */
    sqlite3_stmt *handle;
    void *object;
    pdb_statement *next, **link;               /* in connection->statements */
    pdb_statement *active_next, **active_link; /* in access->active or connection->active */
    uint32_t run_id;                                /* changes with each run, so that old cursors know */
    int column_count, parameter_count;
    int prepare_count; /* SQLite's count of re-preparations when the columns were read */
    bool is_readonly, is_direct, in_use, is_cached, is_abandoned, has_columns, has_shape, has_tail;
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

/* Pushes the compiled statement for the text at `sql_index`: from the cache if it is free, else newly prepared. Raises
** what is wrong with it. Checks that the access allows it. [-0, +1] */
pdb_statement *pdb_compile(lua_State *L, pdb_access *access, int sql_index);

/* A text of several statements, and how far it has been taken. */
typedef struct {
    void *object; /* Swift's */
    const char *sql;
    size_t length, offset;
} pdb_batch;

/* Pushes the next statement of a batch and returns it; NULL at the end, with nothing pushed. [-0, +(0|1)] */
pdb_statement *pdb_next_in_batch(lua_State *L, pdb_access *access, pdb_batch *batch, int sql_index);

/* A prepared statement as scripts hold it: a text, compiled for whichever connection it is used on. */
typedef struct {
    pdb_database *database;
    uint64_t token;
    bool is_closed;
} pdb_prepared_object;

enum { PDB_PREPARED_DATABASE = 1, PDB_PREPARED_SQL = 2, PDB_PREPARED_COMPILED = 3 };

pdb_prepared_object *pdb_check_prepared(lua_State *L, pdb_state *rows, int index, const char *verb);

/* Pushes a prepared statement for the handle at 1 and the text at 2. [-0, +1, m] */
int pdb_push_prepared(lua_State *L, pdb_handle *handle, int statement_index);

/* Pushes the compiled statement of a prepared one, for the connection of the access. [-0, +1] */
pdb_statement *pdb_compile_prepared(lua_State *L, pdb_access *access, int index);

/* Puts a statement among those of its connection. */
void pdb_link_statement(pdb_connection *connection, pdb_statement *statement);

/* Pushes the cached statement for a text, or nothing. */
pdb_statement *pdb_find_cached(lua_State *L, pdb_connection *connection, int sql_index);

/* Caches the compiled statement on top of the stack. */
void pdb_keep_cached(lua_State *L, pdb_connection *connection, pdb_statement *statement, int sql_index);

/* Raises if the access does not allow the statement. */
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

/* Tells whoever keeps a journal of the statements. */
static inline void pdb_note_run(pdb_state *rows, pdb_statement *statement) {
    if (rows->note != NULL) rows->note(rows->note_context, sqlite3_sql(statement->handle));
}

/* Resets a statement and takes it out of the list. Releases it unless it is cached. */
void pdb_end_run(pdb_statement *statement);

/* The same for a whole list. */
void pdb_end_runs(pdb_statement **list);

/* Releases a statement on its queue. */
void pdb_release_statement(pdb_statement *statement);

/* Reads what the columns are, unless that is known. To be called once a run has its first row. Raises nothing. */
void pdb_check_columns(pdb_statement *statement);

/* The same, and pushes the list of keys of rows. [-0, +1, m] */
void pdb_push_keys(lua_State *L, pdb_statement *statement, int statement_index);

/* Releases what was collected, ends what was abandoned. Called with the access open. */
void pdb_tidy_connection(pdb_connection *connection);

/* Takes all statements from the connections of a database; their objects go to `leftover`. */
void pdb_drop_connections(lua_State *L, pdb_database *database);

int pdb_collect_compiled(lua_State *L);

/* MARK: - Arguments */

/* The arguments of a call, which several statements may share. */
typedef struct {
    const char *verb;
    pdb_statement *statement; /* that is being bound, or NULL: its run ends if something is wrong */
    int first, count; /* on the stack */
    int table;        /* the index of the one table that holds them, or 0 */
    lua_Integer list_count; /* the length of the list, of values or in the table */
    lua_Integer taken;      /* so many were handed out */
    int named;              /* so many parameters got their value by name */
    int used;         /* index of a table of the names used so far, or 0: for several statements */
} pdb_arguments;

pdb_arguments pdb_arguments_at(lua_State *L, const char *verb, int first);

/* Binds the arguments of one statement. Leaves values on the stack that must stay until the statement is reset. */
void pdb_bind_arguments(lua_State *L, pdb_statement *statement, int statement_index,
                             pdb_arguments *arguments);

/* Binds the value at `index`; strings as blobs if `is_blob`. Returns NULL, or what was expected; pdb_conversion_failed with the
** error on top of the stack. May push a value that must stay until the statement is reset. */
const char *pdb_bind_plain(lua_State *L, sqlite3_stmt *statement, int parameter, int index, bool is_blob);
extern const char pdb_conversion_failed[];

/* Raises if arguments are left over. */
void pdb_check_all_used(lua_State *L, pdb_statement *statement, int statement_index,
                             pdb_arguments *arguments);

/* The name among candidates (keys of the table at `index` that are strings) nearest to a misspelt one, or NULL. */
const char *pdb_nearest(lua_State *L, int index, const char *name);

/* MARK: - Rows */

/* Pushes the row that the statement stands on. `keys` is the stack index of the list of keys. */
void pdb_push_row(lua_State *L, pdb_statement *statement, int keys);

/* Pushes the list of keys of a statement's rows; at 0 it has their metatable. [-0, +1, m] */
void pdb_push_shape(lua_State *L, pdb_statement *statement);

/* Whether the value is a row with a column of that name, be it NULL. */
bool pdb_row_has(lua_State *L, int row, int name);

/* Pushes a value of the row that the statement stands on. */
static inline void pdb_push_value(lua_State *L, pdb_statement *statement, int column) {
    pdb_push_column(L, statement->handle, column, statement->booleans && statement->booleans[column]);
}

/* MARK: - Failures */

/* Pushes the error of the last failure on a connection, with what is known of the statement, and raises it. */
int pdb_raise_sqlite(lua_State *L, pdb_connection *connection, pdb_statement *statement, int code);

/* Raises the error on top of the stack, which Swift or SQLite has made, with the statement's text and position. */
int pdb_raise_failure(lua_State *L, pdb_statement *statement);

/* Defines on a connection the functions and collations that scripts have added to its database. Raises nothing. Returns
** SQLite's code. */
int pdb_apply_definitions(lua_State *L, pdb_connection *connection);

void pdb_open_values(lua_State *L, pdb_state *rows);
void pdb_open_databases(lua_State *L, pdb_state *rows);
void pdb_open_statements(lua_State *L, pdb_state *rows);
void pdb_open_cursors(lua_State *L, pdb_state *rows);
void pdb_open_rows(lua_State *L);
void pdb_open_changes(lua_State *L);
void pdb_open_pending_errors(lua_State *L);
void prec_open_records(lua_State *L, pdb_state *rows);
void pdb_open_observers(lua_State *L);

/* The connection of a database that has this handle, which GRDB's object stands for until the access ends. */
pdb_connection *pdb_connection_for(pdb_database *database, sqlite3 *handle);
pdb_connection *pdb_begin_connection(pdb_database *database, sqlite3 *handle, void *grdb);

/* Runs an entry on its connection in an access of its own, outside of transactions. Returns the Lua status. */
int pdb_run_settling_access(pdb_access_request *entry);

/* Pushes what execute returns; NULL for the row id if nothing was inserted. [-0, +1, m] */
void pdb_push_changes(lua_State *L, lua_Integer changed_rows, const lua_Integer *inserted_rowid);

/* MARK: - Verbs */

extern const luaL_Reg pdb_database_blocks[], pdb_database_verbs[], pdb_statement_verbs[];

#endif
