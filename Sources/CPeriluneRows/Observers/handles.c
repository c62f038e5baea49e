/* The userdata of observers in scripts: adding and removing observers. */
#include "CPeriluneRows/Observers/observers.h"

static const char metatable_key, observers_key, guard_key;

/* The user value with the observer's database object. It follows the user values with the functions. */
enum { DATABASE = PDB_DID_ROLLBACK + 1 };

/* MARK: - Lifetime */

void pdb_release_observer(pdb_observer *observer) {
    if (atomic_fetch_sub(&observer->owners, 1) > 1) return;
    for (size_t i = 0; i < observer->table_count; i++) free(observer->tables[i]);
    free(observer->tables);
    if (observer->observers) pdb_release_observers(observer->observers);
    pdb_free_notification_queue(observer->queue);
    if (observer->notifier.object) observer->notifier.release(observer->notifier.object);
    free(observer);
}

void pdb_push_observers(lua_State *L) { lua_rawgetp(L, LUA_REGISTRYINDEX, &observers_key); }

void pdb_set_notifier(lua_State *L, pdb_notifier notifier) {
    pdb_state *rows = pdb_state_of(L);
    if (rows->notifier.object) rows->notifier.release(rows->notifier.object);
    rows->notifier = notifier;
    notifier.retain(notifier.object);
}

void pdb_push_observer(lua_State *L, const pdb_observer *observer) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &observers_key);
    lua_rawgeti(L, -1, observer->reference);
    lua_remove(L, -2);
}

/* Protects the value on top of the stack from collection until the observer is removed. [-1, +0, m] */
static void keep(lua_State *L, pdb_observer *observer) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &observers_key);
    lua_insert(L, -2);
    observer->reference = luaL_ref(L, -2);
    lua_pop(L, 1);
}

/* Returns whether an entry of the observer table belongs to the database. */
static bool is_of(lua_State *L, int index, const pdb_database *database) {
    if (lua_type(L, index) != LUA_TUSERDATA) return false;
    lua_getiuservalue(L, index, DATABASE);
    const pdb_handle *handle = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return handle && handle->database == database;
}

/* Removes the observers that scripts have added to a database. */
static void remove_observers(lua_State *L, const pdb_database *database) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &observers_key);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (is_of(L, -1, database)) pdb_remove_observer(L, *(pdb_observer **)lua_touserdata(L, -1));
    }
    lua_pop(L, 1);
}

void pdb_remove_observer(lua_State *L, pdb_observer *observer) {
    if (atomic_exchange(&observer->is_removed, true)) return;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &observers_key);
    luaL_unref(L, -1, observer->reference);
    lua_pop(L, 1);
    observer->reference = LUA_NOREF;
    if (observer->observers) atomic_store(&observer->observers->has_removed, true);
}

/* The finalizer of an observer that was removed, or whose state has closed. */
static int collect(lua_State *L) {
    pdb_observer **handle = lua_touserdata(L, 1);
    if (*handle == NULL) return 0;
    atomic_store(&(*handle)->is_removed, true);
    if ((*handle)->observers) atomic_store(&(*handle)->observers->has_removed, true);
    pdb_release_observer(*handle);
    *handle = NULL;
    return 0;
}

/* MARK: - Methods */

/* Returns the observer at 1. Returns NULL for a finalized observer, which a weak table may still contain. */
static pdb_observer *check(lua_State *L, const char *method) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    pdb_observer **handle = pdb_to_userdata(L, 1, lua_topointer(L, -1));
    lua_pop(L, 1);
    if (handle == NULL) {
        plua_raise(L, "argument", "%s: expected an observer before the colon (observer:%s()), got %s", method, method,
                       plua_describe(L, 1));
    }
    return *handle;
}

/* observer:cancel() returns whether the observer was active. */
static int cancel_observer(lua_State *L) {
    pdb_observer *observer = check(L, "cancel");
    lua_pushboolean(L, observer && !atomic_load(&observer->is_removed));
    if (observer) pdb_remove_observer(L, observer);
    return 1;
}

static bool is_active(pdb_observer *observer) {
    return observer && !atomic_load(&observer->is_removed) && !atomic_load(&observer->observers->is_ended);
}

static int observer_is_active(lua_State *L) {
    lua_pushboolean(L, is_active(check(L, "is_active")));
    return 1;
}

static int close_observer(lua_State *L) {
    pdb_observer *observer = check(L, "close");
    if (observer) pdb_remove_observer(L, observer);
    return 0;
}

static int to_string(lua_State *L) {
    lua_pushstring(L, is_active(check(L, "tostring")) ? "observer" : "observer (cancelled)");
    return 1;
}

/* MARK: - Adding */

static void take_functions(lua_State *L, pdb_observer *observer, int functions, int handle) {
    static const char *const names[] = {[PDB_ON_CHANGE] = "on_change", [PDB_WILL_COMMIT] = "will_commit",
                                        [PDB_DID_COMMIT] = "did_commit", [PDB_DID_ROLLBACK] = "did_rollback"};
    for (int function = PDB_ON_CHANGE; function <= PDB_DID_ROLLBACK; function++) {
        lua_pushstring(L, names[function]);
        if (lua_rawget(L, functions) != LUA_TNIL) observer->functions |= 1u << function;
        lua_setiuservalue(L, handle, function);
    }
}

static void take_tables(lua_State *L, pdb_observer *observer, int tables) {
    if (!lua_istable(L, tables)) return;
    size_t count = lua_rawlen(L, tables);
    observer->tables = calloc(count + 1, sizeof *observer->tables);
    if (observer->tables == NULL) luaL_error(L, "not enough memory");
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, tables, (lua_Integer)i + 1);
        observer->tables[i] = strdup(luaL_checkstring(L, -1));
        lua_pop(L, 1);
        if (observer->tables[i] == NULL) luaL_error(L, "not enough memory");
        observer->table_count++;
    }
}

/* Returns the connection of the database whose observers are currently being called, or NULL. */
static pdb_connection *calling_connection(pdb_state *rows, pdb_database *database) {
    if (!rows->place) return NULL;
    pdb_connection *connection = database->connections;
    while (connection && !(connection->observers && connection->observers->calling > 0 && connection->accesses > 0)) connection = connection->next;
    return connection;
}

int pdb_is_calling_observer(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_check_handle(L, rows, 1, "observe_transactions");
    lua_pushboolean(L, calling_connection(rows, handle->database) != NULL);
    return 1;
}

/* Returns the connection to observe. Raises if it is a read-only connection of a pool. */
static pdb_connection *writing_connection(lua_State *L, pdb_state *rows, pdb_handle *handle) {
    pdb_connection *connection = calling_connection(rows, handle->database);
    if (connection) return connection;
    pdb_access *access = pdb_find_access(L, rows, handle->database, handle->token);
    if (access->is_readonly && (handle->database->flags & PDB_DATABASE_POOL)) {
        plua_raise(L, "nested_access", "observe_transactions: cannot be called inside db:read of a pool, whose connection is read-only");
    }
    return access->connection;
}

/* Adds an observer. Called with an open access or from an observer. Arguments: database or handle, functions, tables or nil, kinds,
** is_once. */
static int add(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_check_handle(L, rows, 1, "observe_transactions");
    pdb_connection *connection = writing_connection(L, rows, handle);
    lua_settop(L, 5);
    pdb_observer **block = lua_newuserdatauv(L, sizeof *block, DATABASE);
    *block = NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_setmetatable(L, -2);
    pdb_observer *observer = *block = calloc(1, sizeof *observer);
    if (observer == NULL) return luaL_error(L, "not enough memory");
    observer->owners = 1;
    observer->context = rows->context;
    observer->kinds = (unsigned)lua_tointeger(L, 4);
    observer->notifier = rows->notifier;
    if (rows->notifier.object) rows->notifier.retain(rows->notifier.object);
    observer->is_once = lua_toboolean(L, 5);
    pdb_push_database_object(L, 1);
    lua_setiuservalue(L, 6, DATABASE);
    take_functions(L, observer, 2, 6);
    take_tables(L, observer, 3);
    pdb_connection_observers *observers = pdb_make_observers(L, connection);
    pdb_retain_observers(observer->observers = observers);
    lua_pushvalue(L, 6);
    keep(L, observer);
    pdb_observers_add(observers, observer);
    pdb_observe(L);
    return 1;
}

int pdb_add_observer(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_check_handle(L, rows, 1, "observe_transactions");
    pdb_refuse_in_cluster(L, handle->database,
                          "transactions in a cluster cannot be observed, because other clients make them too; look for changes again and again: "
                          "perilune.every(seconds, f)");
    if (calling_connection(rows, handle->database)) return add(L);
    lua_settop(L, 5);
    lua_pushcfunction(L, add);
    for (int i = 1; i <= 5; i++) lua_pushvalue(L, i);
    return pdb_with_access(L, 1, PDB_WRITE_STATEMENT, 5);
}

/* MARK: - The state */

static int free_deferred_callbacks(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    pdb_free_deferred_callbacks(rows->deferred_callbacks);
    rows->deferred_callbacks = NULL;
    if (rows->notifier.object) rows->notifier.release(rows->notifier.object);
    rows->notifier.object = NULL;
    return 0;
}

/* MARK: - Connections */

static void will_begin(lua_State *L, pdb_connection *connection) {
    (void)L;
    pdb_begin_recorded_access(connection->handle);
    pdb_find_observers(connection);
    if (connection->observers) pdb_prune_observers(connection);
}

static size_t will_begin_savepoint(pdb_connection *connection) {
    return connection->observers ? pdb_observers_begin_savepoint(connection->observers, NULL) : 0;
}

/* Ends savepoints, including inner ones. Observers added in the block track all savepoints that were open at that time. */
static void did_end_savepoint(pdb_connection *connection, size_t mark, bool is_kept) {
    size_t depth = mark > 0 ? mark : (size_t)connection->savepoints;
    if (connection->observers) pdb_observers_end_savepoint(connection->observers, depth, is_kept);
}

static void did_control(pdb_connection *connection, const char *sql) {
    if (connection->observers == NULL) return;
    char *name = NULL;
    pdb_savepoint_command command = connection->database->rows->callbacks.sql.savepoint(sql, &name);
    if (name) pdb_observers_take_control(connection->observers, command, name);
    free(name);
}

static void did_end_statement(pdb_connection *connection) {
    if (connection->observers) pdb_observers_statement_ended(connection->observers);
}

static void did_fail_statement(pdb_connection *connection) {
    if (connection->observers) pdb_observers_statement_failed(connection->observers);
}

static void did_end(lua_State *L, pdb_connection *connection) {
    if (pdb_has_deferred_callbacks(connection->database->rows)) pdb_run_deferred_callbacks(L, connection);
}

static void did_fail(lua_State *L, pdb_connection *connection) {
    if (pdb_has_deferred_callbacks(connection->database->rows)) pdb_run_deferred_callbacks_after_failure(L, connection);
}

static void will_drop(pdb_connection *connection) {
    if (connection->observers) pdb_release_observers(connection->observers);
}

void pdb_push_observer_methods(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_getfield(L, -1, "__index");
    lua_remove(L, -2);
}

void pdb_open_observers(lua_State *L) {
    static const pdb_connection_hooks hooks = {
        .will_begin = will_begin, .will_begin_savepoint = will_begin_savepoint, .did_end_savepoint = did_end_savepoint,
        .did_control = did_control, .did_end_statement = did_end_statement, .did_fail_statement = did_fail_statement,
        .did_end = did_end, .did_fail = did_fail,
        .will_detach = remove_observers, .will_drop = will_drop};
    static const luaL_Reg metamethods[] = {{"__gc", collect}, {"__close", close_observer}, {"__tostring", to_string}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"cancel", cancel_observer}, {"is_active", observer_is_active}, {NULL, NULL}};
    static const char guard_metatable_key;
    pdb_new_metatable(L, &metatable_key, "observer", metamethods);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &observers_key);
    lua_newuserdatauv(L, 0, 0);
    pdb_new_metatable(L, &guard_metatable_key, "guard", (luaL_Reg[]){{"__gc", free_deferred_callbacks}, {NULL, NULL}});
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &guard_key);
    pdb_add_connection_hooks(pdb_state_of(L), &hooks);
}
