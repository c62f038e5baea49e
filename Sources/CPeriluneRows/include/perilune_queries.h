/*
** The methods that scripts call, as far as Swift has a part in them.
*/
#ifndef PERILUNE_QUERIES_H
#define PERILUNE_QUERIES_H

#include <perilune_accesses.h>

typedef struct pdb_call pdb_call;

/* What becomes of the rows of an execution; see queries.h. */
typedef struct pdb_row_form pdb_row_form;

struct pdb_execution {
    lua_State *L;
    pdb_call *call;
    pdb_statement *statement;
    const pdb_row_form *form; /* NULL: they are discarded */
    lua_Integer limit; /* rows wanted; those beyond are stepped over */
    lua_Integer count; /* rows taken */
    int list; /* stack index; below it is what the form has pushed for the statement */
    void *committing; /* GRDB's connection, where what the statement commits is refused once the run is to end; or NULL */
    bool is_stale; /* the columns are others than those that the form was prepared for */
};

/* Takes the row that the statement stands on. Called by Swift within `run`; raises nothing. */
void pdb_take_row(pdb_execution *run);

/* Lua functions: (handle, schema, table, column, row id, whether it is to be written) -> an open blob, which ends with the access that
** is open, and the table of the methods of such blobs. [-n, +1, e] and [-0, +1, m] */
int pdb_open_blob_in_access(lua_State *L);
void pdb_push_open_blob_methods(lua_State *L);

#endif
