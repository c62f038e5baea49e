/* What the verbs and the cursors share. */
#ifndef PERILUNE_VERBS_H
#define PERILUNE_VERBS_H

#include "CPeriluneRecords/Model/records.h"

typedef struct pdb_call pdb_call;

/* One call of a verb, with its access open and its statement compiled. */
struct pdb_call {
    pdb_state *rows;
    pdb_database *database;
    uint64_t token; /* of the handle or prepared statement: 0 outlives the access */
    pdb_access *access;
    pdb_statement *statement;
    int statement_index;
    pdb_arguments arguments;
    int class_index; /* of what records are made of, or 0 */
    bool is_prepared; /* of a prepared statement, at 1; else its SQL is at 2 */
    bool is_batch, allows_null;
    lua_Integer changes; /* rows changed by the last statement that went through GRDB */
    bool has_inserted;   /* a row with an id, by the last one */
};

/* Begins a run, in the list of an access or of a connection, and binds the arguments. */
void pdb_start(lua_State *L, pdb_call *call, pdb_statement **list);

/* Tells GRDB what a statement is about to read. */
void pdb_record_read(lua_State *L, pdb_call *call);

/* Steps once; raises failures. Returns whether there is a row. */
static inline bool pdb_step(lua_State *L, pdb_call *call) {
    int code = sqlite3_step(call->statement->handle);
    if (call->rows->has_pending_error) pdb_raise_failure(L, call->statement);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) pdb_raise_sqlite(L, call->access->connection, call->statement, code);
    return false;
}

/* Rows between two looks at whether the run is to end. */
enum { pdb_rows_per_check = 256 };

/* Looks at it, after so many rows; raises if it is. */
static inline void pdb_check_limits(lua_State *L, pdb_call *call, lua_Integer count) {
    if (call->rows->context->limited) plua_count_work(L, call->statement->column_count);
    else if (count % pdb_rows_per_check == 0 && pdb_is_cancelled(call->rows)) plua_raise_cancellation(L);
}

/* Steps to the first row of a direct statement. */
static inline bool pdb_step_once(lua_State *L, pdb_call *call) {
    pdb_start(L, call, &call->access->active);
    return pdb_step(L, call);
}

/* Whether it is an INSERT, UPDATE or DELETE. */
bool pdb_is_change(const pdb_statement *statement);

/* Whether the statement is a change that may be stepped here, and not through GRDB. */
bool pdb_may_step_change(pdb_call *call);

/* Takes what a run has changed, and ends it. */
void pdb_end_change(pdb_call *call);

/* Runs a statement that is no SELECT and whose parameters are bound. Pushes the list of its rows, unless they are discarded. */
void pdb_run_bound(lua_State *L, pdb_call *call, pdb_row_form form, lua_Integer limit);

/* Begins a run and does the same with it. */
void pdb_run_through_grdb(lua_State *L, pdb_call *call, pdb_row_form form, lua_Integer limit);

/* MARK: - From a call of a script to a verb */

typedef struct {
    const char *name;
    int (*body)(lua_State *L, pdb_call *call);
    bool is_read;       /* a pool may try it on a reader */
    bool takes_several; /* statements in one text */
    bool runs;          /* and does not only look at a statement */
    bool takes_class;   /* of records, after the SQL or the statement */
} pdb_verb;

int pdb_call_on_database(lua_State *L, const pdb_verb *verb);
int pdb_call_on_statement(lua_State *L, const pdb_verb *verb);

/* Whether a change needs a guard, because a collation of a script may fail in it. Takes the guard that is open, if it has been
** opened for this call. */
bool pdb_needs_guard(lua_State *L, pdb_database *database);

/* Whether the statement of a call cannot run on the connection of its access, which only reads. */
bool pdb_wants_writer(const pdb_call *call);

int pdb_execute(lua_State *L, pdb_call *call);

/* MARK: - Fetching */

/* Raises that a row has NULL in place of a value. */
int pdb_raise_null(lua_State *L, pdb_call *call, lua_Integer row);

/* Runs a statement and pushes the list of what it gives. */
void pdb_fetch(lua_State *L, pdb_call *call, pdb_row_form form, lua_Integer limit);

/* Push the list of the records, and the first record or nil; return 1. */
int prec_fetch_records(lua_State *L, pdb_call *call);
int prec_fetch_record(lua_State *L, pdb_call *call);

/* Pushes what a generic for needs to iterate: iterator, cursor, nil, cursor. */
int pdb_open_cursor(lua_State *L, pdb_call *call, pdb_row_form form);

#endif
