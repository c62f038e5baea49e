/*
** SQL functions, aggregates and collations written in Lua.
*/
#ifndef PERILUNE_FUNCTIONS_H
#define PERILUNE_FUNCTIONS_H

#include <perilune_accesses.h>

/* A Lua function: (database, definition) adds a function, an aggregate or a collation; see functions.c. [-2, +0, e] */
int pdb_define(lua_State *L);

/* Copies the functions and collations of scripts from one database to another one that has none. [-0, +0, m] */
void pdb_copy_definitions(lua_State *L, pdb_database *from, pdb_database *to);

#endif
