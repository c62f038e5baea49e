/* Opens and ends accesses. */
#include "CPeriluneRows/Accesses/accesses.h"

#include <perilune_long_functions.h>

/* The number of instructions that SQLite executes between two checks of the flag, the clock and the budget. */
enum { instructions_per_look = 10000 };

/* SQLite's progress handler. SQLite's instructions count against the budget like Lua's. */
static int poll_progress(void *user_data) {
    pdb_connection *connection = user_data;
    plua_context *context = connection->database->rows->context;
    if (context->budget != INT64_MAX) context->budget -= instructions_per_look;
    pdb_watch_memory(connection);
    pdb_check_recordings(connection->handle);
    return plua_poll(context) != PLUA_CANCEL_NONE;
}

/* Pushes the error of a cancelled run. Returns its Lua status. */
static int fail_with_cancellation(lua_State *L) {
    lua_pushcfunction(L, plua_raise_cancellation);
    return plua_pcall(L, 0, 0);
}

/* Runs the body. If the run is cancelled when the body returns, fails so that nothing is committed. */
static int call_body(lua_State *L, pdb_state *rows, int argument_count) {
    int status = plua_pcall(L, argument_count, LUA_MULTRET);
    if (status != LUA_OK || plua_poll(rows->context) == PLUA_CANCEL_NONE) return status;
    return fail_with_cancellation(L);
}

/* Runs the body of a request with `access` as the innermost access. */
static int run_in(pdb_access_request *request, pdb_access *access) {
    pdb_state *rows = request->database->rows;
    pdb_connection *connection = access->connection;
    access->outer = rows->access;
    access->token = ++rows->last_token;
    access->request = request;
    rows->access = access;
    if (connection->accesses++ == 0) {
        sqlite3_progress_handler(connection->handle, instructions_per_look, poll_progress, connection);
        pdb_begin_bounds(connection);
    }
    pdb_tidy_connection(connection);
    request->status = call_body(request->L, rows, request->argument_count);
    pdb_end_runs(&access->active);
    pdb_close_open_blobs(access, false);
    /* The next steps end a transaction and must not be interrupted. */
    if (--connection->accesses == 0) {
        sqlite3_progress_handler(connection->handle, 0, NULL, NULL);
        pdb_end_bounds(connection);
    }
    rows->access = access->outer;
    return request->status;
}

pdb_connection *pdb_begin_connection(lua_State *L, pdb_database *database, sqlite3 *handle, void *grdb) {
    pdb_connection *connection = pdb_connection_for(database, handle);
    connection->grdb = grdb;
    pdb_will_begin(L, connection);
    return connection;
}

int pdb_run_access(pdb_access_request *request, sqlite3 *handle, void *grdb) {
    pdb_connection *connection = pdb_begin_connection(request->L, request->database, handle, grdb);
    pdb_access_mode mode = request->mode;
    bool is_snapshot = request->database->flags & PDB_DATABASE_SNAPSHOT;
    pdb_access access = {
        .database = request->database,
        .connection = connection,
        .mode = mode,
        .is_readonly = mode == PDB_READ || is_snapshot,
        .in_transaction = is_snapshot || (mode != PDB_READ_STATEMENT && mode != PDB_WRITE_STATEMENT &&
                                          mode != PDB_WITHOUT_TRANSACTION),
    };
    int changes = sqlite3_total_changes(handle);
    int status = run_in(request, &access);
    int change_count = sqlite3_total_changes(handle) - changes;
    if (change_count > 0) request->database->rows->context->usage.changes += change_count;
    request->has_written = status == LUA_OK && change_count != 0;
    if (request->has_written && access.in_transaction && pdb_crash_point(request->L, "before", "commit")) {
        request->has_written = false;
        status = request->status = fail_with_cancellation(request->L);
    }
    connection->grdb = NULL;
    return status;
}

/* Runs the block of a request that pdb_enclose_block has changed, inside the open access. Stack: the block, its arguments. */
static int run_enclosed_block(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    pdb_access *access = rows->access;
    return pdb_enter_nested(L, rows, access, access->request->block_mode, lua_gettop(L) - 1, access->request->context);
}

void pdb_enclose_block(pdb_access_request *request) {
    lua_State *L = request->L;
    lua_pushcfunction(L, run_enclosed_block);
    lua_insert(L, lua_gettop(L) - request->argument_count - 1);
    request->argument_count++;
    request->block_mode = request->mode;
    request->mode = PDB_WITHOUT_TRANSACTION;
}

int pdb_run_nested_access(pdb_access_request *request) {
    pdb_access access = {
        .database = request->database,
        .connection = request->connection,
        .mode = request->mode,
        .is_readonly = request->is_readonly,
        .in_transaction = true,
    };
    return run_in(request, &access);
}

int pdb_run_deferring_access(pdb_access_request *request) {
    pdb_access access = {
        .database = request->database,
        .connection = request->connection,
        .mode = PDB_WITHOUT_TRANSACTION,
        .runs_deferred_callbacks = true,
    };
    return run_in(request, &access);
}

/* Runs a db:read block inside an open access. Its connection can write, but its statements cannot. */
static int run_reading(pdb_access_request *request, bool in_transaction) {
    pdb_access access = {
        .database = request->database,
        .connection = request->connection,
        .mode = PDB_READ,
        .is_readonly = true,
        .in_transaction = in_transaction,
    };
    return run_in(request, &access);
}

/* MARK: - Connections that a script prepares */

static const char prepared_databases_key; /* in the registry: address of a database -> its object, weakly */

void pdb_set_preparation(lua_State *L) {
    int object = lua_gettop(L) - 1;
    pdb_handle *handle = lua_touserdata(L, object);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    lua_setiuservalue(L, object, PDB_DATABASE_PREPARATION);
    plua_push_weak_table(L, &prepared_databases_key, "v");
    lua_pushvalue(L, object);
    lua_rawsetp(L, -2, handle->database);
    handle->database->has_preparation = true;
    lua_settop(L, object - 1);
}

bool pdb_is_prepared(pdb_database *database, sqlite3 *handle) {
    return !database->has_preparation || pdb_connection_for(database, handle)->is_prepared;
}

/* Calls the preparation function in the open access, and rolls back a transaction that it has left open. */
static int run_preparation(lua_State *L) {
    pdb_access *access = pdb_state_of(L)->access;
    plua_push_weak_table(L, &prepared_databases_key, "v");
    if (lua_rawgetp(L, -1, access->database) != LUA_TUSERDATA) return 0;
    lua_getiuservalue(L, -1, PDB_DATABASE_PREPARATION);
    pdb_push_handle(L, access);
    lua_call(L, 1, 0);
    if (sqlite3_get_autocommit(access->connection->handle)) return 0;
    sqlite3_exec(access->connection->handle, "ROLLBACK", NULL, NULL, NULL);
    return plua_raise(L, "open_transaction", "prepare left a transaction open, which was rolled back");
}

int pdb_prepare_connection(pdb_access_request *request, sqlite3 *handle, void *grdb) {
    lua_State *L = request->L;
    pdb_connection *connection = pdb_begin_connection(L, request->database, handle, grdb);
    int top = lua_gettop(L);
    pdb_access_request preparation = {.L = L, .database = request->database, .mode = PDB_WITHOUT_TRANSACTION, .connection = connection};
    pdb_access access = {.database = request->database, .connection = connection, .mode = PDB_WITHOUT_TRANSACTION};
    connection->is_prepared = true;
    lua_pushcfunction(L, run_preparation);
    request->status = run_in(&preparation, &access);
    if (request->status == LUA_OK) lua_settop(L, top);
    else connection->is_prepared = false;
    connection->grdb = NULL;
    return request->status;
}

/* MARK: - Interruptions */

void pdb_reset_running_statements(sqlite3 *handle) {
    for (sqlite3_stmt *statement = sqlite3_next_stmt(handle, NULL); statement; statement = sqlite3_next_stmt(handle, statement)) {
        if (sqlite3_stmt_busy(statement)) sqlite3_reset(statement);
    }
}

static bool has_running_statements(sqlite3 *handle) {
    sqlite3_stmt *statement = sqlite3_next_stmt(handle, NULL);
    while (statement && !sqlite3_stmt_busy(statement)) statement = sqlite3_next_stmt(handle, statement);
    return statement != NULL;
}

void pdb_end_interruption(sqlite3 *handle) {
    if (!has_running_statements(handle)) return; /* SQLite clears the interruption before the next statement */
    /* An interruption is only visible in the failure of a statement. This statement reads nothing and is not traced. */
    if (sqlite3_exec(handle, PSQL_OWN_SQL "EXPLAIN SELECT 1", NULL, NULL, NULL) == SQLITE_INTERRUPT) pdb_reset_running_statements(handle);
}

void pdb_end_interruption_of_cursors(pdb_database *database, sqlite3 *handle) {
    if (pdb_connection_for(database, handle)->active) pdb_end_interruption(handle);
}

/* MARK: - Reading */

int pdb_begin_read(sqlite3 *handle) {
    return sqlite3_exec(handle, "BEGIN DEFERRED TRANSACTION", NULL, NULL, NULL);
}

/* Ends the transaction by a commit, which has the same effect as a rollback after reading. Observers are not notified. */
int pdb_end_read(sqlite3 *handle) {
    if (sqlite3_get_autocommit(handle)) return SQLITE_OK;
    pdb_end_interruption(handle);
    int code = sqlite3_exec(handle, "COMMIT TRANSACTION", NULL, NULL, NULL);
    return code == SQLITE_OK ? code : sqlite3_exec(handle, "ROLLBACK TRANSACTION", NULL, NULL, NULL);
}

/* Raises the error of an access request after all Swift frames have returned. */
static int finish(lua_State *L, pdb_state *rows, pdb_access_request *request, int result, int base) {
    if (request->status != LUA_OK) {
        pdb_drop_pending_error(L); /* tracing the rollback may have failed; the error of the block takes precedence */
        return plua_throw(L);
    }
    if (result == 0 && !rows->has_pending_error) return lua_gettop(L) - base;
    return pdb_raise_failure(L, NULL);
}

int pdb_enter(lua_State *L, pdb_state *rows, pdb_database *database, pdb_access_mode mode, int argument_count, void *context) {
    pdb_access_request request = {
        .L = L, .database = database, .mode = mode, .argument_count = argument_count, .context = context};
    int base = lua_gettop(L) - argument_count - 1;
    luaL_checkstack(L, LUA_MINSTACK, "too many arguments");
    plua_check(L);
    if (database->owner == NULL || rows->context->is_closing) {
        plua_raise(L, "closed", "the database is closed: a finalizer used it after it was collected");
    }
    int64_t generation = database->schema_generation;
    bool may_refuse = pdb_begin_host_call(rows);
    int result = rows->callbacks.enter(&request);
    pdb_end_host_call(rows, may_refuse);
    bool is_end = request.has_written && result == 0 && pdb_crash_point(L, "after", "commit");
    rows->crash_label[0] = '\0';
    if (is_end) plua_raise_cancellation(L);
    /* A rollback may have restored the previous schema. */
    if (database->schema_generation != generation) pdb_touch_schema(database);
    return finish(L, rows, &request, result, base);
}

/* Runs a request in a new transaction, or in a savepoint if a transaction is open. Sets `has_written` if a transaction was committed. */
static int nest(pdb_state *rows, pdb_access_request *request) {
    pdb_connection *connection = request->connection;
    bool is_savepoint = !sqlite3_get_autocommit(connection->handle);
    size_t marks[pdb_most_hooks];
    if (is_savepoint) pdb_will_begin_savepoint(connection, marks);
    connection->savepoints += is_savepoint;
    int changes = sqlite3_total_changes(connection->handle);
    bool may_refuse = pdb_begin_host_call(rows);
    int result = rows->callbacks.nest(request, connection->grdb);
    pdb_end_host_call(rows, may_refuse);
    bool is_kept = result == 0 && request->status == LUA_OK && request->completion == PDB_COMMIT;
    if (is_savepoint) pdb_did_end_savepoint(connection, marks, is_kept);
    connection->savepoints -= is_savepoint;
    request->has_written = is_kept && !is_savepoint && sqlite3_total_changes(connection->handle) != changes;
    return result;
}

int pdb_enter_nested(lua_State *L, pdb_state *rows, pdb_access *access, pdb_access_mode mode, int argument_count, void *context) {
    pdb_access_request request = {.L = L, .database = access->database, .mode = mode, .argument_count = argument_count,
                            .connection = access->connection, .is_readonly = access->is_readonly, .context = context};
    int base = lua_gettop(L) - argument_count - 1;
    luaL_checkstack(L, LUA_MINSTACK, "too many arguments");
    plua_check(L);
    int64_t generation = access->database->schema_generation;
    int result = nest(rows, &request);
    if (access->database->schema_generation != generation) pdb_touch_schema(access->database);
    bool has_failed = result != 0 || request.status != LUA_OK || rows->has_pending_error;
    if (has_failed) pdb_did_fail(L, access->connection);
    else pdb_did_end(L, access->connection);
    if (request.has_written && pdb_crash_point(L, "after", "commit")) plua_raise_cancellation(L);
    return finish(L, rows, &request, result, base);
}

int pdb_enter_reading(lua_State *L, pdb_state *rows, pdb_access *access, int argument_count, void *context) {
    pdb_access_request request = {.L = L, .database = access->database, .mode = PDB_READ, .argument_count = argument_count,
                            .connection = access->connection, .context = context};
    int base = lua_gettop(L) - argument_count - 1;
    luaL_checkstack(L, LUA_MINSTACK, "too many arguments");
    plua_check(L);
    sqlite3 *handle = access->connection->handle;
    /* All statements of a reading block must see the same version of the database, so in autocommit the block begins a transaction.
    ** Clusters have no such transactions. */
    bool begins = !access->in_transaction && !access->runs_deferred_callbacks && !pdb_is_remote(access->database) &&
                  sqlite3_get_autocommit(handle) && pdb_begin_read(handle) == SQLITE_OK;
    run_reading(&request, access->in_transaction || begins);
    if (begins) pdb_end_read(handle);
    return finish(L, rows, &request, 0, base);
}

int pdb_with_access(lua_State *L, int handle_index, pdb_access_mode mode, int argument_count) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_check_handle(L, rows, handle_index, "access");
    if (pdb_find_access(L, rows, handle->database, handle->token) == NULL) {
        return pdb_enter(L, rows, handle->database, mode, argument_count, NULL);
    }
    int base = lua_gettop(L) - argument_count - 1;
    lua_call(L, argument_count, LUA_MULTRET);
    return lua_gettop(L) - base;
}

void pdb_observe(lua_State *L) {
    for (pdb_access *access = pdb_state_of(L)->access; access; access = access->outer) {
        access->has_asked = access->is_unobserved = false;
    }
}
