/*
** Calls observers' functions.
**
** on_change and will_commit run inside SQLite, in a protected call, and must not use any database. did_commit and did_rollback run
** afterwards, on the connection of the transaction, with no Swift or SQLite frame below them on the C stack.
*/
#include <perilune_arrays.h>

#include "CPeriluneRows/Observers/observers.h"

/* The registry key of the function that receives errors of did_commit and did_rollback. */
static const char pdb_callback_failure_key;

/* The maximum nesting of transactions that observers begin when another transaction has ended. */
enum { deepest_deferral = 16 };

typedef struct {
    pdb_observer *observer;
    int function;
} deferred_callback;

struct pdb_deferred_callbacks {
    deferred_callback *list;
    size_t count, capacity;
    int depth;
};

bool pdb_is_own(const pdb_observer *observer) { return plua_running_context() == observer->context; }

/* Returns the coroutine on which an observer can be called; NULL if its state is not the running one, or if the run is about to end. */
static lua_State *coroutine_for(const pdb_observer *observer) {
    plua_context *context = plua_running_context();
    if (context == NULL || context != observer->context || plua_cancel_reason_of(context) != PLUA_CANCEL_NONE) return NULL;
    return lua_checkstack(context->running, LUA_MINSTACK * 2) ? context->running : NULL;
}

static void push_function(lua_State *L, const pdb_observer *observer, int function) {
    pdb_push_observer(L, observer);
    lua_getiuservalue(L, -1, function);
    lua_remove(L, -2);
}

/* MARK: - on_change */

static void push_plain_value(lua_State *L, sqlite3_value *value, const pdb_observed_column *column) {
    int type = sqlite3_value_type(value);
    /* For inserted rows, SQLite's hook returns whole numbers in REAL columns as integers, but a query returns them as floats. */
    if (type == SQLITE_INTEGER && column->is_real) type = SQLITE_FLOAT;
    pdb_push_column(L, value, type, column->is_boolean);
}

/* Sets a field of the event to a table with the values of all columns that are not NULL. */
static void set_values(lua_State *L, const pdb_observed_table *table, sqlite3_value **values, const char *field) {
    if (values == NULL) return;
    lua_createtable(L, 0, table->count);
    for (int i = 0; i < table->count; i++) {
        const pdb_observed_column *column = &table->columns[i];
        if (column->name == NULL || values[i] == NULL || sqlite3_value_type(values[i]) == SQLITE_NULL) continue;
        lua_pushstring(L, column->name);
        push_plain_value(L, values[i], column);
        lua_rawset(L, -3);
    }
    lua_setfield(L, -2, field);
}

static const char *name_of(int kind) {
    return kind == SQLITE_INSERT ? "insert" : kind == SQLITE_UPDATE ? "update" : kind == SQLITE_DELETE ? "delete" : "unknown";
}

void pdb_push_event(lua_State *L, const pdb_change *change) {
    const pdb_observed_table *table = change->table;
    lua_createtable(L, 0, 5);
    lua_pushstring(L, name_of(change->kind));
    lua_setfield(L, -2, "operation");
    lua_pushstring(L, table->name);
    lua_setfield(L, -2, "table");
    if (strcmp(table->schema, "main") != 0) {
        lua_pushstring(L, table->schema);
        lua_setfield(L, -2, "schema");
    }
    if (table->has_rowid) {
        lua_pushinteger(L, change->rowid);
        lua_setfield(L, -2, "row_id");
        if (change->rowid != change->former_rowid) {
            lua_pushinteger(L, change->former_rowid);
            lua_setfield(L, -2, "old_row_id");
        }
    }
    if (change->is_indirect) {
        lua_pushboolean(L, true);
        lua_setfield(L, -2, "is_indirect");
    }
    set_values(L, table, change->former, "old");
    set_values(L, table, change->current, "new");
}

/* Arguments: observer, change. */
static int call_on_change(lua_State *L) {
    push_function(L, lua_touserdata(L, 1), PDB_ON_CHANGE);
    pdb_push_event(L, lua_touserdata(L, 2));
    lua_call(L, 1, 0);
    return 0;
}

bool pdb_call_on_change(pdb_observer *observer, const pdb_change *change) {
    lua_State *L = coroutine_for(observer);
    if (L == NULL) return true;
    pdb_state *rows = pdb_state_of(L);
    pdb_place place = rows->place;
    if (rows->has_pending_error) return false;
    rows->place = PDB_IN_ON_CHANGE;
    lua_pushcfunction(L, call_on_change);
    lua_pushlightuserdata(L, observer);
    lua_pushlightuserdata(L, (void *)change);
    int status = plua_pcall(L, 2, 0);
    rows->place = place;
    if (status != LUA_OK) pdb_keep_pending_error(L);
    return status == LUA_OK;
}

/* MARK: - will_commit */

int pdb_call_will_commit(pdb_observer *observer) {
    bool is_asked = !atomic_load(&observer->is_removed) && pdb_observer_has(observer, PDB_WILL_COMMIT);
    lua_State *L = is_asked ? coroutine_for(observer) : NULL;
    if (L == NULL) return LUA_OK;
    pdb_state *rows = pdb_state_of(L);
    pdb_place place = rows->place;
    rows->place = PDB_IN_WILL_COMMIT;
    push_function(L, observer, PDB_WILL_COMMIT);
    int status = plua_pcall(L, 0, 0);
    rows->place = place;
    return status;
}

/* MARK: - did_commit and did_rollback */

void pdb_defer_callback(pdb_observer *observer, int function) {
    lua_State *L = coroutine_for(observer);
    if (L == NULL || (!observer->is_once && !pdb_observer_has(observer, function))) return;
    pdb_state *rows = pdb_state_of(L);
    pdb_deferred_callbacks *callbacks = rows->deferred_callbacks;
    if (callbacks == NULL) callbacks = rows->deferred_callbacks = calloc(1, sizeof *callbacks);
    if (callbacks == NULL) return;
    if (!PLUA_ADD_ROOM(callbacks->list, callbacks->count, callbacks->capacity)) return;
    atomic_fetch_add(&observer->owners, 1);
    callbacks->list[callbacks->count++] = (deferred_callback){observer, function};
}

static deferred_callback take_first(pdb_deferred_callbacks *callbacks) {
    deferred_callback first = callbacks->list[0];
    memmove(callbacks->list, callbacks->list + 1, --callbacks->count * sizeof first);
    return first;
}

void pdb_free_deferred_callbacks(pdb_deferred_callbacks *callbacks) {
    if (callbacks == NULL) return;
    while (callbacks->count > 0) pdb_release_observer(take_first(callbacks).observer);
    free(callbacks->list);
    free(callbacks);
}

bool pdb_has_deferred_callbacks(pdb_state *rows) { return rows->deferred_callbacks && rows->deferred_callbacks->count > 0; }

/* Pushes the function of a deferred callback. Returns false and pushes nothing if the observer lacks it or has been removed. */
static bool push_deferred_callback(lua_State *L, deferred_callback taken) {
    pdb_observer *observer = taken.observer;
    bool is_alive = !atomic_load(&observer->is_removed);
    bool is_called = is_alive && pdb_observer_has(observer, taken.function);
    if (is_called) push_function(L, observer, taken.function);
    if (is_alive && observer->is_once) pdb_remove_observer(L, observer);
    pdb_release_observer(observer);
    return is_called;
}

/* Emits a warning with the error on top of the stack. Raises nothing. [-0, +0] */
static void warn(lua_State *L) {
    int top = lua_gettop(L);
    if (plua_is_error(L, -1)) {
        plua_push_error_fields(L, -1);
        lua_pushliteral(L, "message");
        lua_rawget(L, -2);
    }
    const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : plua_describe(L, top);
    lua_warning(L, "an observer failed after the end of a transaction: ", 1);
    lua_warning(L, message, 0);
    lua_settop(L, top);
}

/* Passes the error on top of the stack to the Lua function for callback errors. The error is not raised: the transaction has already ended,
** so its writer has not failed. [-1, +0] */
static void report_failure(lua_State *L) {
    int error = lua_gettop(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pdb_callback_failure_key);
    lua_pushvalue(L, error);
    if (plua_pcall(L, 1, 0) != LUA_OK) {
        lua_settop(L, error);
        warn(L);
    }
    lua_settop(L, error - 1);
}

int pdb_set_callback_failure(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &pdb_callback_failure_key);
    return 0;
}

static int raise_loop(lua_State *L) {
    return plua_raise(L, "observation_loop", "observers form a loop: did_commit or did_rollback wrote at the end "
                          "of %d transactions in a row", deepest_deferral);
}

static int raise_open_transaction(lua_State *L) {
    return plua_raise(L, "open_transaction", "an observer left a transaction open (BEGIN or SAVEPOINT without its end), which was "
                          "rolled back; use db:in_transaction");
}

/* Reports the error that `raise` raises, and drops all remaining callbacks. */
static void give_up(lua_State *L, pdb_deferred_callbacks *callbacks, lua_CFunction raise) {
    while (callbacks->count > 0) pdb_release_observer(take_first(callbacks).observer);
    lua_pushcfunction(L, raise);
    plua_pcall(L, 0, 0);
    report_failure(L);
}

/* Rolls back a transaction that a callback has left open. Returns whether one was open. */
static bool end_transaction(pdb_state *rows, pdb_connection *connection) {
    if (sqlite3_get_autocommit(connection->handle)) return false;
    bool may_refuse = pdb_begin_host_call(rows);
    rows->callbacks.end_transaction(connection->grdb);
    pdb_end_host_call(rows, may_refuse);
    return true;
}

/* Calls a function with the handle of the access, and rolls back a transaction that it leaves open. Unless the status is LUA_OK, the error
** is on top of the stack. [-1, +(0|1)] */
static int call_in_autocommit(lua_State *L, pdb_state *rows, bool *has_left_transaction) {
    pdb_connection *connection = rows->access->connection;
    bool is_autocommit = sqlite3_get_autocommit(connection->handle);
    pdb_push_handle(L, rows->access);
    int status = plua_pcall(L, 1, 0);
    *has_left_transaction = is_autocommit && end_transaction(rows, connection);
    if (status != LUA_OK || !*has_left_transaction) return status;
    lua_pushcfunction(L, raise_open_transaction);
    return plua_pcall(L, 0, 0);
}

/* Runs all deferred callbacks, in an access. If one of them fails, the others are still called. */
static int run_deferred(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    pdb_deferred_callbacks *callbacks = rows->deferred_callbacks;
    lua_settop(L, 0);
    if (callbacks->depth >= deepest_deferral) {
        give_up(L, callbacks, raise_loop);
        return 0;
    }
    callbacks->depth++;
    int rollbacks = 0; /* each leads to calls of did_rollback */
    while (callbacks->count > 0) {
        if (!push_deferred_callback(L, take_first(callbacks))) continue;
        bool has_left_transaction;
        int status = call_in_autocommit(L, rows, &has_left_transaction);
        if (status == LUA_OK) continue;
        if (pdb_is_cancelled(rows)) break;
        report_failure(L);
        if (has_left_transaction && ++rollbacks == deepest_deferral) give_up(L, callbacks, raise_loop);
    }
    callbacks->depth--;
    if (pdb_is_cancelled(rows)) return plua_raise_cancellation(L);
    return 0;
}

/* [-0, +(0|1)] */
static int run_deferred_in_access(lua_State *L, pdb_connection *connection) {
    pdb_access_request request = {.L = L, .database = connection->database, .mode = PDB_WITHOUT_TRANSACTION, .connection = connection};
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    int top = lua_gettop(L);
    lua_pushcfunction(L, run_deferred);
    /* Restored afterwards, because the writer may still read its last row id. */
    sqlite3_int64 rowid = sqlite3_last_insert_rowid(connection->handle);
    int status = pdb_run_deferring_access(&request);
    sqlite3_set_last_insert_rowid(connection->handle, rowid);
    if (status == LUA_OK) lua_settop(L, top);
    return status;
}

void pdb_run_deferred_callbacks(lua_State *L, pdb_connection *connection) {
    if (run_deferred_in_access(L, connection) != LUA_OK) plua_throw(L);
}

void pdb_run_deferred_callbacks_after_failure(lua_State *L, pdb_connection *connection) {
    pdb_state *rows = pdb_state_of(L);
    bool is_pending = pdb_take_pending_error(L);
    if (run_deferred_in_access(L, connection) != LUA_OK) {
        /* The run is cancelled; the error of the transaction takes precedence. */
        lua_pop(L, 1);
    }
    if (is_pending && !rows->has_pending_error) pdb_keep_pending_error(L);
}

void pdb_end_observed_access(pdb_access_request *request, sqlite3 *handle, void *grdb, bool has_failed) {
    pdb_state *rows = request->database->rows;
    if (!pdb_has_deferred_callbacks(rows)) return;
    pdb_connection *connection = pdb_begin_connection(request->L, request->database, handle, grdb);
    if (has_failed) pdb_run_deferred_callbacks_after_failure(request->L, connection);
    else if (run_deferred_in_access(request->L, connection) != LUA_OK) pdb_keep_pending_error(request->L);
    connection->grdb = NULL;
}
