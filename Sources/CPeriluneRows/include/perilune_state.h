/*
** The row path of one Lua state: turns rows of SQLite statements into Lua tables, without a Swift object per row.
**
** Implements the databases, handles, prepared statements, cursors and rows that scripts see. It binds arguments, steps SELECT statements
** itself, builds rows, and keeps the rules: which access is open, which handle is alive, which statement may run. Connections,
** transactions and all writes go through Swift (and so through GRDB) by the callbacks below.
**
** Swift calls functions of this target that can raise only inside a callback, where no allocation is refused. Stack effects follow Lua's
** manual: [-popped, +pushed, raises]. A function raises nothing (-), only if memory runs out (m), any error of the code that it calls
** (e), or on purpose (v). n depends on the call.
*/
#ifndef PERILUNE_STATE_H
#define PERILUNE_STATE_H

#include <sqlite3.h>

#include <perilune_shim.h>
#include <perilune_sql.h>

typedef struct pdb_state pdb_state; /* what belongs to one Lua state */
typedef struct pdb_database pdb_database; /* a database that a state has opened */
typedef struct pdb_connection pdb_connection; /* one of its connections, with a cache of statements */
typedef struct pdb_statement pdb_statement; /* a compiled statement */
typedef struct pdb_access pdb_access; /* an access that is open now */
typedef struct pdb_access_request pdb_access_request; /* an access that is asked for */
typedef struct pdb_execution pdb_execution; /* an execution that goes through GRDB */
typedef struct pdb_connection_observers pdb_connection_observers; /* what observes the transactions of a connection */

/* A statement that Swift has prepared. */
typedef struct {
    sqlite3_stmt *handle; /* NULL if there was nothing but blanks and comments */
    void *object;         /* retained */
    bool has_tail;        /* the text has more statements */
    bool is_carrier;      /* it stands for a statement elsewhere, which `sql` is, and which only reads if `is_readonly` */
    bool is_readonly;
    const char *sql; /* belongs to the object */
} pdb_prepared;

/* Signals a state, from any thread, that its observers have notifications of the transactions of others. */
typedef struct {
    void *object;
    void (*signal)(void *object);
    void *(*retain)(void *object);
    void (*release)(void *object);
} pdb_notifier;

/* MARK: - Callbacks */

/* The space for the text of a float with its NUL. */
enum { PDB_FLOAT_SIZE = 40 };

/* Functions that return int return 0, or PLUA_RAISE with an error on top of the stack. None may raise. */
typedef struct {
    /* Opens an access on the request's database and runs the request in it. */
    int (*enter)(pdb_access_request *request);
    /* Opens a transaction or savepoint on the request's connection and runs the request in it. */
    int (*nest)(pdb_access_request *request, void *grdb);
    /* Rolls back the open transaction through GRDB, which notifies its observers. */
    void (*end_transaction)(void *grdb);
    /* Prepares the first statement of a text. The bytes are valid UTF-8 and end with a NUL. */
    int (*prepare)(lua_State *L, void *grdb, const char *sql, pdb_prepared *prepared);
    /* For texts of several statements: an object from which `next` takes them. */
    int (*open_batch)(lua_State *L, void *grdb, const char *sql, void **batch);
    int (*next)(lua_State *L, void *grdb, void *batch, pdb_prepared *prepared);
    /* Steps a statement to its end through GRDB, calling pdb_take_row for each row. */
    int (*run)(void *object, pdb_execution *run);
    /* Reports to GRDB which part of the database a statement is about to read. */
    int (*record)(lua_State *L, void *grdb, void *object);
    /* Returns whether the changes of a connection are observed. */
    bool (*is_observed)(void *grdb);
    /* Makes GRDB notify the connection's observers of transactions. Returns the argument for stop_observing. */
    void *(*observe)(void *grdb, pdb_connection_observers *observers);
    void (*stop_observing)(void *grdb, void *relay);
    /* Attaches the corresponding Swift error to the error object on top of the stack. */
    void (*attach_error)(lua_State *L, int code, const char *message, const char *sql);
    /* A connection is used by the state for the first time. */
    void (*did_connect)(sqlite3 *handle);
    void (*release)(void *object);
    /* Writes the text of a float and its NUL into `text`, of PDB_FLOAT_SIZE bytes. */
    void (*write_float)(double value, char *text);
    pdb_sql_callbacks sql;
} pdb_callbacks;

/* Sets whether every read is reported to GRDB: true while Swift records the reads of an observation. [-0, +0, -] */
void pdb_set_recording(lua_State *L, bool is_recording);

/* Called with the SQL of a statement that is about to run. Must not raise. */
typedef void (*pdb_note)(void *context, const char *sql);

/* Calls `note` for each statement that the state runs; NULL removes it. [-0, +0, -] */
void pdb_set_note(lua_State *L, pdb_note note, void *context);

/* Called at each crash point of a state, with the description that the library has given to the current transaction, or an empty
** one; L is the calling coroutine. Returns whether the state ends here; its run is then cancelled. Must not raise. */
typedef bool (*pdb_crash_handler)(lua_State *L, void *context, const char *moment, const char *name, const char *label);

/* Sets the handler of a state; NULL removes it. [-0, +0, -] */
void pdb_set_crash_handler(lua_State *L, pdb_crash_handler handler, void *context);

/* Ends the process or the state if tests have chosen this point, see crash_points.c. Returns whether the state ends: the caller then
** raises the cancellation. [-0, +0, -] */
bool pdb_crash_point(lua_State *L, const char *moment, const char *name);

/* (moment, name): a crash point in Lua. [-2, +0, v] */
int pdb_lua_crash_point(lua_State *L);

/* (kind, name or nil): describes the current transaction for the handler of crash points. [-2, +0, v] */
int pdb_lua_crash_label(lua_State *L);

/* Places in which a state may not use a database, mostly because SQLite calls a Lua function there and is not reentrant. This is a number,
** with the text for messages in C, because a pointer lent by Swift for a call could not be kept here. */
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

/* Enters or leaves a place in which no database may be used. Returns the previous place. [-0, +0, -] */
pdb_place pdb_enter_place(lua_State *L, pdb_place place);

#endif
