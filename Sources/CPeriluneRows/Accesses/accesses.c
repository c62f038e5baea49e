/* Accesses: how they are opened, and what is done when they end. */
#include "CPeriluneRows/rows_internal.h"

/* SQLite's instructions between two looks at flag, clock and budget. */
enum { instructions_per_look = 10000 };

/* SQLite's instructions count like Lua's. */
static int poll_progress(void *user_data) {
    perilune_connection *connection = user_data;
    plua_context *context = connection->database->rows->context;
    if (context->budget != INT64_MAX) context->budget -= instructions_per_look;
    perilune_watch_memory(connection);
    psql_watch_recordings(connection->handle);
    return plua_poll(context) != PLUA_CANCEL_NONE;
}

/* Runs the body with the access on the stack of accesses. */
static int run_in(perilune_entry *entry, perilune_access *access) {
    perilune_rows *rows = entry->database->rows;
    perilune_connection *connection = access->connection;
    access->outer = rows->access;
    access->token = ++rows->last_token;
    access->entry = entry;
    rows->access = access;
    if (connection->accesses++ == 0) {
        sqlite3_progress_handler(connection->handle, instructions_per_look, poll_progress, connection);
        perilune_begin_bounds(connection);
    }
    perilune_tidy_connection(connection);
    entry->status = plua_pcall(entry->L, entry->argument_count, LUA_MULTRET);
    perilune_end_runs(&access->active);
    /* What follows ends a transaction, and must not be interrupted. */
    if (--connection->accesses == 0) {
        sqlite3_progress_handler(connection->handle, 0, NULL, NULL);
        perilune_end_bounds(connection);
    }
    rows->access = access->outer;
    return entry->status;
}

perilune_connection *perilune_begin_connection(perilune_database *database, sqlite3 *handle, void *grdb) {
    perilune_connection *connection = perilune_connection_for(database, handle);
    connection->grdb = grdb;
    perilune_find_hub(connection);
    if (connection->hub) perilune_prune_hub(connection);
    return connection;
}

int perilune_rows_run(perilune_entry *entry, sqlite3 *handle, void *grdb) {
    perilune_connection *connection = perilune_begin_connection(entry->database, handle, grdb);
    perilune_access_mode mode = entry->mode;
    /* What cannot be defined while a cursor is open is tried again next time. */
    perilune_apply_definitions(entry->L, connection);
    perilune_access access = {
        .database = entry->database,
        .connection = connection,
        .mode = mode,
        .is_readonly = mode == PERILUNE_READ,
        .in_transaction = mode != PERILUNE_READ_STATEMENT && mode != PERILUNE_WRITE_STATEMENT &&
                          mode != PERILUNE_WITHOUT_TRANSACTION,
    };
    int status = run_in(entry, &access);
    connection->grdb = NULL;
    return status;
}

int perilune_rows_run_nested(perilune_entry *entry) {
    perilune_access access = {
        .database = entry->database,
        .connection = entry->connection,
        .mode = entry->mode,
        .is_readonly = entry->is_readonly,
        .in_transaction = true,
    };
    return run_in(entry, &access);
}

int perilune_rows_run_settling(perilune_entry *entry) {
    perilune_access access = {
        .database = entry->database,
        .connection = entry->connection,
        .mode = PERILUNE_WITHOUT_TRANSACTION,
        .is_settling = true,
    };
    return run_in(entry, &access);
}

/* What observers do in a block db:read, which they need not know to be on a connection that writes. */
static int run_reading(perilune_entry *entry) {
    perilune_access access = {
        .database = entry->database,
        .connection = entry->connection,
        .mode = PERILUNE_READ,
        .is_readonly = true,
    };
    return run_in(entry, &access);
}

int perilune_rows_begin_read(sqlite3 *handle) {
    return sqlite3_exec(handle, "BEGIN DEFERRED TRANSACTION", NULL, NULL, NULL);
}

/* Nothing was written, so that both ends are the same; a commit is not reported to observers as a rollback would be. */
int perilune_rows_end_read(sqlite3 *handle) {
    if (sqlite3_get_autocommit(handle)) return SQLITE_OK;
    int code = sqlite3_exec(handle, "COMMIT TRANSACTION", NULL, NULL, NULL);
    return code == SQLITE_OK ? code : sqlite3_exec(handle, "ROLLBACK TRANSACTION", NULL, NULL, NULL);
}

/* Raises what an entry failed with, now that no Swift frame is left. */
static int finish(lua_State *L, perilune_rows *rows, perilune_entry *entry, int result, int base) {
    if (entry->status != LUA_OK) {
        perilune_drop_pending_error(L); /* one from a trace of the rollback: what the block failed with counts */
        return lua_error(L);
    }
    if (result == 0 && !rows->has_pending_error) return lua_gettop(L) - base;
    if (perilune_is_doomed(rows)) plua_raise_cancellation(L);
    return perilune_raise_failure(L, NULL);
}

int perilune_enter(lua_State *L, perilune_rows *rows, perilune_database *database, perilune_access_mode mode,
                   int argument_count) {
    perilune_entry entry = {.L = L, .database = database, .mode = mode, .argument_count = argument_count};
    int base = lua_gettop(L) - argument_count - 1;
    luaL_checkstack(L, LUA_MINSTACK, "too many arguments");
    plua_check(L);
    if (database->owner == NULL || rows->context->is_closing) {
        plua_raise(L, "closed", "the database is closed: it was used by a finalizer after it had been collected");
    }
    int64_t generation = database->schema_generation;
    bool may_refuse = perilune_leave_lua(rows);
    int result = rows->callbacks.enter(&entry);
    perilune_return_to_lua(rows, may_refuse);
    /* What was changed may have been rolled back. */
    if (database->schema_generation != generation) perilune_touch_schema(database);
    return finish(L, rows, &entry, result, base);
}

/* In a transaction, or in a savepoint if there is one. */
static int nest(perilune_rows *rows, perilune_entry *entry) {
    perilune_connection *connection = entry->connection;
    bool is_savepoint = !sqlite3_get_autocommit(connection->handle);
    size_t depth = is_savepoint && connection->hub ? perilune_hub_begin_savepoint(connection->hub, NULL) : 0;
    connection->savepoints += is_savepoint;
    bool may_refuse = perilune_leave_lua(rows);
    int result = rows->callbacks.nest(entry, connection->grdb);
    perilune_return_to_lua(rows, may_refuse);
    if (is_savepoint && depth == 0 && connection->hub) depth = (size_t)connection->savepoints;
    connection->savepoints -= is_savepoint;
    bool is_kept = result == 0 && entry->status == LUA_OK && entry->completion == PERILUNE_COMMIT;
    if (depth > 0) perilune_hub_end_savepoint(connection->hub, depth, is_kept);
    return result;
}

int perilune_enter_nested(lua_State *L, perilune_rows *rows, perilune_access *access, perilune_access_mode mode,
                          int argument_count) {
    perilune_entry entry = {.L = L, .database = access->database, .mode = mode, .argument_count = argument_count,
                            .connection = access->connection, .is_readonly = access->is_readonly};
    int base = lua_gettop(L) - argument_count - 1;
    luaL_checkstack(L, LUA_MINSTACK, "too many arguments");
    plua_check(L);
    int64_t generation = access->database->schema_generation;
    int result = nest(rows, &entry);
    if (access->database->schema_generation != generation) perilune_touch_schema(access->database);
    bool has_failed = result != 0 || entry.status != LUA_OK || rows->has_pending_error;
    if (perilune_has_settlements(rows) && has_failed) perilune_settle_failed(L, access->connection);
    else if (perilune_has_settlements(rows)) perilune_settle(L, access->connection);
    return finish(L, rows, &entry, result, base);
}

int perilune_enter_reading(lua_State *L, perilune_rows *rows, perilune_access *access, int argument_count) {
    perilune_entry entry = {.L = L, .database = access->database, .mode = PERILUNE_READ, .argument_count = argument_count,
                            .connection = access->connection};
    int base = lua_gettop(L) - argument_count - 1;
    luaL_checkstack(L, LUA_MINSTACK, "too many arguments");
    run_reading(&entry);
    return finish(L, rows, &entry, 0, base);
}

int perilune_with_access(lua_State *L, int handle_index, perilune_access_mode mode, int argument_count) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = perilune_check_handle(L, rows, handle_index, "access");
    if (perilune_find_access(L, rows, handle->database, handle->token) == NULL) {
        return perilune_enter(L, rows, handle->database, mode, argument_count);
    }
    int base = lua_gettop(L) - argument_count - 1;
    lua_call(L, argument_count, LUA_MULTRET);
    return lua_gettop(L) - base;
}
