/* The methods that scripts call: arguments, statements that run, what becomes of their rows. */
#ifndef PERILUNE_QUERIES_INTERNAL_H
#define PERILUNE_QUERIES_INTERNAL_H

#include <perilune_queries.h>

#include "CPeriluneRows/Accesses/accesses.h"
#include "CPeriluneRows/Rows/rows.h"

/* The methods of databases and of prepared statements that run SQL. */
extern const luaL_Reg pdb_database_verbs[], pdb_statement_verbs[];

/* Makes the metatable of cursors. [-0, +0, m] */
void pdb_open_cursors(lua_State *L);

/* Makes the metatable of open blobs. [-0, +0, m] */
void pdb_open_open_blobs(lua_State *L);

/* MARK: - Arguments */

/* The arguments of a call, which several statements may share. */
typedef struct {
    const char *verb;
    pdb_statement *statement; /* that is being bound, or NULL: its run ends if something is wrong */
    int first, count; /* on the stack */
    int table;        /* the index of the one table that holds them, or 0 */
    lua_Integer list_count; /* the length of the list, of values or in the table */
    lua_Integer taken;      /* the number handed out */
    int named;              /* the number of parameters bound by name */
    int used;         /* index of a table of the names used so far, or 0: for several statements */
} pdb_arguments;

/* The arguments from `first` to the top of the stack: values, or one table that holds them. [-0, +0, -] */
pdb_arguments pdb_arguments_at(lua_State *L, const char *verb, int first);

/* Binds the arguments of one statement. Leaves values on the stack that must stay until the statement is reset. [-0, +n, e] */
void pdb_bind_arguments(lua_State *L, pdb_statement *statement, int statement_index,
                             pdb_arguments *arguments);

/* Raises if arguments are left over. [-0, +0, e] */
void pdb_check_all_used(lua_State *L, pdb_statement *statement, int statement_index,
                             pdb_arguments *arguments);


/* MARK: - Calls */

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

/* Begins a run, in the list of an access or of a connection, and binds the arguments. [-0, +n, e] */
void pdb_start(lua_State *L, pdb_call *call, pdb_statement **list);

/* Reports to GRDB what a statement is about to read. [-0, +0, e] */
void pdb_record_read(lua_State *L, pdb_call *call);

/* Steps once; raises failures. Returns whether there is a row. [-0, +0, v] */
static inline bool pdb_step(lua_State *L, pdb_call *call) {
    int code = sqlite3_step(call->statement->handle);
    if (call->rows->has_pending_error) pdb_raise_failure(L, call->statement);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) pdb_raise_sqlite(L, call->access->connection, call->statement, code);
    return false;
}

/* Rows between two looks at whether the run is to end. */
enum { pdb_rows_per_check = 256 };

/* Checks it after a number of rows; raises if it is. [-0, +0, v] */
static inline void pdb_check_limits(lua_State *L, pdb_call *call, lua_Integer count) {
    if (call->rows->context->limited) plua_count_work(L, call->statement->column_count);
    else if (count % pdb_rows_per_check == 0 && pdb_is_cancelled(call->rows)) plua_raise_cancellation(L);
}

/* Steps to the first row of a direct statement. [-0, +n, e] */
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

/* Runs a statement other than a SELECT whose parameters are bound. Pushes the list of its rows, or nothing without a form.
** [-0, +(0|2), e] */
void pdb_run_bound(lua_State *L, pdb_call *call, const pdb_row_form *form, lua_Integer limit);

/* Begins a run and does the same with it. [-0, +n, e] */
void pdb_run_through_grdb(lua_State *L, pdb_call *call, const pdb_row_form *form, lua_Integer limit);

/* MARK: - Forms of rows */

/* A loop over the rows of a statement, of which the form may keep what it needs. */
typedef struct {
    pdb_call *call;
    int source; /* on the stack: what the form has pushed for the statement */
    int first, second; /* on the stack: what it has pushed for the loop */
    const void *detail;
    void *state; /* NULL at first */
} pdb_row_loop;

/*
** What becomes of rows: tables, values, or what a target above makes of them. `source` is the stack index of what `push_source` has
** pushed; it stays as long as the statement runs. Rows that go through GRDB are pushed with frames of Swift below: `push` raises
** nothing, and what goes wrong there is kept as the pending error.
*/
struct pdb_row_form {
    /* Whether push_source can be called on the first row of all, since it raises nothing; otherwise it is called before a run through
    ** GRDB. */
    bool begins_on_first_row;
    /* Pushes what rows are made from, once the columns are known. [-0, +1] */
    void (*push_source)(lua_State *L, pdb_call *call);
    /* Pushes the row that the statement stands on; returns false, and pushes nothing, if it has other columns than the source.
    ** [-0, +(0|1), m] */
    bool (*push)(lua_State *L, pdb_statement *statement, int source);
    /* For many rows: pushes what each of them needs, and then row by row; push_next returns false if there is NULL where none may be.
    ** [-0, +n, m] and [-0, +1, m] */
    void (*begin)(lua_State *L, pdb_row_loop *loop);
    bool (*push_next)(lua_State *L, pdb_row_loop *loop);
    /* Looks at the row, or the list of rows, on top of the stack when the statement has ended. May raise. NULL: nothing to do. [-0, +0] */
    void (*end)(lua_State *L, pdb_state *rows);
};

extern const pdb_row_form pdb_rows_form;   /* row tables */
extern const pdb_row_form pdb_tuples_form; /* lists of values with a field n */
extern const pdb_row_form pdb_exact_tuples_form; /* the same with blobs for BLOBs */
extern const pdb_row_form pdb_values_form; /* first columns, perilune.null for NULL */

/* Looks at the row, or the list of rows, on top of the stack, if the form wants that. [-0, +0, e] */
static inline void pdb_end_rows(lua_State *L, pdb_state *rows, const pdb_row_form *form) {
    if (form->end) form->end(L, rows);
}

/* MARK: - From a call of a script to a verb */

typedef struct {
    const char *name;
    int (*body)(lua_State *L, pdb_call *call);
    bool is_read;       /* a pool may try it on a reader */
    bool takes_several; /* statements in one text */
    bool runs;          /* and does not only look at a statement */
    bool takes_class;   /* of records, after the SQL or the statement */
} pdb_verb;

/* What Lua functions are that run a verb: with a database, or a prepared statement, below the other arguments. Return the number
** of results. [-n, +n, e] */
int pdb_call_on_database(lua_State *L, const pdb_verb *verb);
int pdb_call_on_statement(lua_State *L, const pdb_verb *verb);

/* Whether the statement of a call cannot run on the connection of its access, which only reads. */
bool pdb_wants_writer(const pdb_call *call);

/* Define a verb, and its functions for databases and for prepared statements. */
#define PDB_VERB(name, body, text, is_read, takes_several, runs, takes_class) \
    static const pdb_verb name##_verb = {text, body, is_read, takes_several, runs, takes_class};
#define PDB_ON_DATABASES(name) \
    static int database_##name(lua_State *L) { return pdb_call_on_database(L, &name##_verb); }
#define PDB_ON_STATEMENTS(name) \
    static int statement_##name(lua_State *L) { return pdb_call_on_statement(L, &name##_verb); }

/* The body of `execute`. [-0, +1, e] */
int pdb_execute(lua_State *L, pdb_call *call);

/* MARK: - Fetching */

/* Raises that a row has NULL in place of a value. [-0, +0, e] */
int pdb_raise_null(lua_State *L, pdb_call *call, lua_Integer row);

/* Runs a statement and pushes the list of what it gives. [-0, +n, e] */
void pdb_fetch(lua_State *L, pdb_call *call, const pdb_row_form *form, lua_Integer limit);

/* Pushes the first row that a statement gives, or nil; runs it no further. [-0, +n, e] */
void pdb_fetch_first(lua_State *L, pdb_call *call, const pdb_row_form *form);

/* Pushes what a generic for needs to iterate: iterator, cursor, nil, cursor. [-0, +n, e] */
int pdb_open_cursor(lua_State *L, pdb_call *call, const pdb_row_form *form);

#endif
