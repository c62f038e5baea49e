/* Runs statements, which are stepped either here or by GRDB. */
#include "CPeriluneRows/Queries/queries.h"

void pdb_record_read(lua_State *L, pdb_call *call) {
    pdb_state *rows = call->rows;
    bool may_refuse = pdb_begin_host_call(rows);
    int result = rows->callbacks.record(L, call->access->connection->grdb, call->statement->object);
    pdb_end_host_call(rows, may_refuse);
    if (result != 0) pdb_raise_failure(L, call->statement);
}

void pdb_start(lua_State *L, pdb_call *call, pdb_statement **list) {
    pdb_statement *statement = call->statement;
    pdb_begin_run(statement, list);
    pdb_note_run(call->rows, statement);
    pdb_bind_arguments(L, statement, call->statement_index, &call->arguments);
    if (!call->is_batch) pdb_check_all_used(L, statement, call->statement_index, &call->arguments);
    pdb_mark_rowid(statement);
    if (call->rows->is_recording && statement->is_direct) pdb_record_read(L, call);
}

/* MARK: - Through GRDB */

/* Receives a row from GRDB. The source of the rows is below their list on the stack. Swift frames are on the stack, so allocations are not
** refused and nothing may be raised. */
void pdb_take_row(pdb_execution *run) {
    lua_State *L = run->L;
    if (run->form == NULL || run->is_stale || run->count >= run->limit) return;
    run->call->rows->context->usage.rows++;
    if (run->count++ == 0) {
        pdb_check_columns(run->statement);
        if (run->form->begins_on_first_row) {
            run->form->push_source(L, run->call);
            lua_replace(L, run->list - 1);
        }
    }
    if (run->form->push(L, run->statement, run->list - 1)) lua_rawseti(L, run->list, run->count);
    else run->is_stale = true;
}

bool pdb_is_change(const pdb_statement *statement) {
    pdb_keyword keyword = statement->screening.keyword;
    return keyword == PDB_KEYWORD_INSERT || keyword == PDB_KEYWORD_CHANGE;
}

/*
** Returns whether a change may be stepped here instead of by GRDB. Stepping it here makes an insert a third faster. GRDB tracks changes
** only for its observers. Without observers, and inside a transaction that stays open, GRDB has nothing to do.
*/
bool pdb_may_step_change(pdb_call *call) {
    pdb_access *access = call->access;
    if (!access->in_transaction || !pdb_is_change(call->statement)) return false;
    if (!access->has_asked) {
        access->has_asked = true;
        bool may_refuse = pdb_begin_host_call(call->rows);
        access->is_unobserved = !call->rows->callbacks.is_observed(access->connection->grdb);
        pdb_end_host_call(call->rows, may_refuse);
    }
    return access->is_unobserved;
}

static bool may_change_schema(const pdb_statement *statement) {
    switch (statement->screening.keyword) {
        case PDB_KEYWORD_READ:
        case PDB_KEYWORD_INSERT:
        case PDB_KEYWORD_CHANGE: return false;
        case PDB_KEYWORD_OTHER: return !statement->is_readonly;
        default: return true;
    }
}

/* Detects that SQLite has recompiled a statement that returns no columns. For other statements, pdb_check_columns does this. */
static void check_preparation(pdb_statement *statement) {
    int prepare_count = sqlite3_stmt_status(statement->handle, SQLITE_STMTSTATUS_REPREPARE, 0);
    if (statement->prepare_count == prepare_count) return;
    statement->prepare_count = prepare_count;
    pdb_touch_schema(statement->connection->database);
}

/* Records the effects of a run, and ends it. */
void pdb_end_change(pdb_call *call) {
    if (may_change_schema(call->statement)) pdb_touch_schema(call->database);
    else if (call->statement->column_count == 0) check_preparation(call->statement);
    call->changes = pdb_change_count(call->access->connection);
    call->has_inserted = pdb_has_inserted(call->statement);
    if (call->rows->context->limit) pdb_watch_memory(call->access->connection);
    pdb_end_run(call->statement);
}

/* Steps a statement that is not a SELECT, here or through GRDB. */
static void step_change(lua_State *L, pdb_call *call, pdb_execution *run) {
    pdb_state *rows = call->rows;
    if (pdb_may_step_change(call)) {
        while (pdb_step(L, call)) pdb_take_row(run);
        return;
    }
    /* Outside of transactions, the commit is refused if the run is to end. In a block, this is checked when the block ends. */
    if (rows->context->limited && !call->access->in_transaction) run->committing = call->access->connection->grdb;
    bool may_refuse = pdb_begin_statement_call(rows);
    int result = rows->callbacks.run(call->statement->object, run);
    pdb_end_statement_call(rows, may_refuse);
    if (result == 0) pdb_did_end_statement(call->access->connection);
    if (result == 0 && !rows->has_pending_error) return;
    pdb_did_fail_statement(call->access->connection);
    pdb_did_fail(L, call->access->connection);
    pdb_raise_failure(L, call->statement);
}

/* Notifies observers if the statement controls transactions or savepoints. */
static void report_control(lua_State *L, pdb_call *call) {
    if (call->statement->screening.keyword != PDB_KEYWORD_CONTROL) return;
    pdb_did_control(call->access->connection, call->statement->sql);
    if (call->rows->has_pending_error) pdb_raise_failure(L, call->statement);
}

static int raise_stale(lua_State *L, pdb_call *call) {
    pdb_end_run(call->statement);
    return plua_raise(L, "schema", "%s: the schema changed while the statement ran; its rows no longer match the record class", call->arguments.verb);
}

/* Runs a statement whose arguments are bound. Pushes the list of its rows in the given form, or nothing if `form` is NULL. */
void pdb_run_bound(lua_State *L, pdb_call *call, const pdb_row_form *form, lua_Integer limit) {
    pdb_execution run = {.L = L, .call = call, .statement = call->statement, .form = form, .limit = limit};
    if (form) {
        luaL_checkstack(L, LUA_MINSTACK * 2, "too many arguments");
        if (form->begins_on_first_row) lua_pushnil(L);
        else form->push_source(L, call);
        lua_newtable(L);
        pdb_mark_list(L);
        run.list = lua_gettop(L);
    }
    step_change(L, call, &run);
    if (run.is_stale) raise_stale(L, call);
    report_control(L, call);
    pdb_end_change(call);
    pdb_did_end(L, call->access->connection);
    plua_count_work(L, 100);
    if (pdb_is_cancelled(call->rows)) plua_raise_cancellation(L);
}

void pdb_run_through_grdb(lua_State *L, pdb_call *call, const pdb_row_form *form, lua_Integer limit) {
    pdb_start(L, call, &call->access->active);
    pdb_run_bound(L, call, form, limit);
}
