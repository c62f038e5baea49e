/* `execute`: runs one statement, or several statements from one text. */
#include "CPeriluneRows/Queries/queries.h"

/* Pushes the result of an INSERT. The row id is valid only if the statement has inserted a row. */
static int push_insertion(lua_State *L, sqlite3 *handle, lua_Integer changed_rows, bool has_inserted) {
    lua_Integer rowid = has_inserted ? sqlite3_last_insert_rowid(handle) : 0;
    pdb_push_changes(L, changed_rows, has_inserted ? &rowid : NULL);
    return 1;
}

/* Steps a statement to its end and discards its rows. */
static void run_to_end(lua_State *L, pdb_call *call) {
    if (!call->statement->is_direct) {
        pdb_run_through_grdb(L, call, NULL, 0);
        return;
    }
    bool has_row = pdb_step_once(L, call);
    for (lua_Integer i = 1; has_row; i++) {
        pdb_check_limits(L, call, i);
        has_row = pdb_step(L, call);
    }
    pdb_end_run(call->statement);
}

/* MARK: - Several statements */

/* Runs the statements of a batch. Each positional argument is used once, in order; named arguments may be used by several statements. */
static int run_batch(lua_State *L, pdb_call *call, pdb_batch *batch, int sql_index) {
    sqlite3 *handle = call->access->connection->handle;
    lua_Integer total = 0;
    bool has_inserted = false;
    lua_newtable(L);
    call->arguments.used = lua_gettop(L);
    pdb_push_statement(L, sql_index);
    int top = lua_gettop(L);
    while ((call->statement = pdb_next_in_batch(L, call->access, batch, sql_index, top))) {
        call->statement_index = lua_gettop(L);
        run_to_end(L, call);
        if (pdb_is_change(call->statement)) {
            total += call->changes;
            has_inserted = call->has_inserted;
        }
        lua_settop(L, top);
    }
    pdb_check_all_used(L, NULL, 0, &call->arguments);
    return push_insertion(L, handle, total, has_inserted);
}

static int execute_batch(lua_State *L, pdb_call *call, int sql_index) {
    pdb_state *rows = call->rows;
    pdb_batch batch = {0};
    batch.sql = lua_tolstring(L, sql_index, &batch.length);
    /* If an error is raised, the collector frees the batch. Lua does not count Swift's copy of the text. The userdata has the same size, so
    ** the copy counts toward the script's memory limit. */
    void **guard = lua_newuserdatauv(L, sizeof *guard + batch.length, 0);
    *guard = NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pdb_guard_key);
    lua_setmetatable(L, -2);
    bool may_refuse = pdb_begin_host_call(rows);
    int result = rows->callbacks.open_batch(L, call->access->connection->grdb, batch.sql, &batch.object);
    pdb_end_host_call(rows, may_refuse);
    if (result != 0) pdb_raise_failure(L, NULL);
    *guard = batch.object;
    call->is_batch = true;
    call->arguments.taken = 0;
    run_batch(L, call, &batch, sql_index);
    *guard = NULL;
    rows->callbacks.release(batch.object);
    return 1;
}

int pdb_execute(lua_State *L, pdb_call *call) {
    pdb_statement *statement = call->statement;
    sqlite3 *handle = call->access->connection->handle;
    if (statement->handle == NULL) {
        pdb_check_all_used(L, NULL, 0, &call->arguments);
        return push_insertion(L, handle, 0, false);
    }
    if (statement->has_tail) {
        lua_getiuservalue(L, call->statement_index, PDB_SQL);
        pdb_release_statement(statement);
        return execute_batch(L, call, lua_gettop(L));
    }
    bool has_rows = statement->column_count > 0 && !statement->is_carrier && !pdb_is_change(statement);
    run_to_end(L, call);
    if (has_rows && !call->has_inserted) {
        pdb_push_result_without_rows(L);
        return 1;
    }
    return push_insertion(L, handle, pdb_is_change(statement) ? call->changes : 0, call->has_inserted);
}
