/* What belongs to one Lua state, and what every room needs. */
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
    pdb_access *access; /* the innermost one, or NULL */
    uint64_t last_token;
    int64_t last_generation; /* of the schema of any database */
    uint64_t last_database;
    pdb_database *default_database; /* kept by the registry; NULL if there is none */
    pdb_access *overridden_access;  /* the innermost one as the default database was overridden, which wins over it */
    bool is_recording;
    pdb_note note; /* called for each statement that runs, or NULL */
    void *note_context;
    pdb_place place; /* where no database may be used now */
    psql_account account;        /* what SQLite has allocated on the thread of the state, if there are limits */
    uint64_t counted_run;        /* that has been charged last */
    uint64_t count;              /* of the context, that is charged */
    int64_t former_balance;      /* of the account, when that count began */
    bool may_refuse_memory;      /* SQLite's, though a frame of Swift's is on the stack: one that expects it */
    size_t cache_growth;         /* what SQLite's pages have taken in this count, on all connections */
    uint64_t cache_count;
    size_t statement_start;      /* where in the text the statement begins that was taken last: for texts of several */
    pdb_notifier notifier; /* without an object until it is set */
    struct pdb_deferred_callbacks *deferred_callbacks; /* pending calls of observers, or NULL */
    bool has_pending_error;      /* a callback of SQLite has kept an error for the statement to raise */
    bool pending_is_nil;
    /* Metatables by address: a userdata is one of ours if its metatable is. */
    const void *database_metatable, *compiled_metatable, *statement_metatable, *cursor_metatable, *blob_metatable, *open_blob_metatable;
    const void *null;
    /* What the rooms above have registered. */
    const struct pdb_connection_hooks *hooks[pdb_most_hooks];
    int hook_count;
    void (*explain_failure)(lua_State *L, pdb_state *rows, pdb_statement *statement); /* see connections.h; or NULL */
    void *records; /* what the target above keeps for the state; not owned */
};

/* The row path of a state, or NULL before pdb_open. [-0, +0, -] */
static inline pdb_state *pdb_state_of(lua_State *L) { return plua_context_of(L)->extension; }

/* Makes the state's part, empty but for the callbacks. Once. [-0, +0, m] */
void pdb_make_state(lua_State *L, const pdb_callbacks *callbacks);

/* Key of the registry: the metatable of userdata whose first word is an object of Swift, which the collector hands over. */
extern const char pdb_guard_key;

/* The bytes of a userdata, or NULL if its metatable is another. Never fails. [-0, +0, -] */
void *pdb_to_userdata(lua_State *L, int index, const void *metatable);

/* Makes a metatable, keeps it in the registry and leaves it. Returns its address. [-0, +1, m] */
const void *pdb_new_metatable(lua_State *L, const void *key, const char *name, const luaL_Reg *functions);

/* Pushes the table of the registry under an address, made when it is first asked for, with weak keys ("k") or values ("v").
** [-0, +1, m] */
void pdb_push_weak_table(lua_State *L, const void *key, const char *mode);

/* Around every call into Swift: nothing may be refused while its frames are on the stack. */
static inline bool pdb_begin_host_call(pdb_state *rows) {
    bool may_refuse = rows->context->may_refuse;
    rows->context->may_refuse = false;
    return may_refuse;
}

static inline void pdb_end_host_call(pdb_state *rows, bool may_refuse) {
    rows->context->may_refuse = may_refuse;
}

/* The same around calls that compile or step a statement through GRDB, which takes it as an error that SQLite has no memory. */
static inline bool pdb_begin_statement_call(pdb_state *rows) {
    rows->may_refuse_memory = true;
    return pdb_begin_host_call(rows);
}

static inline void pdb_end_statement_call(pdb_state *rows, bool may_refuse) {
    rows->may_refuse_memory = false;
    pdb_end_host_call(rows, may_refuse);
}

/* Charges what SQLite allocates and writes to the limits of the state, from now on. */
void pdb_open_memory(pdb_state *rows);

static inline bool pdb_is_cancelled(pdb_state *rows) {
    return atomic_load_explicit(&rows->context->cancel_reason, memory_order_relaxed) != PLUA_CANCEL_NONE;
}

#endif
