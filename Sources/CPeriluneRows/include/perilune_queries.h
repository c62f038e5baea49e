/*
** The interface to Swift for running SQL.
*/
#ifndef PERILUNE_QUERIES_H
#define PERILUNE_QUERIES_H

#include <perilune_accesses.h>

typedef struct pdb_call pdb_call;

/* The form of fetched rows; see queries.h. */
typedef struct pdb_row_form pdb_row_form;

struct pdb_execution {
    lua_State *L;
    pdb_call *call;
    pdb_statement *statement;
    const pdb_row_form *form; /* NULL to discard the rows */
    lua_Integer limit; /* the number of rows wanted; further rows are skipped */
    lua_Integer count; /* the number of rows taken */
    int list; /* the stack index of the list of rows; the form's source is below it */
    void *committing; /* GRDB's connection, on which the statement's commit is refused if the run is to end; or NULL */
    bool is_stale; /* the columns differ from the ones for which the form was prepared */
};

/* Receives the current row. Swift calls it within `run`. Raises nothing. */
void pdb_take_row(pdb_execution *run);

/* The Lua function pdb_open_blob_in_access takes (handle, schema, table, column, row id, whether it is writable), and returns a blob that
** is open until the access ends. The other function pushes the method table of open blobs. [-n, +1, e] and [-0, +1, m] */
int pdb_open_blob_in_access(lua_State *L);
void pdb_push_open_blob_methods(lua_State *L);

#endif
