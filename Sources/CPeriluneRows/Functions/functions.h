/* SQL functions, aggregates and collations written in Lua. */
#ifndef PERILUNE_FUNCTIONS_INTERNAL_H
#define PERILUNE_FUNCTIONS_INTERNAL_H

#include <perilune_functions.h>

#include "CPeriluneRows/Accesses/accesses.h"

/* Registers the room with the connections. [-0, +0, -] */
void pdb_open_functions(lua_State *L);

/*
** What the functions of one Lua state share. Databases may outlive the state, and with them the functions that SQLite keeps:
** so they reach the state through a record of its own, which says whether it is still there.
*/
typedef struct {
    _Atomic(int) owners; /* the state, and each function that SQLite keeps */
    pdb_state *rows; /* NULL once the state is closed */
} pdb_liveness;

/* What SQLite keeps for each function; freed by it. */
typedef struct {
    pdb_liveness *state;
    sqlite3 *handle;
    int body; /* reference to the function, or to the table of an aggregate */
} pdb_definition;

/* What a protected call of a body gets, as light userdata below its other arguments. */
typedef struct {
    sqlite3_context *context; /* NULL where no result is wanted */
    sqlite3_value **values;
    int count;
    pdb_definition *self;
    int state; /* of an aggregate: a reference */
    const char *field; /* of an aggregate: which function */
    int comparison; /* of a collation */
    const char *texts[2];
    int lengths[2];
} pdb_invocation;

/* The coroutine on which the function may run, or NULL: another thread steps a statement that uses it, or the state is
** closed. Databases are out of reach until pdb_leave_callback. */
lua_State *pdb_enter_callback(pdb_definition *self, pdb_place *former);
void pdb_leave_callback(pdb_definition *self, pdb_place former);

/* Runs `body` protected; a failure becomes the statement's, and the pending error. [-0, +0, m] */
bool pdb_invoke(lua_State *L, lua_CFunction body, pdb_invocation *call);

/* MARK: - What SQLite calls */

void pdb_call_function(sqlite3_context *context, int count, sqlite3_value **values);
void pdb_step_aggregate(sqlite3_context *context, int count, sqlite3_value **values);
void pdb_reverse_aggregate(sqlite3_context *context, int count, sqlite3_value **values);
void pdb_value_of_aggregate(sqlite3_context *context);
void pdb_finish_aggregate(sqlite3_context *context);
int pdb_call_collation(void *user_data, int left_length, const void *left, int right_length, const void *right);

#endif
