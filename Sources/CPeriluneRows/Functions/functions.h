/* SQL functions, aggregates and collations written in Lua. */
#ifndef PERILUNE_FUNCTIONS_INTERNAL_H
#define PERILUNE_FUNCTIONS_INTERNAL_H

#include <perilune_functions.h>

#include "CPeriluneRows/Accesses/accesses.h"

/* Adds the connection hook that defines scripts' functions on connections. [-0, +0, -] */
void pdb_open_functions(lua_State *L);

/*
** The liveness record of a Lua state, shared by its SQL functions. They reach the state through this record, because a database and the
** functions that SQLite stores in it may outlive the state.
*/
typedef struct {
    _Atomic(int) owners; /* the state, and each function that SQLite stores */
    pdb_state *rows; /* NULL after the state has closed */
} pdb_liveness;

/* The data that SQLite stores for each function and frees. */
typedef struct {
    pdb_liveness *state;
    sqlite3 *handle;
    int body; /* a registry reference to the function, or to the table of an aggregate */
} pdb_definition;

/* The context of a protected call, passed as light userdata below the other arguments. */
typedef struct {
    sqlite3_context *context; /* NULL if no result is wanted */
    sqlite3_value **values;
    int count;
    pdb_definition *self;
    int state; /* a registry reference to the state of an aggregate */
    const char *field; /* the function of the aggregate to call */
    int comparison; /* the result of a collation */
    const char *texts[2];
    int lengths[2];
} pdb_invocation;

/* Prepares to call a function: returns the current coroutine and forbids using databases until pdb_leave_callback. Returns NULL if another
** thread steps the statement or the state is closed. */
lua_State *pdb_enter_callback(pdb_definition *self, pdb_place *former);
void pdb_leave_callback(pdb_definition *self, pdb_place former);

/* Runs `body` in a protected call. An error makes the statement fail and becomes the pending error. [-0, +0, m] */
bool pdb_invoke(lua_State *L, lua_CFunction body, pdb_invocation *call);

/* MARK: - Callbacks from SQLite */

void pdb_call_function(sqlite3_context *context, int count, sqlite3_value **values);
void pdb_step_aggregate(sqlite3_context *context, int count, sqlite3_value **values);
void pdb_reverse_aggregate(sqlite3_context *context, int count, sqlite3_value **values);
void pdb_value_of_aggregate(sqlite3_context *context);
void pdb_finish_aggregate(sqlite3_context *context);
int pdb_call_collation(void *user_data, int left_length, const void *left, int right_length, const void *right);

#endif
