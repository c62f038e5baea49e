/* Running statements: their start, and those that change something, here or through GRDB. */
#include "CPeriluneRows/Queries/verbs.h"

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

static void push_optional_value(lua_State *L, pdb_statement *statement) {
    pdb_push_value(L, statement, 0);
    if (!lua_isnil(L, -1)) return;
    lua_pop(L, 1);
    pdb_push_null(L);
}

static void push_list(lua_State *L, pdb_statement *statement) {
    lua_createtable(L, statement->column_count, 1);
    for (int i = 0; i < statement->column_count; i++) {
        pdb_push_value(L, statement, i);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, statement->column_count);
    lua_setfield(L, -2, "n");
}

/* Below the list is the list of keys, or nil. Swift frames are below: nothing is refused, and nothing may be raised. */
void pdb_take_row(pdb_execution *run) {
    lua_State *L = run->L;
    pdb_statement *statement = run->statement;
    if (run->form == PDB_DISCARD || run->count >= run->limit) return;
    if (run->count++ == 0) {
        pdb_check_columns(statement);
        if (run->form == PDB_ROWS) {
            pdb_push_keys(L, statement, run->statement_index);
            lua_replace(L, run->list - 1);
        }
    }
    switch (run->form) {
        case PDB_VALUES: push_optional_value(L, statement); break;
        case PDB_TUPLES: push_list(L, statement); break;
        case PDB_RECORDS:
            if (!prec_push_record(L, statement, run->list - 1)) {
                run->is_stale = true;
                return;
            }
            break;
        default: pdb_push_row(L, statement, run->list - 1); break;
    }
    lua_rawseti(L, run->list, run->count);
}

bool pdb_is_change(const pdb_statement *statement) {
    pdb_keyword keyword = statement->screening.keyword;
    return keyword == PDB_KEYWORD_INSERT || keyword == PDB_KEYWORD_CHANGE;
}

/*
** Whether a change may be stepped here, which saves a third of an insert. GRDB follows changes for its observers alone: where
** there are none, and a transaction is open before and after, it has nothing to do.
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

/* Notices that SQLite has compiled the statement anew: pdb_check_columns does it where there are columns. */
static void check_preparation(pdb_statement *statement) {
    int prepare_count = sqlite3_stmt_status(statement->handle, SQLITE_STMTSTATUS_REPREPARE, 0);
    if (statement->prepare_count == prepare_count) return;
    statement->prepare_count = prepare_count;
    pdb_touch_schema(statement->connection->database);
}

/* Takes what the run has changed, before that is forgotten. */
void pdb_end_change(pdb_call *call) {
    if (may_change_schema(call->statement)) pdb_touch_schema(call->database);
    else if (call->statement->column_count == 0) check_preparation(call->statement);
    call->changes = sqlite3_changes64(call->access->connection->handle);
    call->has_inserted = pdb_has_inserted(call->statement);
    if (call->rows->context->limit) pdb_watch_memory(call->access->connection);
    pdb_end_run(call->statement);
}

/* Steps a statement that is no SELECT, through GRDB or here. */
static void step_change(lua_State *L, pdb_call *call, pdb_execution *run) {
    pdb_state *rows = call->rows;
    if (pdb_may_step_change(call)) {
        while (pdb_step(L, call)) pdb_take_row(run);
        return;
    }
    bool may_refuse = pdb_begin_host_call(rows);
    int result = rows->callbacks.run(call->statement->object, run);
    pdb_end_host_call(rows, may_refuse);
    if (result == 0 && !rows->has_pending_error) return;
    pdb_connection *connection = call->access->connection;
    if (connection->hub) pdb_observers_statement_failed(connection->hub);
    if (pdb_has_deferred_callbacks(rows)) pdb_run_deferred_callbacks_after_failure(L, connection);
    pdb_raise_failure(L, call->statement);
}

/* Observers may have to know of a savepoint. */
static void tell_of_savepoint(lua_State *L, pdb_call *call) {
    pdb_connection *connection = call->access->connection;
    if (connection->hub == NULL || call->statement->screening.keyword != PDB_KEYWORD_CONTROL) return;
    pdb_observers_take_control(connection->hub, sqlite3_sql(call->statement->handle));
    if (call->rows->has_pending_error) pdb_raise_failure(L, call->statement);
}

/* Runs a statement whose arguments are bound. Pushes the list of its rows, in the form asked for, unless they are discarded. */
void pdb_run_bound(lua_State *L, pdb_call *call, pdb_row_form form, lua_Integer limit) {
    pdb_execution run = {.L = L, .statement = call->statement, .form = form, .limit = limit,
                        .statement_index = call->statement_index};
    if (form != PDB_DISCARD) {
        luaL_checkstack(L, LUA_MINSTACK * 2, "too many arguments");
        if (form == PDB_RECORDS) prec_push_layout(L, call);
        else lua_pushnil(L);
        lua_newtable(L);
        run.list = lua_gettop(L);
    }
    step_change(L, call, &run);
    if (run.is_stale) prec_raise_stale(L, call);
    tell_of_savepoint(L, call);
    pdb_end_change(call);
    if (pdb_has_deferred_callbacks(call->rows)) pdb_run_deferred_callbacks(L, call->access->connection);
    plua_count_work(L, 100);
    if (pdb_is_cancelled(call->rows)) plua_raise_cancellation(L);
}

void pdb_run_through_grdb(lua_State *L, pdb_call *call, pdb_row_form form, lua_Integer limit) {
    pdb_start(L, call, &call->access->active);
    pdb_run_bound(L, call, form, limit);
}
