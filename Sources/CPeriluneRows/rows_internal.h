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
    perilune_statement *statement; /* or NULL */
    int record, plan;              /* on its stack */
} perilune_written;

struct perilune_rows {
    perilune_written written;
    perilune_rows_callbacks callbacks;
    plua_context *context;
    perilune_access *access; /* the innermost one, or NULL */
    uint64_t last_token;
    int64_t last_generation; /* of the schema of any database */
    uint64_t last_database;
    perilune_database *default_database; /* kept by the registry; NULL if there is none */
    perilune_access *overridden_access;  /* the innermost one as the default database was overridden, which wins over it */
    bool is_recording;
    perilune_note note; /* is told of each statement that runs, or NULL */
    void *note_context;
    const char *forbidden_place; /* where no database may be used now, or NULL */
    size_t cache_growth;         /* what SQLite's pages have taken in this run, on all connections */
    uint64_t cache_run;          /* the run that it is counted for */
    size_t statement_start;      /* where in the text the statement begins that was taken last: for texts of several */
    perilune_mail mail; /* without an object until it is set */
    struct perilune_settlements *settlements; /* what observers are to be told, or NULL */
    bool has_pending_error;      /* a callback of SQLite has kept an error for the statement to raise */
    bool pending_is_nil;
    bool has_misfit;             /* a record was made with a value that is none of its column's */
    /* Metatables by address: a userdata is one of ours if its metatable is. */
    const void *database_metatable, *compiled_metatable, *statement_metatable, *cursor_metatable, *blob_metatable;
    const void *model_metatable, *plan_metatable, *shape_metatable, *layout_metatable, *write_metatable;
    const void *null;
};

/* The row path of a state, or NULL before perilune_rows_open. Never fails. */
static inline perilune_rows *perilune_rows_of(lua_State *L) { return plua_context_of(L)->extension; }

/* Keys of the registry: their addresses. */
extern const char perilune_database_metatable_key, perilune_compiled_metatable_key, perilune_statement_metatable_key,
    perilune_cursor_metatable_key, perilune_row_methods_key, perilune_null_key, perilune_blob_metatable_key,
    perilune_guard_key;

/* The block of a userdata, or NULL if its metatable is another. Never fails. */
void *perilune_block_of(lua_State *L, int index, const void *metatable);

/* Makes a metatable, keeps it in the registry and leaves it. Returns its address. [-0, +1, m] */
const void *perilune_new_metatable(lua_State *L, const void *key, const char *name, const luaL_Reg *functions);

/* Around every call into Swift: nothing may be refused while its frames are on the stack. */
static inline bool perilune_leave_lua(perilune_rows *rows) {
    bool may_refuse = rows->context->may_refuse;
    rows->context->may_refuse = false;
    return may_refuse;
}

static inline void perilune_return_to_lua(perilune_rows *rows, bool may_refuse) {
    rows->context->may_refuse = may_refuse;
}

static inline bool perilune_is_doomed(perilune_rows *rows) {
    return atomic_load_explicit(&rows->context->doom, memory_order_relaxed) != PLUA_CANCEL_NONE;
}

/* MARK: - Databases, connections, accesses */

struct perilune_connection {
    perilune_connection *next;
    perilune_database *database;
    sqlite3 *handle;
    void *grdb; /* while an access is open on it */
    int accesses;
    perilune_statement *statements; /* all that are not released */
    perilune_statement *active;     /* cursors opened outside of blocks */
    bool has_abandoned;             /* some cursors were collected before their end */
    int young, old;                 /* references to the two generations of the cache */
    int young_count;
    size_t cache_base, cache_growth; /* SQLite's pages: when the run first came here, and since then */
    uint64_t cache_run;
    int former_longest_value; /* SQLite's limit outside of accesses */
    struct perilune_hub *hub; /* owned; NULL if nobody observes it */
    unsigned hub_generation;
    int savepoints; /* blocks that are open on it, each with a savepoint */
    int definition_count; /* so many of the database's functions and collations are defined on it */
    perilune_release_list released;
};

struct perilune_database {
    perilune_rows *rows;
    uint64_t id;               /* unlike that of any other of the state, also of one that is gone */
    int64_t schema_generation; /* unlike that of any other database; another one when the schema may have changed */
    void *owner; /* NULL once it is collected: finalizers of scripts may still come here */
    unsigned flags;
    bool wants_writer; /* there are temporary tables, which readers do not see */
    bool has_collations; /* of scripts, which may fail */
    int definitions, definition_count; /* reference to the list of functions and collations; 0 for none */
    perilune_connection *connections;
    perilune_release_list *leftover;
};

/* The userdata of a database object (token 0), which the database itself follows, and of a handle, whose user value 1 is the
** database object. The first word is what the collector hands to Swift. */
typedef struct {
    void *owner; /* Swift's object; NULL for handles */
    perilune_database *database;
    uint64_t token;
} perilune_handle;

/* The database object or handle at `index`; raises if it is none. `verb` is for the message. */
perilune_handle *perilune_check_handle(lua_State *L, perilune_rows *rows, int index, const char *verb);

/* The open access that belongs to a database (for token 0, the innermost one) or to a handle. NULL if there is none; raises
** if the handle is dead. */
perilune_access *perilune_find_access(lua_State *L, perilune_rows *rows, perilune_database *database, uint64_t token);

/* The innermost open access to a database, or NULL; with NULL for the database, to any. */
perilune_access *perilune_access_to(perilune_rows *rows, perilune_database *database);

/* Runs the function below the arguments in an access of its own. Raises its errors; returns the number of results. */
int perilune_enter(lua_State *L, perilune_rows *rows, perilune_database *database, perilune_access_mode mode,
                   int argument_count);

/* The same for a transaction or savepoint inside an open access. */
int perilune_enter_nested(lua_State *L, perilune_rows *rows, perilune_access *access, perilune_access_mode mode,
                          int argument_count);

/* The same for a block that reads inside an open access. */
int perilune_enter_reading(lua_State *L, perilune_rows *rows, perilune_access *access, int argument_count);

int perilune_release_add(perilune_release_list *list, void *object);

/* To be called when the schema of a database may have changed. */
static inline void perilune_touch_schema(perilune_database *database) {
    database->schema_generation = ++database->rows->last_generation;
}

/* Adds what is known of a record to the error on top of the stack, if it comes from the statement that writes one. [-0, +0] */
void perilune_explain_failure(lua_State *L, perilune_rows *rows, perilune_statement *statement);

/* MARK: - Memory */

/* Dooms the run if SQLite's pages have grown by more than the state's memory limit in it: databases in memory, and caches. Does
** nothing without such a limit. Raises nothing. */
void perilune_watch_memory(perilune_connection *connection);

/* Begins and ends the bounds of an access to a connection. */
void perilune_begin_bounds(perilune_connection *connection);
void perilune_end_bounds(perilune_connection *connection);

/* Ends the recordings of a connection that have grown beyond their limit. */
void psql_watch_recordings(sqlite3 *db);

/* MARK: - Observers */

/* Looks for the observers of a connection, in case there are others than when it was last used. */
void perilune_find_hub(perilune_connection *connection);

/* Lets go of observers that were removed; without any, of the hooks. On the queue of the connection. */
void perilune_prune_hub(perilune_connection *connection);

/* A savepoint begins; returns how many there are. It ends, and all inside of it, if the transaction has not. */
size_t perilune_hub_begin_savepoint(struct perilune_hub *hub, const char *name);
void perilune_hub_end_savepoint(struct perilune_hub *hub, size_t depth, bool is_kept);

/* A statement of a script that begins or ends savepoints has been run. */
void perilune_hub_take_control(struct perilune_hub *hub, const char *sql);

/* A statement has failed. */
void perilune_hub_statement_failed(struct perilune_hub *hub);

/* Whether did_commit and did_rollback wait to be called. */
bool perilune_has_settlements(perilune_rows *rows);

/* Calls them; raises what they raise. */
void perilune_settle(lua_State *L, perilune_connection *connection);

/* Calls them with an error on top of the stack, or pending: it stays what it is. Raises nothing. */
void perilune_settle_failed(lua_State *L, perilune_connection *connection);

void perilune_release_hub(struct perilune_hub *hub);

/* Removes the observers that scripts have added to a database. */
void perilune_remove_observers(lua_State *L, const perilune_database *database);

/* Takes the observers' hook off a connection, on which SQLite's sessions are about to be used, and puts it back. */
struct perilune_hub *perilune_lift_hook(sqlite3 *handle);
void perilune_put_hook_back(struct perilune_hub *hub);

/* Gives up the recordings of a connection: observers take their hook. */
void psql_interrupt_recordings(sqlite3 *db);

/* MARK: - Screening */

/* What a statement may need that not every access allows. */
typedef enum {
    PERILUNE_KEYWORD_OTHER,
    PERILUNE_KEYWORD_READ,    /* SELECT, VALUES, WITH, EXPLAIN: may be stepped here if SQLite says that it only reads */
    PERILUNE_KEYWORD_INSERT,  /* INSERT, REPLACE */
    PERILUNE_KEYWORD_CHANGE,  /* UPDATE, DELETE */
    PERILUNE_KEYWORD_CONTROL, /* BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT, RELEASE */
    PERILUNE_KEYWORD_FILES,   /* ATTACH, DETACH, VACUUM INTO, PRAGMA temp_store_directory */
    PERILUNE_KEYWORD_FORBIDDEN, /* PRAGMA query_only = ..., writable_schema = ... */
    PERILUNE_KEYWORD_MEMORY,  /* PRAGMA temp_store: temporary tables in memory, which no limit would see */
    PERILUNE_KEYWORD_EMPTY,   /* nothing but blanks, comments and semicolons */
} perilune_keyword;

typedef struct {
    perilune_keyword keyword;
    char word[32];    /* the first word, upper case, and the name of a PRAGMA: for messages */
    bool is_temporary; /* CREATE TEMP: readers of a pool would not see it */
    bool wants_writer; /* its result depends on the connection */
    bool reads_rowid;  /* it asks for last_insert_rowid() */
    bool opens_file;   /* ATTACH of anything but ':memory:', VACUUM INTO: not in a preview, even if files are granted */
} perilune_screening;

perilune_screening perilune_screen(const char *sql, size_t length);

/* Whether only blanks, comments and semicolons are left. */
bool perilune_is_blank(const char *sql, size_t length);

/* Whether the text has statements that insert, update or delete, and none that cannot be in a transaction with them. */
bool perilune_changes_rows(const char *sql, size_t length);

/* Whether the bytes are valid UTF-8. */
bool perilune_is_utf8(const char *bytes, size_t length);

/* MARK: - Statements */

struct perilune_statement {
    perilune_connection *connection; /* NULL once released */
    sqlite3_stmt *handle;
    void *object;
    perilune_statement *next, **link;               /* in connection->statements */
    perilune_statement *active_next, **active_link; /* in access->active or connection->active */
    uint32_t run_id;                                /* changes with each run, so that old cursors know */
    int column_count, parameter_count;
    int prepare_count; /* SQLite's count of re-preparations when the columns were read */
    bool is_readonly, is_direct, in_use, is_cached, is_abandoned, has_columns, has_shape, has_tail;
    perilune_screening screening;
    bool has_marked_rowid; /* see perilune_mark_rowid */
    sqlite3_int64 former_rowid;
    uint8_t *booleans; /* by column, or NULL if no column is declared boolean */
};

/* User values of a compiled statement. */
enum {
    PERILUNE_KEYS = 1,       /* list of keys; at 0 the metatable of rows */
    PERILUNE_PARAMETERS = 2, /* list of names (false for those without); name -> true */
    PERILUNE_SQL = 3,
    PERILUNE_LAYOUT = 4, /* how records were made of its rows the last time */
};

/* Pushes the compiled statement for the text at `sql_index`: from the cache if it is free, else newly prepared. Raises
** what is wrong with it. Checks that the access allows it. [-0, +1] */
perilune_statement *perilune_compile(lua_State *L, perilune_access *access, int sql_index);

/* A text of several statements, and how far it has been taken. */
typedef struct {
    void *object; /* Swift's */
    const char *sql;
    size_t length, offset;
} perilune_batch;

/* Pushes the next statement of a batch and returns it; NULL at the end, with nothing pushed. [-0, +(0|1)] */
perilune_statement *perilune_next_in_batch(lua_State *L, perilune_access *access, perilune_batch *batch, int sql_index);

/* A prepared statement as scripts hold it: a text, compiled for whichever connection it is used on. */
typedef struct {
    perilune_database *database;
    uint64_t token;
    bool is_closed;
} perilune_prepared_object;

enum { PERILUNE_PREPARED_DATABASE = 1, PERILUNE_PREPARED_SQL = 2, PERILUNE_PREPARED_COMPILED = 3 };

perilune_prepared_object *perilune_check_prepared(lua_State *L, perilune_rows *rows, int index, const char *verb);

/* Pushes a prepared statement for the handle at 1 and the text at 2. [-0, +1, m] */
int perilune_push_prepared(lua_State *L, perilune_handle *handle, int statement_index);

/* Pushes the compiled statement of a prepared one, for the connection of the access. [-0, +1] */
perilune_statement *perilune_compile_prepared(lua_State *L, perilune_access *access, int index);

/* Puts a statement among those of its connection. */
void perilune_link_statement(perilune_connection *connection, perilune_statement *statement);

/* Pushes the cached statement for a text, or nothing. */
perilune_statement *perilune_find_cached(lua_State *L, perilune_connection *connection, int sql_index);

/* Caches the compiled statement on top of the stack. */
void perilune_keep_cached(lua_State *L, perilune_connection *connection, perilune_statement *statement, int sql_index);

/* Raises if the access does not allow the statement. */
void perilune_check_allowed(lua_State *L, perilune_access *access, perilune_statement *statement);

/*
** An upsert that updates, and an INSERT into a table without row ids, leave the last row id as some other statement has set it.
** So that it is not taken for their own, it is marked before the run; perilune_end_run puts it back.
*/
void perilune_mark_rowid(perilune_statement *statement);

/* Whether the statement that runs has inserted a row that has an id. */
bool perilune_has_inserted(perilune_statement *statement);

/* Puts a statement among those that are being run. */
void perilune_begin_run(perilune_statement *statement, perilune_statement **list);

/* Tells whoever keeps a journal of the statements. */
static inline void perilune_note_run(perilune_rows *rows, perilune_statement *statement) {
    if (rows->note != NULL) rows->note(rows->note_context, sqlite3_sql(statement->handle));
}

/* Resets a statement and takes it out of the list. Releases it unless it is cached. */
void perilune_end_run(perilune_statement *statement);

/* The same for a whole list. */
void perilune_end_runs(perilune_statement **list);

/* Releases a statement on its queue. */
void perilune_release_statement(perilune_statement *statement);

/* Reads what the columns are, unless that is known. To be called once a run has its first row. Raises nothing. */
void perilune_check_columns(perilune_statement *statement);

/* The same, and pushes the list of keys of rows. [-0, +1, m] */
void perilune_push_keys(lua_State *L, perilune_statement *statement, int statement_index);

/* Releases what was collected, ends what was abandoned. Called with the access open. */
void perilune_tidy_connection(perilune_connection *connection);

/* Takes all statements from the connections of a database; their objects go to `leftover`. */
void perilune_drop_connections(lua_State *L, perilune_database *database);

int perilune_collect_compiled(lua_State *L);

/* MARK: - Arguments */

/* The arguments of a call, which several statements may share. */
typedef struct {
    const char *verb;
    perilune_statement *statement; /* that is being bound, or NULL: its run ends if something is wrong */
    int first, count; /* on the stack */
    int table;        /* the index of the one table that holds them, or 0 */
    lua_Integer list_count; /* the length of the list, of values or in the table */
    lua_Integer taken;      /* so many were handed out */
    int named;              /* so many parameters got their value by name */
    int used;         /* index of a table of the names used so far, or 0: for several statements */
} perilune_arguments;

perilune_arguments perilune_arguments_at(lua_State *L, const char *verb, int first);

/* Binds the arguments of one statement. Leaves values on the stack that must stay until the statement is reset. */
void perilune_bind_arguments(lua_State *L, perilune_statement *statement, int statement_index,
                             perilune_arguments *arguments);

/* Binds the value at `index`; strings as blobs if `is_blob`. Returns NULL, or what was expected; perilune_conversion_failed with the
** error on top of the stack. May push a value that must stay until the statement is reset. */
const char *perilune_bind_plain(lua_State *L, sqlite3_stmt *statement, int parameter, int index, bool is_blob);
extern const char perilune_conversion_failed[];

/* Raises if arguments are left over. */
void perilune_check_all_used(lua_State *L, perilune_statement *statement, int statement_index,
                             perilune_arguments *arguments);

/* The name among candidates (keys of the table at `index` that are strings) nearest to a misspelt one, or NULL. */
const char *perilune_nearest(lua_State *L, int index, const char *name);

/* MARK: - Rows */

/* Pushes the row that the statement stands on. `keys` is the stack index of the list of keys. */
void perilune_push_row(lua_State *L, perilune_statement *statement, int keys);

/* Pushes the list of keys of a statement's rows; at 0 it has their metatable. [-0, +1, m] */
void perilune_push_shape(lua_State *L, perilune_statement *statement);

/* Whether the value is a row with a column of that name, be it NULL. */
bool perilune_row_has(lua_State *L, int row, int name);

/* Pushes a value of the row that the statement stands on. */
static inline void perilune_push_value(lua_State *L, perilune_statement *statement, int column) {
    perilune_push_column(L, statement->handle, column, statement->booleans && statement->booleans[column]);
}

/* MARK: - Failures */

/* Pushes the error of the last failure on a connection, with what is known of the statement, and raises it. */
int perilune_raise_sqlite(lua_State *L, perilune_connection *connection, perilune_statement *statement, int code);

/* Raises the error on top of the stack, which Swift or SQLite has made, with the statement's text and position. */
int perilune_raise_failure(lua_State *L, perilune_statement *statement);

/* Defines on a connection the functions and collations that scripts have added to its database. Raises nothing. Returns
** SQLite's code. */
int perilune_apply_definitions(lua_State *L, perilune_connection *connection);

void perilune_open_values(lua_State *L, perilune_rows *rows);
void perilune_open_databases(lua_State *L, perilune_rows *rows);
void perilune_open_statements(lua_State *L, perilune_rows *rows);
void perilune_open_cursors(lua_State *L, perilune_rows *rows);
void perilune_open_rows(lua_State *L);
void perilune_open_changes(lua_State *L);
void perilune_open_pending_errors(lua_State *L);
void perilune_open_records(lua_State *L, perilune_rows *rows);
void perilune_open_observers(lua_State *L);

/* The connection of a database that has this handle, which GRDB's object stands for until the access ends. */
perilune_connection *perilune_connection_for(perilune_database *database, sqlite3 *handle);
perilune_connection *perilune_begin_connection(perilune_database *database, sqlite3 *handle, void *grdb);

/* Runs an entry on its connection in an access of its own, outside of transactions. Returns the Lua status. */
int perilune_rows_run_settling(perilune_entry *entry);

/* Pushes what execute returns; NULL for the row id if nothing was inserted. [-0, +1, m] */
void perilune_push_changes(lua_State *L, lua_Integer changed_rows, const lua_Integer *inserted_rowid);

/* MARK: - Verbs */

extern const luaL_Reg perilune_database_blocks[], perilune_database_verbs[], perilune_statement_verbs[];

#endif
