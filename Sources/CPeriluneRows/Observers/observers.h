/* What the files of observers share. */
#ifndef PERILUNE_OBSERVERS_INTERNAL_H
#define PERILUNE_OBSERVERS_INTERNAL_H

#include <perilune_observers.h>

#include "CPeriluneRows/Accesses/accesses.h"

/* Registers the room with the connections. [-0, +0, m] */
void pdb_open_observers(lua_State *L);

/* MARK: - Changes */

typedef struct {
    char *name; /* NULL for one that is not reported */
    bool is_boolean, is_real; /* as it is declared */
} pdb_observed_column;

/* A table as its changes are reported. Shared by the observers of the connection and by changes that wait. */
typedef struct pdb_observed_table {
    struct pdb_observed_table *next;
    _Atomic(int) owners;
    char *schema, *name;
    int count;        /* of the values that the hook gives */
    pdb_observed_column *columns; /* by the position of the value */
    bool has_rowid;
} pdb_observed_table;

typedef struct {
    pdb_observed_table *table;
    int kind; /* SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE */
    sqlite3_int64 rowid, former_rowid;
    bool is_indirect;
    sqlite3_value **former, **current; /* `count` values each; NULL where there are none */
} pdb_change;

/* The table of the change that SQLite reports now, read if it is not known. NULL without memory. */
pdb_observed_table *pdb_observed_table_of(pdb_connection_observers *observers, const char *schema, const char *name);
/* One of which only the name is known. */
pdb_observed_table *pdb_make_named_table(const char *schema, const char *name);
void pdb_release_observed_table(pdb_observed_table *table);

/* MARK: - Observers */

enum { PDB_ON_CHANGE = 1, PDB_WILL_COMMIT, PDB_DID_COMMIT, PDB_DID_ROLLBACK };

typedef struct pdb_observer pdb_observer;
typedef struct pdb_notification_queue pdb_notification_queue;

/* Shared by the observers of the connection and by the value that scripts hold, of which its functions are the user values. */
struct pdb_observer {
    pdb_observer *next;
    _Atomic(int) owners;
    _Atomic(bool) is_removed;
    pdb_connection_observers *observers;         /* owned */
    plua_context *context; /* of its state: only to be compared, unless that runs */
    int reference;             /* keeps the value that scripts hold */
    unsigned functions;        /* bits of those that it has */
    unsigned kinds;            /* bits of the kinds of changes it is notified of: see pdb_kind_bit */
    bool is_once;
    char **tables; /* NULL for all */
    size_t table_count;
    _Atomic(pdb_notification_queue *) queue; /* NULL before the first change by others */
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

/* Pushes the value that scripts hold, of one that is not removed. [-0, +1, -] */
void pdb_push_observer(lua_State *L, const pdb_observer *observer);

/* Makes the observer say nothing more. On the thread of its state. [-0, +0, -] */
void pdb_remove_observer(lua_State *L, pdb_observer *observer);

/* MARK: - Hubs */

typedef struct {
    char *name; /* of one that SQL has opened; NULL for blocks */
    size_t first_change;
} pdb_observed_savepoint;

struct pdb_connection_observers {
    pdb_connection_observers *next;
    _Atomic(int) owners;
    _Atomic(bool) is_ended;
    _Atomic(bool) has_removed;
    sqlite3 *handle;
    pdb_sql_callbacks sql;
    void *grdb, *relay; /* not owned: alive until the observers of the connection has ended */
    pdb_observer *first_observer;
    pdb_observed_table *tables;
    bool is_hooked, is_changed, has_failed;
    bool has_stale; /* statements may be there that were compiled without the hook */
    bool is_deferring; /* GRDB reports changes in savepoints of Swift when these are released */
    unsigned data_version;
    int calling; /* the number of calls of observers in progress */
    /* What was changed by the statement that runs and inside of savepoints, which may be undone. */
    pdb_change *changes;
    size_t change_count, change_capacity, changed_bytes;
    size_t statement_start; /* how many of them were there before the statement that runs */
    pdb_observed_savepoint *savepoints;
    size_t savepoint_count, savepoint_capacity;
};

void pdb_retain_observers(pdb_connection_observers *observers);

/* The observers of a connection, made if `grdb` is observed for the first time. Raises. [-0, +0, v] */
pdb_connection_observers *pdb_make_observers(lua_State *L, pdb_connection *connection);

/* Looks for the observers of a connection, in case there are others than when it was last used, and lets go of those that were
** removed. */
void pdb_find_observers(pdb_connection *connection);
void pdb_prune_observers(pdb_connection *connection);

void pdb_release_observers(pdb_connection_observers *observers);

/* A savepoint begins; returns how many there are. It ends, and all inside of it, if the transaction has not. */
size_t pdb_observers_begin_savepoint(pdb_connection_observers *observers, const char *name);
void pdb_observers_end_savepoint(pdb_connection_observers *observers, size_t depth, bool is_kept);

/* A statement of a script that does something with a savepoint has been run. */
void pdb_observers_take_control(pdb_connection_observers *observers, pdb_savepoint_command command, const char *name);

/* A statement has succeeded: notifies observers of its changes. */
void pdb_observers_statement_ended(pdb_connection_observers *observers);

/* A statement has failed. */
void pdb_observers_statement_failed(pdb_connection_observers *observers);

/* Adds an observer, which the observers of the connection retains. */
void pdb_observers_add(pdb_connection_observers *observers, pdb_observer *observer);

/* The statement that runs has failed inside of a transaction, which goes on: forgets what SQLite has undone. */
void pdb_drop_statement(pdb_connection_observers *observers);

/* Reports a change once the statement has succeeded and the open savepoints are released. */
void pdb_observers_notify(pdb_connection_observers *observers, const pdb_change *change);

/* Reports what was changed in savepoints that have been released. */
void pdb_flush_savepoints(pdb_connection_observers *observers);

/* Forgets them, and what was changed. */
void pdb_forget_savepoints(pdb_connection_observers *observers);

pdb_change pdb_copy_change(const pdb_change *change, size_t *bytes);
void pdb_free_change(pdb_change *change);

/* MARK: - What others do */

/* A change, and the end of a transaction, that another state or Swift has made. On any thread. */
void pdb_post_change(pdb_observer *observer, const pdb_change *change);
void pdb_post_end(pdb_observer *observer, bool is_commit);
void pdb_free_notification_queue(pdb_notification_queue *queue);

/* MARK: - Calling */

/* Whether it is the observer's state that runs on this thread. */
bool pdb_is_own(const pdb_observer *observer);

/* Pushes the table that on_change is given. [-0, +1, m] */
void pdb_push_event(lua_State *L, const pdb_change *change);

/* Notifies all observers that a change concerns. */
void pdb_call_observers(pdb_connection_observers *observers, const pdb_change *change);

/* Calls on_change, if the observer's state runs. Returns false if it has failed: its error is pending then. */
bool pdb_call_on_change(pdb_observer *observer, const pdb_change *change);

/* Calls will_commit, if the observer's state runs. Returns a Lua status; the error is on top of the stack. */
int pdb_call_will_commit(pdb_observer *observer);

typedef struct pdb_deferred_callbacks pdb_deferred_callbacks;

/* Whether did_commit and did_rollback wait to be called. */
bool pdb_has_deferred_callbacks(pdb_state *rows);

/* Calls them; raises what they raise. [-0, +0, e] */
void pdb_run_deferred_callbacks(lua_State *L, pdb_connection *connection);

/* Calls them with an error on top of the stack, or pending: it stays what it is. Raises nothing. [-0, +0, m] */
void pdb_run_deferred_callbacks_after_failure(lua_State *L, pdb_connection *connection);

void pdb_free_deferred_callbacks(pdb_deferred_callbacks *callbacks);

/* Puts did_commit or did_rollback among what is to be called. */
void pdb_defer_callback(pdb_observer *observer, int function);

#endif
