/* Running SQL for database methods: arguments, runs, and the forms of rows. */
#ifndef PERILUNE_QUERIES_INTERNAL_H
#define PERILUNE_QUERIES_INTERNAL_H

#include <perilune_queries.h>

#include "CPeriluneRows/Accesses/accesses.h"
#include "CPeriluneRows/Rows/rows.h"

/* The methods that run SQL. */
extern const luaL_Reg pdb_database_verbs[], pdb_statement_verbs[];

/* Creates the metatable of cursors. [-0, +0, m] */
void pdb_open_cursors(lua_State *L);

/* Creates the metatable of open blobs. [-0, +0, m] */
void pdb_open_open_blobs(lua_State *L);

/* MARK: - Arguments */

/* The arguments of a call. Several statements may share them. */
typedef struct {
    const char *verb;
    pdb_statement *statement; /* the statement being bound, whose run ends on errors; or NULL */
    int first, count; /* stack indices */
    int table;        /* the index of the table that holds all arguments, or 0 */
    lua_Integer list_count; /* the number of positional arguments, on the stack or in the table */
    lua_Integer taken;      /* the number of positional arguments used so far */
    int named;              /* the number of parameters bound by name */
    int used;         /* for several statements, the stack index of a table of used names; or 0 */
} pdb_arguments;

/* Returns the arguments from `first` to the top of the stack: values, or one table that contains all values. [-0, +0, -] */
pdb_arguments pdb_arguments_at(lua_State *L, const char *verb, int first);

/* Binds the arguments of one statement. Leaves values on the stack that must stay there until the statement is reset. [-0, +n, e] */
void pdb_bind_arguments(lua_State *L, pdb_statement *statement, int statement_index,
                             pdb_arguments *arguments);

/* Raises if some arguments have not been used. [-0, +0, e] */
void pdb_check_all_used(lua_State *L, pdb_statement *statement, int statement_index,
                             pdb_arguments *arguments);


/* MARK: - Calls */

/* A call of a verb with its open access and compiled statement. */
struct pdb_call {
    pdb_state *rows;
    pdb_database *database;
    uint64_t token; /* the token of the handle or prepared statement; 0 for the database object, whose cursors may outlive the access */
    pdb_access *access;
    pdb_statement *statement;
    int statement_index;
    pdb_arguments arguments;
    int class_index; /* the index of the record class, or 0 */
    bool is_prepared; /* called on a prepared statement at 1; otherwise the SQL is at 2 */
    bool is_batch, allows_null;
    lua_Integer changes; /* rows changed by the last statement that went through GRDB */
    bool has_inserted;   /* the last statement has inserted a row with an id */
};

/* Starts a run in the list of an access or connection and binds the arguments. [-0, +n, e] */
void pdb_start(lua_State *L, pdb_call *call, pdb_statement **list);

/* Reports to GRDB the database region that a statement reads. [-0, +0, e] */
void pdb_record_read(lua_State *L, pdb_call *call);

/* Steps once; raises on failure. Returns whether there is a row. [-0, +0, v] */
static inline bool pdb_step(lua_State *L, pdb_call *call) {
    int code = sqlite3_step(call->statement->handle);
    if (call->rows->has_pending_error) pdb_raise_failure(L, call->statement);
    if (code == SQLITE_ROW) {
        call->rows->context->usage.rows++;
        return true;
    }
    if (code != SQLITE_DONE) pdb_raise_sqlite(L, call->access->connection, call->statement, code);
    return false;
}

/* The number of rows between checks of the limits. */
enum { pdb_rows_per_check = 256 };

/* Checks the limits, at intervals of rows. `count` is the number of rows so far. Raises if the run is to end. [-0, +0, v] */
static inline void pdb_check_limits(lua_State *L, pdb_call *call, lua_Integer count) {
    if (call->rows->context->limited) plua_count_work(L, call->statement->column_count);
    else if (count % pdb_rows_per_check == 0 && pdb_is_cancelled(call->rows)) plua_raise_cancellation(L);
}

/* Begins a run of a statement that is stepped here, and steps to its first row. [-0, +n, e] */
static inline bool pdb_step_once(lua_State *L, pdb_call *call) {
    pdb_start(L, call, &call->access->active);
    return pdb_step(L, call);
}

/* Returns whether a statement is an INSERT, UPDATE or DELETE. */
bool pdb_is_change(const pdb_statement *statement);

/* Returns whether the statement is a change that may be stepped here instead of through GRDB. */
bool pdb_may_step_change(pdb_call *call);

/* Records the effects of a run and ends it. */
void pdb_end_change(pdb_call *call);

/* Runs a statement that is not a SELECT and whose parameters are bound. Pushes the list of its rows, or nothing if `form` is NULL.
** [-0, +(0|2), e] */
void pdb_run_bound(lua_State *L, pdb_call *call, const pdb_row_form *form, lua_Integer limit);

/* Begins a run and passes it to pdb_run_bound. [-0, +n, e] */
void pdb_run_through_grdb(lua_State *L, pdb_call *call, const pdb_row_form *form, lua_Integer limit);

/* MARK: - Forms of rows */

/* A loop that creates rows, with data for the form. */
typedef struct {
    pdb_call *call;
    int source; /* the stack index of the value pushed by push_source */
    int first, second; /* the stack indices of the values pushed by begin */
    const void *detail;
    void *state; /* initially NULL */
} pdb_row_loop;

/*
** The form of fetched rows: tables, values, or records, which a higher target adds. `source` is the stack index of the value that
** `push_source` has pushed; the value stays there while the statement runs. Rows from GRDB are pushed with Swift frames on the stack:
** `push` raises nothing, and its errors become the pending error.
*/
struct pdb_row_form {
    /* Whether push_source raises nothing, so that it may be called at the first row. Otherwise it is called before a run through GRDB. */
    bool begins_on_first_row;
    /* Pushes the value from which rows are created. The columns are known. [-0, +1] */
    void (*push_source)(lua_State *L, pdb_call *call);
    /* Pushes the current row. Returns false and pushes nothing if its columns differ from the source's. [-0, +(0|1), m] */
    bool (*push)(lua_State *L, pdb_statement *statement, int source);
    /* For many rows: `begin` pushes shared values, and `push_next` pushes each row. It returns false for NULL if NULL is not allowed.
    ** [-0, +n, m] and [-0, +1, m] */
    void (*begin)(lua_State *L, pdb_row_loop *loop);
    bool (*push_next)(lua_State *L, pdb_row_loop *loop);
    /* Inspects the row or list of rows on top of the stack after the statement has ended. May raise. May be NULL. [-0, +0] */
    void (*end)(lua_State *L, pdb_state *rows);
};

extern const pdb_row_form pdb_rows_form;   /* row tables */
extern const pdb_row_form pdb_tuples_form; /* lists of values with a field n */
extern const pdb_row_form pdb_exact_tuples_form; /* lists of values in which BLOBs are blobs */
extern const pdb_row_form pdb_values_form; /* first columns, perilune.null for NULL */

/* Calls the form's `end`, if any, with the row or list on top of the stack. [-0, +0, e] */
static inline void pdb_end_rows(lua_State *L, pdb_state *rows, const pdb_row_form *form) {
    if (form->end) form->end(L, rows);
}

/* MARK: - Calls by scripts */

typedef struct {
    const char *name;
    int (*body)(lua_State *L, pdb_call *call);
    bool is_read;       /* a pool may run it on a reader first */
    bool takes_several; /* accepts several statements in one text */
    bool runs;          /* runs the statement instead of inspecting it */
    bool takes_class;   /* accepts a record class after the SQL or statement */
} pdb_verb;

/* Run a verb for a script's call, with a database or a prepared statement as the first argument. Return the number of results.
** [-n, +n, e] */
int pdb_call_on_database(lua_State *L, const pdb_verb *verb);
int pdb_call_on_statement(lua_State *L, const pdb_verb *verb);

/* Returns whether the call's statement needs a writing connection, but its access is only for reading. */
bool pdb_wants_writer(const pdb_call *call);

/* Defines a verb and its functions for databases and prepared statements. */
#define PDB_VERB(name, body, text, is_read, takes_several, runs, takes_class) \
    static const pdb_verb name##_verb = {text, body, is_read, takes_several, runs, takes_class};
#define PDB_ON_DATABASES(name) \
    static int database_##name(lua_State *L) { return pdb_call_on_database(L, &name##_verb); }
#define PDB_ON_STATEMENTS(name) \
    static int statement_##name(lua_State *L) { return pdb_call_on_statement(L, &name##_verb); }

/* The body of `execute`. [-0, +1, e] */
int pdb_execute(lua_State *L, pdb_call *call);

/* MARK: - Fetching */

/* Raises an error that a row has NULL where a value is required. [-0, +0, e] */
int pdb_raise_null(lua_State *L, pdb_call *call, lua_Integer row);

/* Runs a statement and pushes the list of its rows. [-0, +n, e] */
void pdb_fetch(lua_State *L, pdb_call *call, const pdb_row_form *form, lua_Integer limit);

/* Pushes the first row of a statement, or nil, and ends the run. [-0, +n, e] */
void pdb_fetch_first(lua_State *L, pdb_call *call, const pdb_row_form *form);

/* Pushes the values for a generic `for`: iterator, cursor, nil, cursor. [-0, +n, e] */
int pdb_open_cursor(lua_State *L, pdb_call *call, const pdb_row_form *form);

#endif
