/*
** The row path: SQLite statements to Lua tables, without a Swift object per row.
**
** Scripts see databases, handles, prepared statements, cursors and rows; this target is what is behind them. It binds
** arguments, steps SELECT statements itself, builds rows, and keeps the rules: which access is open, which handle is
** alive, which statement may run. Connections, transactions and everything that writes go through Swift (and so through
** GRDB) by the callbacks below.
**
** Swift calls nothing here that can raise, except inside a callback, where no allocation is refused.
** Stack effects are written as in Lua's manual: [-popped, +pushed].
*/
#ifndef PERILUNE_ROWS_H
#define PERILUNE_ROWS_H

#include <sqlite3.h>

#include <perilune_shim.h>

#include <perilune_environment.h>
#include "perilune_observers.h"

typedef struct perilune_rows perilune_rows;             /* what belongs to one Lua state */
typedef struct perilune_database perilune_database;     /* a database that a state has opened */
typedef struct perilune_connection perilune_connection; /* one of its connections, with a cache of statements */
typedef struct perilune_statement perilune_statement;   /* a compiled statement */
typedef struct perilune_access perilune_access;         /* an access that is open now */
typedef struct perilune_entry perilune_entry;           /* an access that is asked for */
typedef struct perilune_run perilune_run;               /* an execution that goes through GRDB */

/* Has SQLite count no memory, which makes writes and scans up to a fifth faster on libraries without lookaside, and lets
** threads scale. For the whole process, before SQLite is first used; returns SQLite's code. */
int psql_disable_memory_statistics(void);

/* Has threads that wait for a mutex of SQLite's look again for a while before they sleep. For the whole process, before SQLite is
** first used; returns SQLite's code. */
int psql_use_adaptive_mutexes(void);

/* For SQLite's busy handler: waits a little, longer with each attempt (from 0). Returns false, to give up, once all the waits
** together have taken so many seconds, or if the run on this thread is to end. */
bool psql_wait_while_busy(int attempts, double seconds);

/* MARK: - Accesses */

typedef enum {
    PERILUNE_READ_STATEMENT,  /* one reading statement in autocommit: a pool may use a reader */
    PERILUNE_WRITE_STATEMENT, /* one call in autocommit, on the writer */
    PERILUNE_READ,            /* a block: a deferred transaction of reading statements; a pool uses a reader */
    PERILUNE_WRITE,           /* a block: one immediate transaction */
    PERILUNE_DEFERRED,        /* blocks: a transaction of the kind that the script asked for */
    PERILUNE_IMMEDIATE,
    PERILUNE_EXCLUSIVE,
    PERILUNE_MIGRATION,           /* in a transaction that GRDB has begun for it */
    PERILUNE_WITHOUT_TRANSACTION, /* a block on the writer, in autocommit */
    PERILUNE_SAVEPOINT,           /* a block inside another one */
    PERILUNE_GUARD,               /* one call that must be undone if it fails: a transaction, or a savepoint inside one */
} perilune_access_mode;

typedef enum {
    PERILUNE_COMMIT,
    PERILUNE_ROLLBACK,
} perilune_completion;

/* An access that is open. Lives on the C stack; inner accesses point to outer ones. */
struct perilune_access {
    perilune_access *outer;
    perilune_database *database;
    perilune_connection *connection;
    uint64_t token;
    perilune_access_mode mode;
    bool is_readonly;    /* only statements that change nothing */
    bool in_transaction; /* opened by a block, so that scripts may not end it by SQL */
    perilune_statement *active; /* statements being stepped, reset when the access ends */
    int change_count;           /* INSERTs and the like that went through GRDB */
    bool is_taken;              /* a guard, whose call has begun */
    bool is_settling;           /* after the end of a transaction, for observers */
    bool is_unobserved;         /* known to be: those to come may be stepped without it */
    perilune_entry *entry;
};

/* What Swift is asked to do: open the access, call perilune_rows_run in it, and end it as `completion` says. */
struct perilune_entry {
    lua_State *L;
    perilune_database *database;
    perilune_access_mode mode;
    int argument_count; /* above the function to be run, which is on the stack */
    int status;         /* out: the Lua status of the body; if it is not LUA_OK, its error is on top of the stack */
    perilune_completion completion; /* out */
    perilune_connection *connection; /* in: for accesses inside an open one, which must stay */
    bool is_readonly;                /* as that one is */
};

/* Runs the body of an entry on a connection. Called by Swift inside the access that it has opened. Raises nothing.
** `grdb` is GRDB's connection object, kept for the time of the access. Returns the Lua status, also found in the entry. */
int perilune_rows_run(perilune_entry *entry, sqlite3 *handle, void *grdb);

/* Runs the body of an entry for a transaction or savepoint inside an open access. */
int perilune_rows_run_nested(perilune_entry *entry);

/* Pushes the function that an entry of mode PERILUNE_MIGRATION runs. Its arguments are the database object, a function, and what
** that is given after the handle. [-0, +1, m] */
void perilune_push_block(lua_State *L);

/* Calls what observers are to be told of transactions that have ended on the connection. To be called by Swift inside the access to
** it, after the transaction; `has_failed` if an error is on its way. Raises nothing. */
void perilune_rows_settle(perilune_entry *entry, sqlite3 *handle, void *grdb, bool has_failed);

/* A transaction of PERILUNE_READ, without GRDB, so that observers hear nothing of it. Returns SQLite's code. */
int perilune_rows_begin_read(sqlite3 *handle);
int perilune_rows_end_read(sqlite3 *handle);

/* MARK: - Databases */

/* Statements that were collected, to be released on the queue of their connection. Owned by Swift. */
typedef struct {
    void **objects;
    size_t count, capacity;
} perilune_release_list;

/* What a script may do with a database, beyond reading and writing it. */
enum {
    PERILUNE_DATABASE_FILES = 1u << 0,    /* ATTACH, DETACH, VACUUM INTO and the like */
    PERILUNE_DATABASE_CLOSABLE = 1u << 1, /* close() */
    PERILUNE_DATABASE_POOL = 1u << 2,     /* reads may run on other connections than writes */
    PERILUNE_DATABASE_PREVIEW = 1u << 3,  /* no ATTACH of files and VACUUM INTO, whatever else is granted */
};

/* Pushes the object through which scripts use a database. `owner` is a retained Swift object, which goes to the context's
** garbage when the userdata is collected; `leftover` must live as long as it. [-0, +1, m] */
void perilune_push_database(lua_State *L, void *owner, perilune_release_list *leftover, unsigned flags);

/* The database behind a userdata (a database object, or a handle that is alive), or NULL. Never fails. */
perilune_database *perilune_database_at(lua_State *L, int index);

/* Whether a value is a database object or a handle, alive or not. Never fails. */
bool perilune_is_database(lua_State *L, int index);

/* Pops the database object that is used where scripts name none. [-1, +0, m] */
void perilune_set_default_database(lua_State *L);

/* Whether scripts may close the database. */
bool perilune_database_is_closable(perilune_database *database);

/* A number that changes when the schema of the database may have changed: after statements that neither read nor insert, update or
** delete; when an access ends in which there was one; when SQLite has compiled a statement anew; after errors that may come
** from it. Grows, and is never that of another database. Never fails. */
int64_t perilune_schema_generation(perilune_database *database);

/* To be called when it may have changed in a way that the row path does not see: by Swift, or by a rollback. */
void perilune_forget_schema(perilune_database *database);

/* The Swift object of a database. */
void *perilune_database_owner(perilune_database *database);

/* The innermost access to the database that is open in this state, or NULL. With NULL for the database: to any. */
perilune_access *perilune_current_access(lua_State *L, perilune_database *database);

/* GRDB's connection object and SQLite's of an open access. */
void *perilune_access_grdb(perilune_access *access);
sqlite3 *perilune_access_handle(perilune_access *access);

/* Pushes the database object of the handle at `index`. [-0, +1, -] */
void perilune_push_database_object(lua_State *L, int index);

/* Pushes the handle of an open access. [-0, +1, m] */
void perilune_push_handle(lua_State *L, perilune_access *access);

/* Calls the C function below `argument_count` arguments in an access of its own, or in the one that is open. C only; raises
** its errors. Leaves its results and returns their number. */
int perilune_with_access(lua_State *L, int handle_index, perilune_access_mode mode, int argument_count);

/* Gives a database that has none the functions and collations that scripts have added to another one. [-0, +0, m] */
void perilune_copy_definitions(lua_State *L, perilune_database *from, perilune_database *to);

/* Hands over every statement of a database to the release list, for closing. Returns false if an access is open. */
bool perilune_database_detach(lua_State *L, perilune_database *database);

/* Hands over the statements of one connection, which will be closed. No access to it may be open. [-0, +0, -] */
void perilune_forget_connection(lua_State *L, perilune_database *database, sqlite3 *handle);

/* MARK: - Statements */

/* What Swift fills in when it has prepared a statement. */
typedef struct {
    sqlite3_stmt *handle; /* NULL if there was nothing but blanks and comments */
    void *object;         /* retained */
} perilune_prepared;

void *perilune_statement_object(perilune_statement *statement);

/* Where in its text the statement begins that the last call has come to: not at 0 in a text of several. Never fails. */
size_t perilune_statement_start(lua_State *L);

/* The number of bytes before the first token of a text: blanks and comments. Never fails. */
size_t perilune_blank_length(const char *sql, size_t length);

/* What becomes of the rows of an execution. */
typedef enum {
    PERILUNE_DISCARD,
    PERILUNE_ROWS,   /* row tables */
    PERILUNE_TUPLES, /* lists of values with a field n */
    PERILUNE_VALUES, /* first columns, perilune.null for NULL */
    PERILUNE_RECORDS, /* records of a class */
} perilune_row_form;

struct perilune_run {
    lua_State *L;
    perilune_statement *statement;
    perilune_row_form form;
    lua_Integer limit; /* rows wanted; those beyond are stepped over */
    lua_Integer count; /* rows taken */
    int statement_index, list; /* stack indices */
    bool is_stale; /* the columns are others than those that records were to be made from */
};

/* Takes the row that the statement stands on. Called by Swift within `run`; raises nothing. */
void perilune_take_row(perilune_run *run);

/* MARK: - Callbacks */

/* Functions that return int return 0, or PLUA_RAISE with an error on top of the stack. None may raise. */
typedef struct {
    /* Opens an access on the entry's database and runs the entry in it. */
    int (*enter)(perilune_entry *entry);
    /* Opens a transaction or savepoint on the entry's connection and runs the entry in it. */
    int (*nest)(perilune_entry *entry, void *grdb);
    /* Prepares the first statement of a text. The bytes are valid UTF-8 and end with a NUL. */
    int (*prepare)(lua_State *L, void *grdb, const char *sql, perilune_prepared *prepared);
    /* For texts of several statements: an object from which `next` takes them. */
    int (*open_batch)(lua_State *L, void *grdb, const char *sql, void **batch);
    int (*next)(lua_State *L, void *grdb, void *batch, perilune_prepared *prepared);
    /* Steps a statement to its end through GRDB, calling perilune_take_row for each row. */
    int (*run)(void *object, perilune_run *run);
    /* Tells GRDB which part of the database a statement is about to read. */
    int (*record)(lua_State *L, void *grdb, void *object);
    /* Whether anybody observes the changes of a connection. */
    bool (*is_observed)(void *grdb);
    /* Has GRDB tell the hub of transactions. Returns what stop_observing is given. */
    void *(*observe)(void *grdb, perilune_hub *hub);
    void (*stop_observing)(void *grdb, void *relay);
    /* Gives an error object on top of the stack the Swift error that it stands for. */
    void (*attach_error)(lua_State *L, int code, const char *message, const char *sql);
    void (*release)(void *object);
} perilune_rows_callbacks;

/* Makes the state able to hold databases. Must come before anything else here; once. The callbacks are copied. [-0, +0, m] */
void perilune_rows_open(lua_State *L, const perilune_rows_callbacks *callbacks);

/* To be called when an observer is added inside an access: its changes go through GRDB again. */
void perilune_rows_observe(lua_State *L);

/* Whether GRDB is to be told of every read: true while Swift records what an observation reads. */
void perilune_rows_set_recording(lua_State *L, bool is_recording);

/* Is told the SQL of a statement that is about to run. Must not raise. */
typedef void (*perilune_note)(void *context, const char *sql);

/* From now on `note` is told of each statement that the state runs; NULL: nobody is. */
void perilune_rows_set_note(lua_State *L, perilune_note note, void *context);

/* While SQLite runs a function, a collation or an observer written in Lua, no database may be used in this state: SQLite is not
** reentrant there. `place` is for the message ("an SQL function"); NULL allows it again. Returns the former place. */
const char *perilune_rows_forbid(lua_State *L, const char *place);

/* MARK: - Errors */

/* Pops an error value and keeps it, to be raised by the statement that runs now in place of its own error. Callbacks of SQLite
** cannot raise. [-1, +0, m] */
void perilune_keep_pending_error(lua_State *L);

/* Pushes the error value that was kept, if there is one, and forgets it. [-0, +(0|1), -] */
bool perilune_take_pending_error(lua_State *L);

/* Forgets it. */
void perilune_drop_pending_error(lua_State *L);

/* Pushes the error object of an SQLite failure: kind, name, code, extended_code, message, sql, and what the message names.
** `offset` counts bytes from 0 as sqlite3_error_offset does; negative means unknown. [-0, +1, m] */
void perilune_push_sqlite_error(lua_State *L, int code, const char *message, const char *sql, int offset);

/* "constraint_unique", "busy", "sql" and so on, and SQLite's own name. Never fail. */
const char *perilune_sqlite_kind(int extended_code);
const char *perilune_sqlite_name(int extended_code);

/* MARK: - For other bindings. Each [-0, +1, m] */

void perilune_push_database_methods(lua_State *L);  /* the methods of databases and handles: more may be added */
void perilune_push_statement_methods(lua_State *L); /* those of prepared statements */
void perilune_push_row_methods(lua_State *L);       /* those of rows */
void perilune_push_null(lua_State *L);              /* perilune.null */
void perilune_push_blob(lua_State *L, const char *bytes, size_t length); /* as perilune.blob makes it */

/* Takes the metatable of dates, whose bytes are the microseconds since 1970. [-1, +0, m] */
void perilune_set_date_metatable(lua_State *L);

/* The Lua function perilune.blob. */
int perilune_make_blob(lua_State *L);

/* For the library: Lua functions. row -> list of its column names, not to be changed; row -> its metatable; list of names, table
** of values -> row; value -> what SQLite would be given for it; database, definition -> nothing (see functions.c). */
int perilune_row_columns(lua_State *L);
int perilune_row_metatable(lua_State *L);
int perilune_make_row(lua_State *L);
int perilune_plain_value(lua_State *L);
int perilune_define(lua_State *L);

/* (database, functions by name, tables or nil, kinds, is_once) adds an observer and returns it; see observer_handles.c. */
int perilune_add_observer(lua_State *L);

/* (...) returns the fingerprint of the values, a string. */
int perilune_fingerprint(lua_State *L);

/* For observers that wait to be told of transactions of others: () returns a function and its argument, or nothing. */
int perilune_take_letter(lua_State *L);

/* Whether an observer of the database is being called inside SQLite. */
int perilune_is_calling_observer(lua_State *L);

/* (database, f, ...) calls f(handle, ...) in a transaction, or in a savepoint inside one, which an error undoes. */
int perilune_call_guarded(lua_State *L);

/* Pushes the value at `index`, or what its __to_database makes of it. C only. [-0, +1] */
void perilune_push_plain(lua_State *L, int index);

/* The bytes of a blob, which lives as long as the value; NULL if the value is none. Never fails. */
const char *perilune_blob_bytes(lua_State *L, int index, size_t *length);

bool perilune_is_null(lua_State *L, int index);
bool perilune_is_blob(lua_State *L, int index);
bool perilune_is_row(lua_State *L, int index);

/* Binds the value at `index` (nil, boolean, number, string, null, blob or a value with __to_database) to a parameter. The
** bytes of strings are not copied: keep the value on the stack until the statement is reset. May push one value to keep;
** C only; raises for values that cannot be bound, naming `what`. */
void perilune_bind_value(lua_State *L, sqlite3_stmt *statement, int parameter, int index, const char *what);

/* Pushes the value of a column. `is_boolean` as the column is declared. [-0, +1, m] */
void perilune_push_column(lua_State *L, sqlite3_stmt *statement, int column, bool is_boolean);

/* Whether a declared type means boolean. */
bool perilune_is_boolean_type(const char *declared_type);

#endif
