/* Tasks: running the work of a verb in its access. */
#include "CPeriluneRows/Accesses/accesses.h"

/*
** Runs the body of a task inside an access opened for it. The arguments are the verb's whole stack, so that indices stay valid.
*/
static int run_inside(lua_State *L) {
    pdb_access *access = pdb_state_of(L)->access;
    pdb_task *task = access->request->context;
    int count = lua_gettop(L);
    int results = task->body(L, access, task->context);
    if (results != PDB_WANTS_WRITER) return results;
    task->wants_writer = true;
    lua_settop(L, count);
    return count;
}

/* Runs a task in a new access, nested in the open one if there is one. */
static int enter(lua_State *L, pdb_task *task, pdb_access_mode mode) {
    pdb_state *rows = task->database->rows;
    int count = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK, "too many arguments");
    lua_pushcfunction(L, run_inside);
    lua_insert(L, 1);
    if (task->access) return pdb_enter_nested(L, rows, task->access, mode, count, task);
    return pdb_enter(L, rows, task->database, mode, count, task);
}

int pdb_run_task(lua_State *L, pdb_task *task) {
    if (task->is_guarded) return enter(L, task, PDB_GUARD);
    if (task->access) return task->body(L, task->access, task->context);
    if (task->is_read && (task->database->flags & PDB_DATABASE_POOL) && !task->database->wants_writer) {
        int results = enter(L, task, PDB_READ_STATEMENT);
        if (!task->wants_writer) return results;
    }
    return enter(L, task, PDB_WRITE_STATEMENT);
}

/* MARK: - Guards */

/*
** A collation cannot report an error to SQLite: the statement would continue and put rows at wrong positions in an index. Therefore, on
** databases with script collations, each change runs in a transaction or savepoint that is rolled back on errors.
*/
bool pdb_needs_guard(lua_State *L, pdb_database *database) {
    if (!database->has_collations) return false;
    pdb_access *access = pdb_current_access(L, database);
    if (access && access->is_readonly) return false;
    if (access && access->mode == PDB_GUARD && !access->is_taken) {
        access->is_taken = true; /* by the call that opened it */
        return false;
    }
    return true;
}
