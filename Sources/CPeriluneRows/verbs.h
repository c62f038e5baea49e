/* What the verbs and the cursors share. */
#ifndef PERILUNE_VERBS_H
#define PERILUNE_VERBS_H

#include "rows_internal.h"

/* One call of a verb, with its access open and its statement compiled. */
typedef struct {
    perilune_rows *rows;
    perilune_database *database;
    uint64_t token; /* of the handle or prepared statement: 0 outlives the access */
    perilune_access *access;
    perilune_statement *statement;
    int statement_index;
    perilune_arguments arguments;
    bool is_batch, allows_null;
    lua_Integer changes; /* rows changed by the last statement that went through GRDB */
    bool has_inserted;   /* a row with an id, by the last one */
} perilune_call;

/* Begins a run, in the list of an access or of a connection, and binds the arguments. */
void perilune_start(lua_State *L, perilune_call *call, perilune_statement **list);

/* Runs a statement and pushes the list of what it gives. */
void perilune_fetch(lua_State *L, perilune_call *call, perilune_row_form form, lua_Integer limit);

/* Pushes what a generic for needs to iterate: iterator, cursor, nil, cursor. */
int perilune_open_cursor(lua_State *L, perilune_call *call, perilune_row_form form);

#endif
