/*
** The row path of one Lua state: creates Lua tables from rows of SQLite statements, without a Swift object per row.
**
** It implements the databases, handles, prepared statements, cursors and rows of scripts. It binds arguments, steps SELECT statements,
** creates rows, and tracks which access is open, which handle is alive and which statement may run. Connections, transactions and all
** writes go through the callbacks below to Swift, and so to GRDB.
**
** Some functions of this target can raise. Swift calls these only inside a callback, in which no allocation is refused.
** Stack effects follow the Lua manual: [-popped, +pushed, raises]. A function raises nothing (-), only if memory runs out (m),
** any error of the code that it calls (e), or on purpose (v). n depends on the call.
*/
#ifndef PERILUNE_STATE_H
#define PERILUNE_STATE_H

#include <sqlite3.h>

#include <perilune_shim.h>
#include <perilune_sql.h>

typedef struct pdb_state pdb_state; /* the data of one Lua state */
typedef struct pdb_database pdb_database; /* a database that a state has opened */
typedef struct pdb_connection pdb_connection; /* a connection of a database, with a cache of statements */
typedef struct pdb_statement pdb_statement; /* a compiled statement */
typedef struct pdb_access pdb_access; /* an open access */
typedef struct pdb_access_request pdb_access_request; /* a request to open an access */
typedef struct pdb_execution pdb_execution; /* the execution of a statement through GRDB */
typedef struct pdb_connection_observers pdb_connection_observers; /* the observers of a connection's transactions */

/* A statement prepared by Swift. */
typedef struct {
    sqlite3_stmt *handle; /* NULL if the text contains only blanks and comments */
    void *object;         /* retained */
    bool has_tail;        /* the text continues with more statements */
    bool is_carrier;      /* represents a statement in a cluster: `sql` is its text, and `is_readonly` whether it only reads */
    bool is_readonly;
    const char *sql; /* owned by the object */
} pdb_prepared;

/* Signals to a state, from any thread, that its observers have notifications of transactions by others. */
typedef struct {
    void *object;
    void (*signal)(void *object);
    void *(*retain)(void *object);
    void (*release)(void *object);
} pdb_notifier;

/* MARK: - Callbacks */

/* The size of the buffer for the text of a float and its NUL. */
enum { PDB_FLOAT_SIZE = 40 };

/* Callbacks that return int return 0, or PLUA_RAISE with an error on top of the stack. None may raise. */
typedef struct {
    /* Opens an access on the request's database and runs the request in it. */
    int (*enter)(pdb_access_request *request);
    /* Opens a transaction or savepoint on the request's connection and runs the request in it. */
    int (*nest)(pdb_access_request *request, void *grdb);
    /* Rolls back the open transaction through GRDB, which notifies its observers. */
    void (*end_transaction)(void *grdb);
    /* Prepares the first statement of a text, which is valid UTF-8 and ends with a NUL. */
    int (*prepare)(lua_State *L, void *grdb, const char *sql, pdb_prepared *prepared);
    /* Opens SQL text with several statements. `next` prepares the statements one at a time. */
    int (*open_batch)(lua_State *L, void *grdb, const char *sql, void **batch);
    int (*next)(lua_State *L, void *grdb, void *batch, pdb_prepared *prepared);
    /* Steps a statement to its end through GRDB, calling pdb_take_row for each row. */
    int (*run)(void *object, pdb_execution *run);
    /* Reports to GRDB the database region that a statement is about to read. */
    int (*record)(lua_State *L, void *grdb, void *object);
    /* Returns whether the changes of a connection are observed. */
    bool (*is_observed)(void *grdb);
    /* Makes GRDB notify the connection's observers of transactions. Returns the argument for stop_observing. */
    void *(*observe)(void *grdb, pdb_connection_observers *observers);
    void (*stop_observing)(void *grdb, void *relay);
    /* Attaches the corresponding Swift error to the error object on top of the stack. */
    void (*attach_error)(lua_State *L, int code, const char *message, const char *sql);
    /* Prepares a connection when the state first uses it. */
    void (*did_connect)(sqlite3 *handle);
    void (*release)(void *object);
    /* Writes the text of a float and its NUL into `text`, of PDB_FLOAT_SIZE bytes. */
    void (*write_float)(double value, char *text);
    pdb_sql_callbacks sql;
} pdb_callbacks;

/* Sets whether every read is reported to GRDB, while Swift records the reads of an observation. [-0, +0, -] */
void pdb_set_recording(lua_State *L, bool is_recording);

/* Receives the SQL of a statement that is about to run. Must not raise. */
typedef void (*pdb_note)(void *context, const char *sql);

/* Calls `note` for each statement that the state runs; NULL removes it. [-0, +0, -] */
void pdb_set_note(lua_State *L, pdb_note note, void *context);

/* Handles a crash point of a state. `label` describes the current transaction, as set by the library, or is empty. L is the calling
** coroutine. Returns whether to end the state; its run is then cancelled. Must not raise. */
typedef bool (*pdb_crash_handler)(lua_State *L, void *context, const char *moment, const char *name, const char *label);

/* Sets the handler of a state's crash points; NULL removes it. [-0, +0, -] */
void pdb_set_crash_handler(lua_State *L, pdb_crash_handler handler, void *context);

/* Ends the process or the state if tests have chosen this point; see crash_points.c. Returns whether the state ends, in which case the
** caller must raise the cancellation. [-0, +0, -] */
bool pdb_crash_point(lua_State *L, const char *moment, const char *name);

/* (moment, name): a crash point in Lua. [-2, +0, v] */
int pdb_lua_crash_point(lua_State *L);

/* (kind, name or nil): describes the current transaction for the crash handler. [-2, +0, v] */
int pdb_lua_crash_label(lua_State *L);

/* Code in which a state may not use a database, usually because SQLite calls it and is not reentrant. The texts for messages are in C,
** because a string from Swift is not valid after the call. */
typedef enum {
    PDB_ELSEWHERE, /* databases may be used */
    PDB_IN_SQL_FUNCTION,
    PDB_IN_ON_CHANGE,
    PDB_IN_WILL_COMMIT,
    PDB_IN_TRACE,
    PDB_IN_MIGRATION_FILE,
    PDB_IN_BACKUP_PROGRESS,
    PDB_IN_CONFLICT,
} pdb_place;

/* Enters or leaves code that may not use databases. Returns the previous place. [-0, +0, -] */
pdb_place pdb_enter_place(lua_State *L, pdb_place place);

#endif
