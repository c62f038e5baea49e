/* Declarations shared by the observer files. */
#ifndef PERILUNE_OBSERVERS_INTERNAL_H
#define PERILUNE_OBSERVERS_INTERNAL_H

#include <perilune_observers.h>

#include "CPeriluneRows/Accesses/accesses.h"

/* Adds the connection hooks of observers, and their metatables. [-0, +0, m] */
void pdb_open_observers(lua_State *L);

/* MARK: - Changes */

typedef struct {
    char *name; /* NULL if the column is not reported */
    bool is_boolean, is_real; /* from the declared type */
    sqlite3_value *default_value; /* for rows that do not store the column; NULL until the first such row */
} pdb_observed_column;

/* A table whose changes are reported, shared by the observer set and pending changes. */
typedef struct pdb_observed_table {
    struct pdb_observed_table *next;
    _Atomic(int) owners;
    char *schema, *name;
    int count;        /* the number of values that the hook provides */
    pdb_observed_column *columns; /* in the order of the values */
    bool has_rowid;
} pdb_observed_table;

typedef struct {
    pdb_observed_table *table;
    int kind; /* SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE */
    sqlite3_int64 rowid, former_rowid;
    bool is_indirect;
    sqlite3_value **former, **current; /* `count` values each, or NULL */
} pdb_change;

/* Returns the table of the change that SQLite is reporting. Reads its columns on first use. NULL if memory runs out. */
pdb_observed_table *pdb_observed_table_of(pdb_connection_observers *observers, const char *schema, const char *name);
/* Returns the value of a column in rows that do not store it. Call it only in the hook. Returns NULL on failure. The table owns the value. */
sqlite3_value *pdb_default_of(sqlite3 *handle, pdb_observed_table *table, int column);
/* Returns a table of which only the names are known. */
pdb_observed_table *pdb_make_named_table(const char *schema, const char *name);
void pdb_release_observed_table(pdb_observed_table *table);

/* MARK: - Observers */

enum { PDB_ON_CHANGE = 1, PDB_WILL_COMMIT, PDB_DID_COMMIT, PDB_DID_ROLLBACK };

typedef struct pdb_observer pdb_observer;
typedef struct pdb_notification_queue pdb_notification_queue;

/* An observer. It is shared by the observer set of its connection and by the script's userdata, whose user values are the callbacks. */
struct pdb_observer {
    pdb_observer *next;
    _Atomic(int) owners;
    _Atomic(bool) is_removed;
    pdb_connection_observers *observers;         /* owned */
    plua_context *context; /* the context of its state; may only be compared, unless that state is running */
    int reference;             /* a registry reference to the userdata */
    unsigned functions;        /* a bit for each function that it has */
    unsigned kinds;            /* a bit for each kind of change that it observes; see pdb_kind_bit */
    bool is_once;
    char **tables; /* NULL for all */
    size_t table_count;
    _Atomic(pdb_notification_queue *) queue; /* NULL before the first change by another state */
    pdb_notifier notifier;
};

static inline unsigned pdb_kind_bit(int kind) {
    return kind == SQLITE_INSERT ? 1u : kind == SQLITE_UPDATE ? 2u : 4u;
}

static inline bool pdb_observer_has(const pdb_observer *observer, int function) {
    return observer->functions & 1u << function;
}

void pdb_release_observer(pdb_observer *observer);

/* Pushes the table of the state's observers. [-0, +1, -] */
void pdb_push_observers(lua_State *L);

/* Pushes the userdata of an observer that was not removed. [-0, +1, -] */
void pdb_push_observer(lua_State *L, const pdb_observer *observer);

/* Removes an observer. Must be called on the thread of its state. [-0, +0, -] */
void pdb_remove_observer(lua_State *L, pdb_observer *observer);

/* MARK: - Hubs */

typedef struct {
    char *name; /* the name of a savepoint opened by SQL; NULL for blocks */
    size_t first_change;
} pdb_observed_savepoint;

struct pdb_connection_observers {
    pdb_connection_observers *next;
    _Atomic(int) owners;
    _Atomic(bool) is_ended;
    _Atomic(bool) has_removed;
    sqlite3 *handle;
    pdb_sql_callbacks sql;
    void *grdb, *relay; /* not owned; valid until the set has ended */
    pdb_observer *first_observer;
    pdb_observed_table *tables;
    bool is_hooked, is_changed, has_failed;
    bool has_stale; /* there may be statements that were compiled without the hook */
    bool is_deferring; /* statements run inside Swift's savepoints; GRDB reports their changes when the savepoints are released */
    unsigned data_version;
    int calling; /* the number of calls of observers in progress */
    /* Changes that may still be undone: by the running statement or inside open savepoints. */
    pdb_change *changes;
    size_t change_count, change_capacity, changed_bytes;
    size_t statement_start; /* the number of changes before the running statement */
    pdb_observed_savepoint *savepoints;
    size_t savepoint_count, savepoint_capacity;
};

void pdb_retain_observers(pdb_connection_observers *observers);

/* Returns the observer set of a connection, and creates it if necessary. [-0, +0, v] */
pdb_connection_observers *pdb_make_observers(lua_State *L, pdb_connection *connection);

/* Update the observer set of a connection if any set was created or has ended, and release removed observers. */
void pdb_find_observers(pdb_connection *connection);
void pdb_prune_observers(pdb_connection *connection);

void pdb_release_observers(pdb_connection_observers *observers);

/* Begin and end a savepoint. Beginning returns the number of open savepoints. Ending also ends all inner savepoints, and does nothing if
** the transaction has ended. */
size_t pdb_observers_begin_savepoint(pdb_connection_observers *observers, const char *name);
void pdb_observers_end_savepoint(pdb_connection_observers *observers, size_t depth, bool is_kept);

/* Handles a savepoint command that a script has executed as SQL. */
void pdb_observers_take_control(pdb_connection_observers *observers, pdb_savepoint_command command, const char *name);

/* Notifies observers of the changes of a statement that has succeeded. */
void pdb_observers_statement_ended(pdb_connection_observers *observers);

/* Handles the failure of a statement, which may have changed rows before it failed. */
void pdb_observers_statement_failed(pdb_connection_observers *observers);

/* Adds an observer and retains it. */
void pdb_observers_add(pdb_connection_observers *observers, pdb_observer *observer);

/* Drops the changes of a failed statement in a transaction that continues. */
void pdb_drop_statement(pdb_connection_observers *observers);

/* Reports a change at once, or stores it until its statement has succeeded and the open savepoints are released. */
void pdb_observers_notify(pdb_connection_observers *observers, const pdb_change *change);

/* Reports the changes of released savepoints. */
void pdb_flush_savepoints(pdb_connection_observers *observers);

/* Removes all savepoints, and drops their changes. */
void pdb_forget_savepoints(pdb_connection_observers *observers);

pdb_change pdb_copy_change(const pdb_change *change, size_t *bytes);
void pdb_free_change(pdb_change *change);

/* MARK: - Changes by others */

/* Post a change, or the end of a transaction, by another state or by Swift. Any thread may call them. */
void pdb_post_change(pdb_observer *observer, const pdb_change *change);
void pdb_post_end(pdb_observer *observer, bool is_commit);
void pdb_free_notification_queue(pdb_notification_queue *queue);

/* MARK: - Calling */

/* Returns whether the observer's state is running on this thread. */
bool pdb_is_own(const pdb_observer *observer);

/* Pushes the argument of on_change. [-0, +1, m] */
void pdb_push_event(lua_State *L, const pdb_change *change);

/* Notifies all observers that observe this kind of change in this table. */
void pdb_call_observers(pdb_connection_observers *observers, const pdb_change *change);

/* Calls on_change if the observer's state is running. Returns false on failure, with the error pending. */
bool pdb_call_on_change(pdb_observer *observer, const pdb_change *change);

/* Calls will_commit if the observer's state is running. Returns a Lua status; on failure, the error is on top of the stack. */
int pdb_call_will_commit(pdb_observer *observer);

typedef struct pdb_deferred_callbacks pdb_deferred_callbacks;

/* Returns whether calls of did_commit or did_rollback are pending. */
bool pdb_has_deferred_callbacks(pdb_state *rows);

/* Makes the pending calls and raises their errors. [-0, +0, e] */
void pdb_run_deferred_callbacks(lua_State *L, pdb_connection *connection);

/* Makes the pending calls while an error is on top of the stack or pending, and keeps this error. Raises nothing. [-0, +0, m] */
void pdb_run_deferred_callbacks_after_failure(lua_State *L, pdb_connection *connection);

void pdb_free_deferred_callbacks(pdb_deferred_callbacks *callbacks);

/* Adds a call of did_commit or did_rollback to the pending calls. */
void pdb_defer_callback(pdb_observer *observer, int function);

#endif
