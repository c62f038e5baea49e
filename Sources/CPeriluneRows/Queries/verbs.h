/* What the verbs and the cursors share. */
#ifndef PERILUNE_VERBS_H
#define PERILUNE_VERBS_H

#include "CPeriluneRecords/Model/records.h"

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
static inline bool perilune_step(lua_State *L, perilune_call *call) {
    int code = sqlite3_step(call->statement->handle);
    if (call->rows->has_pending_error) perilune_raise_failure(L, call->statement);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) perilune_raise_sqlite(L, call->access->connection, call->statement, code);
    return false;
}

/* Rows between two looks at whether the run is to end. */
enum { perilune_rows_per_look = 256 };

/* Looks at it, after so many rows; raises if it is. */
static inline void perilune_look(lua_State *L, perilune_call *call, lua_Integer count) {
    if (call->rows->context->limited) plua_count_work(L, call->statement->column_count);
    else if (count % perilune_rows_per_look == 0 && perilune_is_doomed(call->rows)) plua_raise_cancellation(L);
}

/* Steps to the first row of a direct statement. */
static inline bool perilune_step_once(lua_State *L, perilune_call *call) {
    perilune_start(L, call, &call->access->active);
    return perilune_step(L, call);
}

/* Whether it is an INSERT, UPDATE or DELETE. */
bool perilune_is_change(const perilune_statement *statement);

/* Whether the statement is a change that may be stepped here, and not through GRDB. */
bool perilune_may_step_change(perilune_call *call);

/* Takes what a run has changed, and ends it. */
void perilune_end_change(perilune_call *call);

/* Runs a statement that is no SELECT and whose parameters are bound. Pushes the list of its rows, unless they are discarded. */
void perilune_run_bound(lua_State *L, perilune_call *call, perilune_row_form form, lua_Integer limit);

/* Begins a run and does the same with it. */
void perilune_run_through_grdb(lua_State *L, perilune_call *call, perilune_row_form form, lua_Integer limit);

/* MARK: - From a call of a script to a verb */

typedef struct {
    const char *name;
    int (*body)(lua_State *L, perilune_call *call);
    lua_CFunction database_function, statement_function;
    bool is_read;       /* a pool may try it on a reader */
    bool takes_several; /* statements in one text */
    bool runs;          /* and does not only look at a statement */
    bool takes_class;   /* of records, after the SQL or the statement */
} perilune_verb;

int perilune_call_on_database(lua_State *L, const perilune_verb *verb);
int perilune_call_on_statement(lua_State *L, const perilune_verb *verb);

/* Whether a change needs a guard, because a collation of a script may fail in it. Takes the guard that is open, if it has been
** opened for this call. */
bool perilune_needs_guard(lua_State *L, perilune_database *database);

/* Calls a function with everything on the stack as arguments, guarded; `access` is the open one, or NULL. */
int perilune_run_guarded(lua_State *L, perilune_rows *rows, perilune_database *database, perilune_access *access,
                         lua_CFunction function);

/* Calls a function with everything on the stack as arguments, in an access of its own; of a pool to read, on a reader. */
int perilune_run_in_access(lua_State *L, perilune_rows *rows, perilune_database *database, bool is_read,
                           lua_CFunction function);

int perilune_execute(lua_State *L, perilune_call *call);

/* MARK: - Fetching */

/* Raises that a row has NULL in place of a value. */
int perilune_raise_null(lua_State *L, perilune_call *call, lua_Integer row);

/* Runs a statement and pushes the list of what it gives. */
void perilune_fetch(lua_State *L, perilune_call *call, perilune_row_form form, lua_Integer limit);

/* Push the list of the records, and the first record or nil; return 1. */
int perilune_fetch_records(lua_State *L, perilune_call *call);
int perilune_fetch_record(lua_State *L, perilune_call *call);

/* Pushes what a generic for needs to iterate: iterator, cursor, nil, cursor. */
int perilune_open_cursor(lua_State *L, perilune_call *call, perilune_row_form form);

#endif
