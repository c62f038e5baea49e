/* The observer set of a connection: SQLite's pre-update hook and the list of observers. */
#include "CPeriluneRows/Observers/observers.h"

#include <pthread.h>

#include <perilune_sessions.h>

/* All observer sets in the process; each belongs to a connection. Hosts that share a connection share its set. */
static pdb_connection_observers *hubs;
static pthread_mutex_t hubs_lock = PTHREAD_MUTEX_INITIALIZER;
/* Changes when a set is created or ends. Connections look for their set again only if it has changed. */
static _Atomic(unsigned) generation;

/* MARK: - Lifetime */

void pdb_retain_observers(pdb_connection_observers *observers) { atomic_fetch_add(&observers->owners, 1); }

void pdb_release_observers(pdb_connection_observers *observers) {
    if (atomic_fetch_sub(&observers->owners, 1) > 1) return;
    pdb_forget_savepoints(observers);
    pdb_observers_forget_tables(observers);
    sqlite3_free(observers->changes);
    free(observers->savepoints);
    free(observers);
}

static void enlist(pdb_connection_observers *observers) {
    pthread_mutex_lock(&hubs_lock);
    observers->next = hubs;
    hubs = observers;
    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&hubs_lock);
}

static void unlist(pdb_connection_observers *observers) {
    pthread_mutex_lock(&hubs_lock);
    for (pdb_connection_observers **link = &hubs; *link; link = &(*link)->next) {
        if (*link != observers) continue;
        *link = observers->next;
        atomic_fetch_add(&generation, 1);
        break;
    }
    pthread_mutex_unlock(&hubs_lock);
}

/* Finds and retains the set of a connection. Comparing pointers is safe, because GRDB reuses the address of a connection only after the set
** of that connection has ended. */
static pdb_connection_observers *find(sqlite3 *handle, void *grdb) {
    pthread_mutex_lock(&hubs_lock);
    pdb_connection_observers *observers = hubs;
    while (observers && (observers->handle != handle || observers->grdb != grdb)) observers = observers->next;
    if (observers) pdb_retain_observers(observers);
    pthread_mutex_unlock(&hubs_lock);
    return observers;
}

void pdb_observers_end(pdb_connection_observers *observers) {
    unlist(observers);
    atomic_store(&observers->is_ended, true);
    while (observers->first_observer) {
        pdb_observer *observer = observers->first_observer;
        observers->first_observer = observer->next;
        pdb_release_observer(observer);
    }
    pdb_release_observers(observers);
}

void pdb_find_observers(pdb_connection *connection) {
    unsigned now = atomic_load_explicit(&generation, memory_order_relaxed);
    if (connection->hub_generation == now) return;
    connection->hub_generation = now;
    if (connection->observers) pdb_release_observers(connection->observers);
    connection->observers = find(connection->handle, connection->grdb);
}

pdb_connection_observers *pdb_make_observers(lua_State *L, pdb_connection *connection) {
    pdb_find_observers(connection);
    if (connection->observers) return connection->observers;
    pdb_state *rows = pdb_state_of(L);
    pdb_connection_observers *observers = calloc(1, sizeof *observers);
    if (observers == NULL) luaL_error(L, "not enough memory");
    observers->owners = 1; /* owned by the relay */
    observers->handle = connection->handle;
    observers->grdb = connection->grdb;
    observers->sql = rows->callbacks.sql;
    bool may_refuse = pdb_begin_host_call(rows);
    observers->relay = rows->callbacks.observe(connection->grdb, observers);
    pdb_end_host_call(rows, may_refuse);
    for (int i = 0; i < connection->savepoints; i++) pdb_observers_begin_savepoint(observers, NULL);
    enlist(observers);
    pdb_find_observers(connection);
    return observers;
}

/* MARK: - The hook */

/* Ends the run if a default cannot be read, so that no observer takes the missing value for NULL. */
static sqlite3_value *default_of(sqlite3 *handle, pdb_observed_table *table, int column) {
    sqlite3_value *value = pdb_default_of(handle, table, column);
    plua_context *context = value ? NULL : plua_running_context();
    if (context) plua_cancel_run(context, PLUA_CANCEL_MEMORY);
    return value;
}

/* Reads the values of the row that is being changed. They live until the hook returns, or as long as the table. */
static void read_values(sqlite3 *handle, pdb_observed_table *table, sqlite3_value **values, int (*read)(sqlite3 *, int, sqlite3_value **)) {
    sqlite3_value *missing = psql_missing_value();
    for (int i = 0; i < table->count; i++) {
        if (read(handle, i, &values[i]) != SQLITE_OK) values[i] = NULL;
        else if (values[i] == missing && table->columns[i].name) values[i] = default_of(handle, table, i);
    }
}

/* Begins to record a transaction's changes. Forgets the known tables if another connection has changed the database since the last
** transaction. */
static void begin_changes(pdb_connection_observers *observers) {
    if (observers->is_changed) return;
    observers->is_changed = true;
    unsigned version = 0;
    sqlite3_file_control(observers->handle, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    if (version != observers->data_version) pdb_observers_forget_tables(observers);
}

static bool is_wanted(pdb_connection_observers *observers, const char *table, int kind);

static void will_change(void *context, sqlite3 *handle, int kind, const char *schema, const char *name, sqlite3_int64 former,
                        sqlite3_int64 current) {
    enum { few = 32 };
    pdb_connection_observers *observers = context;
    begin_changes(observers);
    pdb_record_change(handle, kind, schema, name);
    /* SQLite reports a write to an open blob as a deletion. */
    bool is_blob = sqlite3_preupdate_blobwrite(handle) >= 0;
    if (is_blob) kind = SQLITE_UPDATE, current = former;
    if (observers->is_deferring || !is_wanted(observers, name, kind)) return;
    pdb_observed_table *table = pdb_observed_table_of(observers, schema, name);
    if (table == NULL) return;
    sqlite3_value *fixed[few * 2], **values = fixed;
    if (table->count > few) values = calloc((size_t)table->count * 2, sizeof *values);
    if (values == NULL) return;
    pdb_change change = {.table = table, .kind = kind, .is_indirect = sqlite3_preupdate_depth(handle) > 0};
    change.former_rowid = kind == SQLITE_INSERT ? current : former;
    change.rowid = kind == SQLITE_DELETE ? former : current;
    /* Changes by open blobs are reported without values, because SQLite would read the whole row for each piece. */
    if (kind != SQLITE_INSERT && !is_blob) read_values(handle, table, change.former = values, sqlite3_preupdate_old);
    if (kind != SQLITE_DELETE && !is_blob) read_values(handle, table, change.current = values + table->count, psql_preupdate_new);
    table->owners++; /* the set may forget the table while an observer is called */
    pdb_observers_notify(observers, &change);
    pdb_release_observed_table(table);
    if (values != fixed) free(values);
}

bool pdb_observers_is_hooked(pdb_connection_observers *observers) { return observers->is_hooked; }

size_t pdb_observers_savepoint_count(pdb_connection_observers *observers) { return observers->savepoint_count; }

void pdb_observers_defer(pdb_connection_observers *observers, bool is_deferring) { observers->is_deferring = is_deferring; }

bool pdb_observers_wants(pdb_connection_observers *observers, const char *table, int kind) { return is_wanted(observers, table, kind); }

void pdb_observers_notify_later(pdb_connection_observers *observers, int kind, const char *schema, const char *name, sqlite3_int64 rowid) {
    if (!is_wanted(observers, name, kind)) return;
    pdb_observed_table *table = pdb_make_named_table(schema, name);
    if (table == NULL) return;
    pdb_change change = {.table = table, .kind = kind, .rowid = rowid, .former_rowid = rowid};
    pdb_call_observers(observers, &change);
    pdb_release_observed_table(table);
}

static void refuse(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count, (void)values;
    sqlite3_result_error(context, "not to be called", -1);
}

/* Makes SQLite recompile all statements. This is a side effect of redefining a function. */
bool pdb_expire_statements(sqlite3 *handle) {
    int code = SQLITE_OK;
    for (int i = 0; i < 2 && code == SQLITE_OK; i++) {
        code = sqlite3_create_function_v2(handle, "perilune_observed", 0, SQLITE_UTF8, NULL, refuse, NULL, NULL, NULL);
    }
    return code == SQLITE_OK;
}

/* The hook for connections that are only recorded. SQLite allows one hook per connection, so the observers' hook reports to recordings,
** too. */
static void record_change(void *context, sqlite3 *handle, int kind, const char *schema, const char *name, sqlite3_int64 former,
                          sqlite3_int64 current) {
    (void)context, (void)former, (void)current;
    pdb_record_change(handle, kind, schema, name);
}

/* Returns whether the hook of a connection was set for observers. */
static bool is_observed(sqlite3 *handle) {
    pthread_mutex_lock(&hubs_lock);
    pdb_connection_observers *observers = hubs;
    while (observers && (observers->handle != handle || !observers->is_hooked)) observers = observers->next;
    pthread_mutex_unlock(&hubs_lock);
    return observers != NULL;
}

static void install_hook(pdb_connection_observers *observers) {
    if (observers->is_hooked) return;
    pdb_follow_observers(is_observed);
    sqlite3_preupdate_hook(observers->handle, will_change, observers);
    observers->is_hooked = true;
    observers->has_stale = !pdb_expire_statements(observers->handle); /* tried again later */
}

static void remove_hook(pdb_connection_observers *observers) {
    if (!observers->is_hooked) return;
    sqlite3_preupdate_hook(observers->handle, pdb_is_recorded(observers->handle) ? record_change : NULL, NULL);
    observers->is_hooked = false;
}

/* Replaces the hook of a connection, unless it is the hook of observers. That is decided by the hook and not by the list of sets: the set of a
** closed connection may still exist when SQLite reuses its address for another connection. */
static void replace_hook(sqlite3 *handle, void (*hook)(void *, sqlite3 *, int, const char *, const char *, sqlite3_int64, sqlite3_int64)) {
    void *observers = sqlite3_preupdate_hook(handle, hook, NULL);
    if (observers) sqlite3_preupdate_hook(handle, will_change, observers);
}

void pdb_hook_recordings(sqlite3 *handle) { replace_hook(handle, record_change); }

void pdb_unhook_recordings(sqlite3 *handle) { replace_hook(handle, NULL); }

/* MARK: - Observers */

static bool wants(const pdb_observer *observer, const char *table, int kind) {
    if (atomic_load(&observer->is_removed) || !pdb_observer_has(observer, PDB_ON_CHANGE)) return false;
    if (!(observer->kinds & pdb_kind_bit(kind))) return false;
    if (observer->tables == NULL) return true;
    for (size_t i = 0; i < observer->table_count; i++) {
        if (sqlite3_stricmp(observer->tables[i], table) == 0) return true;
    }
    return false;
}

static bool is_wanted(pdb_connection_observers *observers, const char *table, int kind) {
    for (pdb_observer *observer = observers->first_observer; observer; observer = observer->next) {
        if (wants(observer, table, kind)) return true;
    }
    return false;
}

void pdb_observers_add(pdb_connection_observers *observers, pdb_observer *observer) {
    atomic_fetch_add(&observer->owners, 1);
    pdb_observer **link = &observers->first_observer;
    while (*link) link = &(*link)->next;
    *link = observer;
    if (pdb_observer_has(observer, PDB_ON_CHANGE)) install_hook(observers);
}

bool pdb_observers_prune(pdb_connection_observers *observers) {
    if (observers->calling > 0 || atomic_load(&observers->is_ended)) return false;
    if (observers->is_hooked && observers->has_stale) observers->has_stale = !pdb_expire_statements(observers->handle);
    if (!atomic_exchange(&observers->has_removed, false)) return false;
    bool has_changes = false;
    for (pdb_observer **link = &observers->first_observer; *link;) {
        pdb_observer *observer = *link;
        if (atomic_load(&observer->is_removed)) {
            *link = observer->next;
            pdb_release_observer(observer);
            continue;
        }
        if (pdb_observer_has(observer, PDB_ON_CHANGE)) has_changes = true;
        link = &observer->next;
    }
    if (!has_changes) remove_hook(observers);
    return observers->first_observer == NULL;
}

void pdb_prune_observers(pdb_connection *connection) {
    if (!pdb_observers_prune(connection->observers)) return;
    connection->database->rows->callbacks.stop_observing(connection->grdb, connection->observers->relay);
}

/* Returns the last observer. Observers that are added during a notification are notified only of later changes. */
static pdb_observer *last_of(pdb_connection_observers *observers) {
    pdb_observer *last = observers->first_observer;
    while (last && last->next) last = last->next;
    return last;
}

void pdb_call_observers(pdb_connection_observers *observers, const pdb_change *change) {
    pdb_observer *last = last_of(observers);
    observers->calling++;
    for (pdb_observer *observer = observers->first_observer; observer; observer = observer->next) {
        bool is_wanted = wants(observer, change->table->name, change->kind);
        if (is_wanted && !pdb_is_own(observer)) {
            pdb_post_change(observer, change);
        } else if (is_wanted && !observers->has_failed) {
            observers->has_failed = !pdb_call_on_change(observer, change);
        }
        if (observer == last) break;
    }
    observers->calling--;
}

/* MARK: - Transactions */

int pdb_observers_will_commit(pdb_connection_observers *observers) {
    pdb_flush_savepoints(observers);
    plua_context *context = plua_running_context();
    if (context == NULL) return LUA_OK;
    lua_State *L = context->running;
    if (observers->has_failed && pdb_take_pending_error(L)) return LUA_ERRRUN;
    pdb_observer *last = last_of(observers);
    int status = LUA_OK;
    observers->calling++;
    for (pdb_observer *observer = observers->first_observer; observer && status == LUA_OK; observer = observer->next) {
        status = pdb_call_will_commit(observer);
        if (observer == last) break;
    }
    observers->calling--;
    return status;
}

void pdb_observers_did_end(pdb_connection_observers *observers, bool is_commit) {
    pdb_forget_savepoints(observers);
    observers->has_failed = observers->is_changed = false;
    sqlite3_file_control(observers->handle, "main", SQLITE_FCNTL_DATA_VERSION, &observers->data_version);
    int function = is_commit ? PDB_DID_COMMIT : PDB_DID_ROLLBACK;
    for (pdb_observer *observer = observers->first_observer; observer; observer = observer->next) {
        if (atomic_load(&observer->is_removed)) continue;
        if (pdb_is_own(observer)) pdb_defer_callback(observer, function);
        else pdb_post_end(observer, is_commit);
    }
}

void pdb_observers_statement_failed(pdb_connection_observers *observers) {
    /* GRDB does not report the end of a transaction that consisted of one failed statement. */
    if (!observers->is_changed) return;
    if (sqlite3_get_autocommit(observers->handle)) pdb_observers_did_end(observers, false);
    else pdb_drop_statement(observers);
}
