/* Running statements: their start, and those that change something, here or through GRDB. */
#include "CPeriluneRows/Queries/verbs.h"

void perilune_record_read(lua_State *L, perilune_call *call) {
    perilune_rows *rows = call->rows;
    bool may_refuse = perilune_leave_lua(rows);
    int result = rows->callbacks.record(L, call->access->connection->grdb, call->statement->object);
    perilune_return_to_lua(rows, may_refuse);
    if (result != 0) perilune_raise_failure(L, call->statement);
}

void perilune_start(lua_State *L, perilune_call *call, perilune_statement **list) {
    perilune_statement *statement = call->statement;
    perilune_begin_run(statement, list);
    perilune_note_run(call->rows, statement);
    perilune_bind_arguments(L, statement, call->statement_index, &call->arguments);
    if (!call->is_batch) perilune_check_all_used(L, statement, call->statement_index, &call->arguments);
    perilune_mark_rowid(statement);
    if (call->rows->is_recording && statement->is_direct) perilune_record_read(L, call);
}

/* MARK: - Through GRDB */

static void push_optional_value(lua_State *L, perilune_statement *statement) {
    perilune_push_value(L, statement, 0);
    if (!lua_isnil(L, -1)) return;
    lua_pop(L, 1);
    perilune_push_null(L);
}

static void push_list(lua_State *L, perilune_statement *statement) {
    lua_createtable(L, statement->column_count, 1);
    for (int i = 0; i < statement->column_count; i++) {
        perilune_push_value(L, statement, i);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, statement->column_count);
    lua_setfield(L, -2, "n");
}

/* Below the list is the list of keys, or nil. Swift frames are below: nothing is refused, and nothing may be raised. */
void perilune_take_row(perilune_run *run) {
    lua_State *L = run->L;
    perilune_statement *statement = run->statement;
    if (run->form == PERILUNE_DISCARD || run->count >= run->limit) return;
    if (run->count++ == 0) {
        perilune_check_columns(statement);
        if (run->form == PERILUNE_ROWS) {
            perilune_push_keys(L, statement, run->statement_index);
            lua_replace(L, run->list - 1);
        }
    }
    switch (run->form) {
        case PERILUNE_VALUES: push_optional_value(L, statement); break;
        case PERILUNE_TUPLES: push_list(L, statement); break;
        case PERILUNE_RECORDS:
            if (!perilune_push_record(L, statement, run->list - 1)) {
                run->is_stale = true;
                return;
            }
            break;
        default: perilune_push_row(L, statement, run->list - 1); break;
    }
    lua_rawseti(L, run->list, run->count);
}

bool perilune_is_change(const perilune_statement *statement) {
    perilune_keyword keyword = statement->screening.keyword;
    return keyword == PERILUNE_KEYWORD_INSERT || keyword == PERILUNE_KEYWORD_CHANGE;
}

/* Changes that go through GRDB before it is asked whether anybody observes them. */
enum { changes_before_asking = 4 };

/*
** Whether a change may be stepped here, which saves a third of an insert. GRDB follows changes for its observers alone: where
** there are none, and a transaction is open before and after, it has nothing to do.
*/
bool perilune_may_step_change(perilune_call *call) {
    perilune_access *access = call->access;
    if (!access->in_transaction || !perilune_is_change(call->statement)) return false;
    if (access->change_count < changes_before_asking) {
        access->change_count++;
        return false;
    }
    if (access->change_count == changes_before_asking) {
        access->change_count++;
        bool may_refuse = perilune_leave_lua(call->rows);
        access->is_unobserved = !call->rows->callbacks.is_observed(access->connection->grdb);
        perilune_return_to_lua(call->rows, may_refuse);
    }
    return access->is_unobserved;
}

static bool may_change_schema(const perilune_statement *statement) {
    switch (statement->screening.keyword) {
        case PERILUNE_KEYWORD_READ:
        case PERILUNE_KEYWORD_INSERT:
        case PERILUNE_KEYWORD_CHANGE: return false;
        case PERILUNE_KEYWORD_OTHER: return !statement->is_readonly;
        default: return true;
    }
}

/* Notices that SQLite has compiled the statement anew: perilune_check_columns does it where there are columns. */
static void check_preparation(perilune_statement *statement) {
    int prepare_count = sqlite3_stmt_status(statement->handle, SQLITE_STMTSTATUS_REPREPARE, 0);
    if (statement->prepare_count == prepare_count) return;
    statement->prepare_count = prepare_count;
    perilune_touch_schema(statement->connection->database);
}

/* Takes what the run has changed, before that is forgotten. */
void perilune_end_change(perilune_call *call) {
    if (may_change_schema(call->statement)) perilune_touch_schema(call->database);
    else if (call->statement->column_count == 0) check_preparation(call->statement);
    call->changes = sqlite3_changes64(call->access->connection->handle);
    call->has_inserted = perilune_has_inserted(call->statement);
    if (call->rows->context->limit) perilune_watch_memory(call->access->connection);
    perilune_end_run(call->statement);
}

/* Steps a statement that is no SELECT, through GRDB or here. */
static void step_change(lua_State *L, perilune_call *call, perilune_run *run) {
    perilune_rows *rows = call->rows;
    if (perilune_may_step_change(call)) {
        while (perilune_step(L, call)) perilune_take_row(run);
        return;
    }
    bool may_refuse = perilune_leave_lua(rows);
    int result = rows->callbacks.run(call->statement->object, run);
    perilune_return_to_lua(rows, may_refuse);
    if (result == 0 && !rows->has_pending_error) return;
    perilune_connection *connection = call->access->connection;
    if (connection->hub) perilune_hub_statement_failed(connection->hub);
    if (perilune_has_settlements(rows)) perilune_settle_failed(L, connection);
    perilune_raise_failure(L, call->statement);
}

/* Observers may have to know of a savepoint. */
static void tell_of_savepoint(lua_State *L, perilune_call *call) {
    perilune_connection *connection = call->access->connection;
    if (connection->hub == NULL || call->statement->screening.keyword != PERILUNE_KEYWORD_CONTROL) return;
    perilune_hub_take_control(connection->hub, sqlite3_sql(call->statement->handle));
    if (call->rows->has_pending_error) perilune_raise_failure(L, call->statement);
}

/* Runs a statement whose arguments are bound. Pushes the list of its rows, in the form asked for, unless they are discarded. */
void perilune_run_bound(lua_State *L, perilune_call *call, perilune_row_form form, lua_Integer limit) {
    perilune_run run = {.L = L, .statement = call->statement, .form = form, .limit = limit,
                        .statement_index = call->statement_index};
    if (form != PERILUNE_DISCARD) {
        luaL_checkstack(L, LUA_MINSTACK * 2, "too many arguments");
        if (form == PERILUNE_RECORDS) perilune_push_layout(L, call);
        else lua_pushnil(L);
        lua_newtable(L);
        run.list = lua_gettop(L);
    }
    step_change(L, call, &run);
    if (run.is_stale) perilune_raise_stale(L, call);
    tell_of_savepoint(L, call);
    perilune_end_change(call);
    if (perilune_has_settlements(call->rows)) perilune_settle(L, call->access->connection);
    plua_count_work(L, 100);
    if (perilune_is_doomed(call->rows)) plua_raise_cancellation(L);
}

void perilune_run_through_grdb(lua_State *L, perilune_call *call, perilune_row_form form, lua_Integer limit) {
    perilune_start(L, call, &call->access->active);
    perilune_run_bound(L, call, form, limit);
}
