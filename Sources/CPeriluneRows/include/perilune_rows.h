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

typedef struct pdb_state pdb_state;             /* what belongs to one Lua state */
typedef struct pdb_database pdb_database;     /* a database that a state has opened */
typedef struct pdb_connection pdb_connection; /* one of its connections, with a cache of statements */
typedef struct pdb_statement pdb_statement;   /* a compiled statement */
typedef struct pdb_access pdb_access;         /* an access that is open now */
typedef struct pdb_access_request pdb_access_request;           /* an access that is asked for */
typedef struct pdb_execution pdb_execution;               /* an execution that goes through GRDB */

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
    PDB_READ_STATEMENT,  /* one reading statement in autocommit: a pool may use a reader */
    PDB_WRITE_STATEMENT, /* one call in autocommit, on the writer */
    PDB_READ,            /* a block: a deferred transaction of reading statements; a pool uses a reader */
    PDB_WRITE,           /* a block: one immediate transaction */
    PDB_DEFERRED,        /* blocks: a transaction of the kind that the script asked for */
    PDB_IMMEDIATE,
    PDB_EXCLUSIVE,
    PDB_MIGRATION,           /* in a transaction that GRDB has begun for it */
    PDB_WITHOUT_TRANSACTION, /* a block on the writer, in autocommit */
    PDB_SAVEPOINT,           /* a block inside another one */
    PDB_GUARD,               /* one call that must be undone if it fails: a transaction, or a savepoint inside one */
} pdb_access_mode;

typedef enum {
    PDB_COMMIT,
    PDB_ROLLBACK,
} pdb_completion;

/* An access that is open. Lives on the C stack; inner accesses point to outer ones. */
struct pdb_access {
    pdb_access *outer;
    pdb_database *database;
    pdb_connection *connection;
    uint64_t token;
    pdb_access_mode mode;
    bool is_readonly;    /* only statements that change nothing */
    bool in_transaction; /* opened by a block, so that scripts may not end it by SQL */
    pdb_statement *active; /* statements being stepped, reset when the access ends */
    bool is_taken;              /* a guard, whose call has begun */
    bool is_settling;           /* after the end of a transaction, for observers */
    bool has_asked, is_unobserved; /* whether GRDB has observers, which is asked at the first change */
    pdb_access_request *entry;
};

/* What Swift is asked to do: open the access, call pdb_run_access in it, and end it as `completion` says. */
struct pdb_access_request {
    lua_State *L;
    pdb_database *database;
    pdb_access_mode mode;
    int argument_count; /* above the function to be run, which is on the stack */
    int status;         /* out: the Lua status of the body; if it is not LUA_OK, its error is on top of the stack */
    pdb_completion completion; /* out */
    pdb_connection *connection; /* in: for accesses inside an open one, which must stay */
    bool is_readonly;                /* as that one is */
    void *context;                   /* in: what the function to be run finds by the access, or NULL */
};

/* Runs the body of an entry on a connection. Called by Swift inside the access that it has opened. Raises nothing.
** `grdb` is GRDB's connection object, kept for the time of the access. Returns the Lua status, also found in the entry. */
int pdb_run_access(pdb_access_request *entry, sqlite3 *handle, void *grdb);

/* Runs the body of an entry for a transaction or savepoint inside an open access. */
int pdb_run_nested_access(pdb_access_request *entry);

/* Pushes the function that an entry of mode PDB_MIGRATION runs. Its arguments are the database object, a function, and what
** that is given after the handle. [-0, +1, m] */
void pdb_push_block(lua_State *L);

/* Calls what observers are to be told of transactions that have ended on the connection. To be called by Swift inside the access to
** it, after the transaction; `has_failed` if an error is on its way. Raises nothing. */
void pdb_settle_access(pdb_access_request *entry, sqlite3 *handle, void *grdb, bool has_failed);

/* A transaction of PDB_READ, without GRDB, so that observers hear nothing of it. Returns SQLite's code. */
int pdb_begin_read(sqlite3 *handle);
int pdb_end_read(sqlite3 *handle);

/* MARK: - Databases */

/* Statements that were collected, to be released on the queue of their connection. Owned by Swift. */
typedef struct {
    void **objects;
    size_t count, capacity;
} pdb_release_list;

/* What a script may do with a database, beyond reading and writing it. */
enum {
    PDB_DATABASE_FILES = 1u << 0,    /* ATTACH, DETACH, VACUUM INTO and the like */
    PDB_DATABASE_CLOSABLE = 1u << 1, /* close() */
    PDB_DATABASE_POOL = 1u << 2,     /* reads may run on other connections than writes */
    PDB_DATABASE_PREVIEW = 1u << 3,  /* no ATTACH of files and VACUUM INTO, whatever else is granted */
};

/* Pushes the object through which scripts use a database. `owner` is a retained Swift object, which goes to the context's
** garbage when the userdata is collected; `leftover` must live as long as it. [-0, +1, m] */
void pdb_push_database(lua_State *L, void *owner, pdb_release_list *leftover, unsigned flags);

/* The database behind a userdata (a database object, or a handle that is alive), or NULL. Never fails. */
pdb_database *pdb_database_at(lua_State *L, int index);

/* Whether a value is a database object or a handle, alive or not. Never fails. */
bool pdb_is_database(lua_State *L, int index);

/* Pops the database object that is used where scripts name none. [-1, +0, m] */
void pdb_set_default_database(lua_State *L);

/* Whether scripts may close the database. */
bool pdb_database_is_closable(pdb_database *database);

/* A number that changes when the schema of the database may have changed: after statements that neither read nor insert, update or
** delete; when an access ends in which there was one; when SQLite has compiled a statement anew; after errors that may come
** from it. Grows, and is never that of another database. Never fails. */
int64_t pdb_schema_generation(pdb_database *database);

/* To be called when it may have changed in a way that the row path does not see: by Swift, or by a rollback. */
void pdb_forget_schema(pdb_database *database);

/* The Swift object of a database. */
void *pdb_database_owner(pdb_database *database);

/* The innermost access to the database that is open in this state, or NULL. With NULL for the database: to any. */
pdb_access *pdb_current_access(lua_State *L, pdb_database *database);

/* GRDB's connection object and SQLite's of an open access. */
void *pdb_access_grdb(pdb_access *access);
sqlite3 *pdb_access_handle(pdb_access *access);

/* Pushes the database object of the handle at `index`. [-0, +1, -] */
void pdb_push_database_object(lua_State *L, int index);

/* Pushes the handle of an open access. [-0, +1, m] */
void pdb_push_handle(lua_State *L, pdb_access *access);

/* Calls the C function below `argument_count` arguments in an access of its own, or in the one that is open. C only; raises
** its errors. Leaves its results and returns their number. */
int pdb_with_access(lua_State *L, int handle_index, pdb_access_mode mode, int argument_count);

/* Gives a database that has none the functions and collations that scripts have added to another one. [-0, +0, m] */
void pdb_copy_definitions(lua_State *L, pdb_database *from, pdb_database *to);

/* Hands over every statement of a database to the release list, for closing. Returns false if an access is open. */
bool pdb_database_detach(lua_State *L, pdb_database *database);

/* Hands over the statements of one connection, which will be closed. No access to it may be open. [-0, +0, -] */
void pdb_forget_connection(lua_State *L, pdb_database *database, sqlite3 *handle);

/* MARK: - Statements */

/* What Swift fills in when it has prepared a statement. */
typedef struct {
    sqlite3_stmt *handle; /* NULL if there was nothing but blanks and comments */
    void *object;         /* retained */
} pdb_prepared;

void *pdb_statement_object(pdb_statement *statement);

/* Where in its text the statement begins that the last call has come to: not at 0 in a text of several. Never fails. */
size_t pdb_statement_start(lua_State *L);

/* The number of bytes before the first token of a text: blanks and comments. Never fails. */
size_t pdb_blank_length(const char *sql, size_t length);

/* What becomes of the rows of an execution. */
typedef enum {
    PDB_DISCARD,
    PDB_ROWS,   /* row tables */
    PDB_TUPLES, /* lists of values with a field n */
    PDB_VALUES, /* first columns, perilune.null for NULL */
    PDB_RECORDS, /* records of a class */
} pdb_row_form;

struct pdb_execution {
    lua_State *L;
    pdb_statement *statement;
    pdb_row_form form;
    lua_Integer limit; /* rows wanted; those beyond are stepped over */
    lua_Integer count; /* rows taken */
    int statement_index, list; /* stack indices */
    bool is_stale; /* the columns are others than those that records were to be made from */
};

/* Takes the row that the statement stands on. Called by Swift within `run`; raises nothing. */
void pdb_take_row(pdb_execution *run);

/* MARK: - Callbacks */

/* Functions that return int return 0, or PLUA_RAISE with an error on top of the stack. None may raise. */
typedef struct {
    /* Opens an access on the entry's database and runs the entry in it. */
    int (*enter)(pdb_access_request *entry);
    /* Opens a transaction or savepoint on the entry's connection and runs the entry in it. */
    int (*nest)(pdb_access_request *entry, void *grdb);
    /* Prepares the first statement of a text. The bytes are valid UTF-8 and end with a NUL. */
    int (*prepare)(lua_State *L, void *grdb, const char *sql, pdb_prepared *prepared);
    /* For texts of several statements: an object from which `next` takes them. */
    int (*open_batch)(lua_State *L, void *grdb, const char *sql, void **batch);
    int (*next)(lua_State *L, void *grdb, void *batch, pdb_prepared *prepared);
    /* Steps a statement to its end through GRDB, calling pdb_take_row for each row. */
    int (*run)(void *object, pdb_execution *run);
    /* Tells GRDB which part of the database a statement is about to read. */
    int (*record)(lua_State *L, void *grdb, void *object);
    /* Whether anybody observes the changes of a connection. */
    bool (*is_observed)(void *grdb);
    /* Has GRDB tell the hub of transactions. Returns what stop_observing is given. */
    void *(*observe)(void *grdb, pdb_connection_observers *hub);
    void (*stop_observing)(void *grdb, void *relay);
    /* Gives an error object on top of the stack the Swift error that it stands for. */
    void (*attach_error)(lua_State *L, int code, const char *message, const char *sql);
    void (*release)(void *object);
} pdb_callbacks;

/* Makes the state able to hold databases. Must come before anything else here; once. The callbacks are copied. [-0, +0, m] */
void pdb_open(lua_State *L, const pdb_callbacks *callbacks);

/* To be called when an observer is added inside an access: its changes go through GRDB again. */
void pdb_observe(lua_State *L);

/* Whether GRDB is to be told of every read: true while Swift records what an observation reads. */
void pdb_set_recording(lua_State *L, bool is_recording);

/* Is told the SQL of a statement that is about to run. Must not raise. */
typedef void (*pdb_note)(void *context, const char *sql);

/* From now on `note` is told of each statement that the state runs; NULL: nobody is. */
void pdb_set_note(lua_State *L, pdb_note note, void *context);

/* Where no database may be used in a state, for the most because SQLite calls a function written in Lua there and is not reentrant.
** A number, whose text for messages C has: no pointer that Swift lends for a call could be kept in its place. */
typedef enum {
    PDB_ELSEWHERE, /* databases may be used */
    PDB_IN_SQL_FUNCTION,
    PDB_IN_ON_CHANGE,
    PDB_IN_WILL_COMMIT,
    PDB_IN_TRACE,
    PDB_IN_MIGRATION_FILE,
} pdb_place;

/* From now on the state is in a place where no database may be used, or no more. Returns the former place. Never fails. */
pdb_place pdb_enter_place(lua_State *L, pdb_place place);

/* MARK: - Errors */

/* Pops an error value and keeps it, to be raised by the statement that runs now in place of its own error. Callbacks of SQLite
** cannot raise. [-1, +0, m] */
void pdb_keep_pending_error(lua_State *L);

/* Pushes the error value that was kept, if there is one, and forgets it. [-0, +(0|1), -] */
bool pdb_take_pending_error(lua_State *L);

/* Forgets it. */
void pdb_drop_pending_error(lua_State *L);

/* Pushes the error object of an SQLite failure: kind, name, code, extended_code, message, sql, and what the message names.
** `offset` counts bytes from 0 as sqlite3_error_offset does; negative means unknown. [-0, +1, m] */
void pdb_push_sqlite_error(lua_State *L, int code, const char *message, const char *sql, int offset);

/* "constraint_unique", "busy", "sql" and so on, and SQLite's own name. Never fail. */
const char *pdb_sqlite_kind(int extended_code);
const char *pdb_sqlite_name(int extended_code);

/* MARK: - For other bindings. Each [-0, +1, m] */

void pdb_push_database_methods(lua_State *L);  /* the methods of databases and handles: more may be added */
void pdb_push_statement_methods(lua_State *L); /* those of prepared statements */
void pdb_push_row_methods(lua_State *L);       /* those of rows */
void pdb_push_null(lua_State *L);              /* perilune.null */
void pdb_push_blob(lua_State *L, const char *bytes, size_t length); /* as perilune.blob makes it */

/* Takes the metatable of dates, whose bytes are the microseconds since 1970. [-1, +0, m] */
void pdb_set_date_metatable(lua_State *L);

/* The Lua function perilune.blob. */
int pdb_make_blob(lua_State *L);

/* For the library: Lua functions. row -> list of its column names, not to be changed; row -> its metatable; list of names, table
** of values -> row; value -> what SQLite would be given for it; database, definition -> nothing (see functions.c). */
int pdb_row_columns(lua_State *L);
int pdb_row_metatable(lua_State *L);
int pdb_make_row(lua_State *L);
int pdb_plain_value(lua_State *L);
int pdb_define(lua_State *L);

/* (database, functions by name, tables or nil, kinds, is_once) adds an observer and returns it; see observer_handles.c. */
int pdb_add_observer(lua_State *L);

/* (...) returns the fingerprint of the values, a string. */
int pdb_fingerprint(lua_State *L);

/* For observers that wait to be told of transactions of others: () returns a function and its argument, or nothing. */
int pdb_take_notification(lua_State *L);

/* Whether an observer of the database is being called inside SQLite. */
int pdb_is_calling_observer(lua_State *L);

/* (database, f, ...) calls f(handle, ...) in a transaction, or in a savepoint inside one, which an error undoes. */
int pdb_call_guarded(lua_State *L);

/* Pushes the value at `index`, or what its __to_database makes of it. C only. [-0, +1] */
void pdb_push_plain(lua_State *L, int index);

/* The bytes of a blob, which lives as long as the value; NULL if the value is none. Never fails. */
const char *pdb_blob_bytes(lua_State *L, int index, size_t *length);

bool pdb_is_null(lua_State *L, int index);
bool pdb_is_blob(lua_State *L, int index);
bool pdb_is_row(lua_State *L, int index);

/* Binds the value at `index` (nil, boolean, number, string, null, blob or a value with __to_database) to a parameter. The
** bytes of strings are not copied: keep the value on the stack until the statement is reset. May push one value to keep;
** C only; raises for values that cannot be bound, naming `what`. */
void pdb_bind_value(lua_State *L, sqlite3_stmt *statement, int parameter, int index, const char *what);

/* Pushes the value of a column. `is_boolean` as the column is declared. [-0, +1, m] */
void pdb_push_column(lua_State *L, sqlite3_stmt *statement, int column, bool is_boolean);

/* Whether a declared type means boolean. */
bool pdb_is_boolean_type(const char *declared_type);

#endif
