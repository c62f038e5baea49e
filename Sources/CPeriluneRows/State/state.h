/* The data of one Lua state, used by all parts of this target. */
#ifndef PERILUNE_STATE_INTERNAL_H
#define PERILUNE_STATE_INTERNAL_H

#include <stdlib.h>
#include <string.h>

#include <perilune_memory.h>
#include <perilune_state.h>

enum { pdb_most_hooks = 2 };

struct pdb_state {
    pdb_callbacks callbacks;
    plua_context *context;
    pdb_access *access; /* the innermost access, or NULL */
    uint64_t last_token;
    int64_t last_generation; /* the last schema generation assigned to any database */
    uint64_t last_database;
    pdb_database *default_database; /* kept alive by the registry; may be NULL */
    pdb_access *overridden_access;  /* the innermost access when the default database was overridden; the override takes precedence over
                                    ** it */
    bool is_recording;
    pdb_note note; /* called for each statement that runs; may be NULL */
    void *note_context;
    pdb_crash_handler crash_handler; /* may be NULL */
    void *crash_context;
    char crash_label[240]; /* describes the current transaction for the handler */
    pdb_place place; /* the code that is running and may not use databases */
    psql_account account;        /* counts SQLite's allocations on the thread of the state, if it has limits */
    uint64_t counted_run;        /* the last run that was charged */
    uint64_t count;              /* the group of runs to which usage is charged: the context's `count` */
    int64_t former_balance;      /* the account's balance when that group of runs began */
    bool may_refuse_memory;      /* SQLite's memory may be refused although a Swift frame is on the stack, because that frame handles the
                                 ** failure */
    size_t cache_growth;         /* the growth of SQLite's pages in a group of runs, on all connections */
    uint64_t cache_count;
    size_t statement_start;      /* the position of the last statement in a text of several statements */
    pdb_notifier notifier; /* has no object until one is set */
    struct pdb_deferred_callbacks *deferred_callbacks; /* pending calls of observers, or NULL */
    bool has_pending_error;      /* an SQLite callback has stored an error that the statement must raise */
    bool pending_is_nil;
    /* Addresses of metatables, by which userdata of this library are recognized. */
    const void *database_metatable, *compiled_metatable, *statement_metatable, *cursor_metatable, *blob_metatable, *open_blob_metatable;
    const void *null;
    /* The registrations of higher layers. */
    const struct pdb_connection_hooks *hooks[pdb_most_hooks];
    int hook_count;
    void (*explain_failure)(lua_State *L, pdb_state *rows, pdb_statement *statement); /* see connections.h; or NULL */
    void *records; /* data of the records target; not owned */
};

/* Returns the data of a state, or NULL before pdb_open. [-0, +0, -] */
static inline pdb_state *pdb_state_of(lua_State *L) { return plua_context_of(L)->extension; }

/* Creates the data of a state, empty except for the callbacks. Must be called once. [-0, +0, m] */
void pdb_make_state(lua_State *L, const pdb_callbacks *callbacks);

/* The registry key of the metatable for userdata whose first word is a Swift object. Collecting the userdata releases the object. */
extern const char pdb_guard_key;

/* Returns the contents of a userdata; NULL if it has a different metatable. Never fails. [-0, +0, -] */
void *pdb_to_userdata(lua_State *L, int index, const void *metatable);

/* Creates a metatable, stores it in the registry and pushes it. Returns its address. [-0, +1, m] */
const void *pdb_new_metatable(lua_State *L, const void *key, const char *name, const luaL_Reg *functions);

/* Must surround each call into Swift, because allocations must not be refused while Swift frames are on the stack. */
static inline bool pdb_begin_host_call(pdb_state *rows) {
    bool may_refuse = rows->context->may_refuse;
    rows->context->may_refuse = false;
    return may_refuse;
}

static inline void pdb_end_host_call(pdb_state *rows, bool may_refuse) {
    rows->context->may_refuse = may_refuse;
}

/* Must surround calls that compile or step a statement through GRDB, which treats a failed allocation in SQLite as an error. */
static inline bool pdb_begin_statement_call(pdb_state *rows) {
    rows->may_refuse_memory = true;
    return pdb_begin_host_call(rows);
}

static inline void pdb_end_statement_call(pdb_state *rows, bool may_refuse) {
    rows->may_refuse_memory = false;
    pdb_end_host_call(rows, may_refuse);
}

/* Begins to charge SQLite's allocations and writes to the state's limits. */
void pdb_open_memory(pdb_state *rows);

static inline bool pdb_is_cancelled(pdb_state *rows) {
    return atomic_load_explicit(&rows->context->cancel_reason, memory_order_relaxed) != PLUA_CANCEL_NONE;
}

#endif
