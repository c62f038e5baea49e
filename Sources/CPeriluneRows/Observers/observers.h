/* What the files of observers share. */
#ifndef PERILUNE_OBSERVERS_INTERNAL_H
#define PERILUNE_OBSERVERS_INTERNAL_H

#include <perilune_observers.h>
#include "CPeriluneRows/rows_internal.h"

/* MARK: - Changes */

/* A table as changes are told of it. Shared by the hub and by changes that wait. */
typedef struct perilune_observed_table {
    struct perilune_observed_table *next;
    _Atomic(int) owners;
    char *schema, *name;
    int count;        /* of the values that the hook gives */
    char **columns;   /* by the position of the value; NULL for one that is not told */
    bool *booleans;   /* whether the column is declared boolean */
    bool has_rowid;
} perilune_observed_table;

typedef struct {
    perilune_observed_table *table;
    int kind; /* SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE */
    sqlite3_int64 rowid, former_rowid;
    bool is_indirect;
    sqlite3_value **former, **current; /* `count` values each; NULL where there are none */
} perilune_change;

/* The table of a change that SQLite tells of now, read if it is not known. NULL without memory. */
perilune_observed_table *perilune_observed_table_of(perilune_hub *hub, const char *schema, const char *name);
/* One of which only the name is known. */
perilune_observed_table *perilune_make_named_table(const char *schema, const char *name);
void perilune_release_observed_table(perilune_observed_table *table);

/* MARK: - Observers */

enum { PERILUNE_ON_CHANGE = 1, PERILUNE_WILL_COMMIT, PERILUNE_DID_COMMIT, PERILUNE_DID_ROLLBACK };

typedef struct perilune_observer perilune_observer;
typedef struct perilune_inbox perilune_inbox;

/* Shared by the hub and by the value that scripts hold, of which its functions are the user values. */
struct perilune_observer {
    perilune_observer *next;
    _Atomic(int) owners;
    _Atomic(bool) is_removed;
    perilune_hub *hub;         /* owned */
    plua_context *context; /* of its state: only to be compared, unless that runs */
    int reference;             /* keeps the value that scripts hold */
    unsigned functions;        /* bits of those that it has */
    unsigned kinds;            /* bits of what it is told: see perilune_kind_bit */
    bool is_once;
    char **tables; /* NULL for all */
    size_t table_count;
    _Atomic(perilune_inbox *) inbox; /* NULL if nothing was told of others yet */
    perilune_mail mail;
};

static inline unsigned perilune_kind_bit(int kind) {
    return kind == SQLITE_INSERT ? 1u : kind == SQLITE_UPDATE ? 2u : 4u;
}

static inline bool perilune_observer_has(const perilune_observer *observer, int function) {
    return observer->functions & 1u << function;
}

void perilune_release_observer(perilune_observer *observer);

/* Pushes the table of the state's observers. [-0, +1, -] */
void perilune_push_observers(lua_State *L);

/* Pushes the value that scripts hold, of one that is not removed. [-0, +1, -] */
void perilune_push_observer(lua_State *L, const perilune_observer *observer);

/* Makes the observer say nothing more. On the thread of its state. */
void perilune_remove_observer(lua_State *L, perilune_observer *observer);

/* MARK: - Hubs */

typedef struct {
    char *name; /* of one that SQL has opened; NULL for blocks */
    size_t first_change;
} perilune_observed_savepoint;

struct perilune_hub {
    perilune_hub *next;
    _Atomic(int) owners;
    _Atomic(bool) is_ended;
    _Atomic(bool) has_removed;
    sqlite3 *handle;
    void *grdb, *relay; /* not owned: alive until the hub has ended */
    perilune_observer *observers;
    perilune_observed_table *tables;
    bool is_hooked, is_changed, has_failed;
    bool has_stale; /* statements may be there that were compiled without the hook */
    bool is_deferring; /* GRDB tells of changes, in savepoints of Swift's, when they are released */
    unsigned data_version;
    int calling; /* so many calls of observers are going on */
    /* What was changed inside of savepoints, which may be rolled back. */
    perilune_change *changes;
    size_t change_count, change_capacity, changed_bytes;
    perilune_observed_savepoint *savepoints;
    size_t savepoint_count, savepoint_capacity;
};

void perilune_retain_hub(perilune_hub *hub);

/* The hub of a connection, made if `grdb` is observed for the first time. Raises. [-0, +0] */
perilune_hub *perilune_make_hub(lua_State *L, perilune_connection *connection);

/* Adds an observer, which the hub retains. */
void perilune_hub_add(perilune_hub *hub, perilune_observer *observer);

/* Tells of a change: now, or when the savepoints that are open have been released. */
void perilune_hub_tell(perilune_hub *hub, const perilune_change *change);

/* Tells of what was changed inside of savepoints, which are there no more. */
void perilune_flush_savepoints(perilune_hub *hub);

/* Forgets them, and what was changed. */
void perilune_forget_savepoints(perilune_hub *hub);

perilune_change perilune_copy_change(const perilune_change *change, size_t *bytes);
void perilune_free_change(perilune_change *change);

/* MARK: - What others do */

/* A change, and the end of a transaction, that another state or Swift has made. On any thread. */
void perilune_post_change(perilune_observer *observer, const perilune_change *change);
void perilune_post_end(perilune_observer *observer, bool is_commit);
void perilune_free_inbox(perilune_inbox *inbox);

/* MARK: - Calling */

/* Whether it is the observer's state that runs on this thread. */
bool perilune_is_own(const perilune_observer *observer);

/* Pushes the table that on_change is given. [-0, +1, m] */
void perilune_push_event(lua_State *L, const perilune_change *change);

/* Tells all observers that a change concerns. */
void perilune_call_observers(perilune_hub *hub, const perilune_change *change);

/* Calls on_change, if the observer's state runs. Returns false if it has failed: its error is pending then. */
bool perilune_call_on_change(perilune_observer *observer, const perilune_change *change);

/* Calls will_commit, if the observer's state runs. Returns a Lua status; the error is on top of the stack. */
int perilune_call_will_commit(perilune_observer *observer);

typedef struct perilune_settlements perilune_settlements;
void perilune_free_settlements(perilune_settlements *settlements);

/* Puts did_commit or did_rollback among what is to be called. */
void perilune_add_settlement(perilune_observer *observer, int function);

#endif
