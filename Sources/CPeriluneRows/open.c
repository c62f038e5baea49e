/* Opening of the row path in a state. Only this file depends on all folders: it opens them and combines the methods of databases and
** prepared statements. */
#include <perilune_opening.h>

#include "CPeriluneRows/Functions/functions.h"
#include "CPeriluneRows/Observers/observers.h"
#include "CPeriluneRows/Queries/queries.h"

/* Adds functions to the table on top of the stack, and pops the table. [-1, +0, m] */
static void add_methods(lua_State *L, const luaL_Reg *methods) {
    luaL_setfuncs(L, methods, 0);
    lua_pop(L, 1);
}

void pdb_open(lua_State *L, const pdb_callbacks *callbacks) {
    pdb_make_state(L, callbacks);
    pdb_open_null(L);
    pdb_open_blobs(L);
    pdb_open_pending_errors(L);
    pdb_open_databases(L);
    pdb_open_statements(L);
    pdb_open_rows(L);
    pdb_open_lists(L);
    pdb_open_changes(L);
    pdb_open_functions(L);
    pdb_open_cursors(L);
    pdb_open_open_blobs(L);
    pdb_open_observers(L);
    pdb_push_database_methods(L);
    luaL_setfuncs(L, pdb_database_blocks, 0);
    add_methods(L, pdb_database_verbs);
    pdb_push_statement_methods(L);
    add_methods(L, pdb_statement_verbs);
}
