/* SQL functions, aggregates and collations written in Lua. */
#ifndef PERILUNE_FUNCTIONS_INTERNAL_H
#define PERILUNE_FUNCTIONS_INTERNAL_H

#include <perilune_functions.h>

#include "CPeriluneRows/Accesses/accesses.h"

/* Adds the connection hook that defines the functions of scripts. [-0, +0, -] */
void pdb_open_functions(lua_State *L);

/*
** The liveness of a Lua state, shared by its functions. Databases, and with them the functions that SQLite keeps, may outlive the
** state, so the functions reach it through this separate record.
*/
typedef struct {
    _Atomic(int) owners; /* the state and each function that SQLite keeps */
    pdb_state *rows; /* NULL after the state has closed */
} pdb_liveness;

/* The data that SQLite keeps for each function and frees. */
typedef struct {
    pdb_liveness *state;
    sqlite3 *handle;
    int body; /* a reference to the function or to the table of an aggregate */
} pdb_definition;

/* The context of a protected call, passed as light userdata below the other arguments. */
typedef struct {
    sqlite3_context *context; /* NULL if no result is wanted */
    sqlite3_value **values;
    int count;
    pdb_definition *self;
    int state; /* the state of an aggregate, a reference */
    const char *field; /* the function of an aggregate to call */
    int comparison; /* the result of a collation */
    const char *texts[2];
    int lengths[2];
} pdb_invocation;

/* Returns the coroutine on which the function may run, or NULL if another thread steps the statement or the state is closed.
** Databases cannot be used until pdb_leave_callback. */
lua_State *pdb_enter_callback(pdb_definition *self, pdb_place *former);
void pdb_leave_callback(pdb_definition *self, pdb_place former);

/* Runs `body` protected. A failure becomes the statement's failure and the pending error. [-0, +0, m] */
bool pdb_invoke(lua_State *L, lua_CFunction body, pdb_invocation *call);

/* MARK: - What SQLite calls */

void pdb_call_function(sqlite3_context *context, int count, sqlite3_value **values);
void pdb_step_aggregate(sqlite3_context *context, int count, sqlite3_value **values);
void pdb_reverse_aggregate(sqlite3_context *context, int count, sqlite3_value **values);
void pdb_value_of_aggregate(sqlite3_context *context);
void pdb_finish_aggregate(sqlite3_context *context);
int pdb_call_collation(void *user_data, int left_length, const void *left, int right_length, const void *right);

#endif
