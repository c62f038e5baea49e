/* What the verbs and the cursors share. */
#ifndef PERILUNE_VERBS_H
#define PERILUNE_VERBS_H

#include "records.h"

typedef struct perilune_call perilune_call;

/* One call of a verb, with its access open and its statement compiled. */
struct perilune_call {
    perilune_rows *rows;
    perilune_database *database;
    uint64_t token; /* of the handle or prepared statement: 0 outlives the access */
    perilune_access *access;
    perilune_statement *statement;
    int statement_index;
    perilune_arguments arguments;
    int class_index; /* of what records are made of, or 0 */
    bool is_batch, allows_null;
    lua_Integer changes; /* rows changed by the last statement that went through GRDB */
    bool has_inserted;   /* a row with an id, by the last one */
};

/* Begins a run, in the list of an access or of a connection, and binds the arguments. */
void perilune_start(lua_State *L, perilune_call *call, perilune_statement **list);

/* Tells GRDB what a statement is about to read. */
void perilune_record_read(lua_State *L, perilune_call *call);

/* Steps once; raises failures. Returns whether there is a row. */
bool perilune_step(lua_State *L, perilune_call *call);

/* Whether the statement is a change that may be stepped here, and not through GRDB. */
bool perilune_may_step_change(perilune_call *call);

/* Takes what a run has changed, and ends it. */
void perilune_end_change(perilune_call *call);

/* Runs a statement that is no SELECT and whose parameters are bound. Pushes the list of its rows, unless they are discarded. */
void perilune_run_bound(lua_State *L, perilune_call *call, perilune_row_form form, lua_Integer limit);

/* Whether a change needs a guard, because a collation of a script may fail in it. Takes the guard that is open, if it has been
** opened for this call. */
bool perilune_needs_guard(lua_State *L, perilune_database *database);

/* Calls a function with everything on the stack as arguments, guarded; `access` is the open one, or NULL. */
int perilune_run_guarded(lua_State *L, perilune_rows *rows, perilune_database *database, perilune_access *access,
                         lua_CFunction function);

/* Calls a function with everything on the stack as arguments, in an access of its own; of a pool to read, on a reader. */
int perilune_run_in_access(lua_State *L, perilune_rows *rows, perilune_database *database, bool is_read,
                           lua_CFunction function);

/* Runs a statement and pushes the list of what it gives. */
void perilune_fetch(lua_State *L, perilune_call *call, perilune_row_form form, lua_Integer limit);

/* Push the list of the records, and the first record or nil; return 1. */
int perilune_fetch_records(lua_State *L, perilune_call *call);
int perilune_fetch_record(lua_State *L, perilune_call *call);

/* Pushes what a generic for needs to iterate: iterator, cursor, nil, cursor. */
int perilune_open_cursor(lua_State *L, perilune_call *call, perilune_row_form form);

#endif
