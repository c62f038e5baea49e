/* The hub of a connection: SQLite's hook, and the list of observers. */
#include "CPeriluneRows/Observers/observers.h"

#include <pthread.h>

/* The hubs of the process, by connection: hosts that share one share its hub. */
static pdb_connection_observers *hubs;
static pthread_mutex_t hubs_lock = PTHREAD_MUTEX_INITIALIZER;
/* Changes when one is made or ends, so that others look only then. */
static _Atomic(unsigned) generation;

/* MARK: - Lifetime */

void pdb_retain_observers(pdb_connection_observers *hub) { atomic_fetch_add(&hub->owners, 1); }

void pdb_release_observers(pdb_connection_observers *hub) {
    if (atomic_fetch_sub(&hub->owners, 1) > 1) return;
    pdb_forget_savepoints(hub);
    pdb_observers_forget_tables(hub);
    free(hub->changes);
    free(hub->savepoints);
    free(hub);
}

static void enlist(pdb_connection_observers *hub) {
    pthread_mutex_lock(&hubs_lock);
    hub->next = hubs;
    hubs = hub;
    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&hubs_lock);
}

static void unlist(pdb_connection_observers *hub) {
    pthread_mutex_lock(&hubs_lock);
    for (pdb_connection_observers **link = &hubs; *link; link = &(*link)->next) {
        if (*link != hub) continue;
        *link = hub->next;
        atomic_fetch_add(&generation, 1);
        break;
    }
    pthread_mutex_unlock(&hubs_lock);
}

/* Retains it. A pointer of GRDB's is that of another object only when the hub has ended. */
static pdb_connection_observers *find(sqlite3 *handle, void *grdb) {
    pthread_mutex_lock(&hubs_lock);
    pdb_connection_observers *hub = hubs;
    while (hub && (hub->handle != handle || hub->grdb != grdb)) hub = hub->next;
    if (hub) pdb_retain_observers(hub);
    pthread_mutex_unlock(&hubs_lock);
    return hub;
}

void pdb_observers_end(pdb_connection_observers *hub) {
    unlist(hub);
    atomic_store(&hub->is_ended, true);
    while (hub->observers) {
        pdb_observer *observer = hub->observers;
        hub->observers = observer->next;
        pdb_release_observer(observer);
    }
    pdb_release_observers(hub);
}

void pdb_find_observers(pdb_connection *connection) {
    unsigned now = atomic_load_explicit(&generation, memory_order_relaxed);
    if (connection->hub_generation == now) return;
    connection->hub_generation = now;
    if (connection->hub) pdb_release_observers(connection->hub);
    connection->hub = find(connection->handle, connection->grdb);
}

pdb_connection_observers *pdb_make_observers(lua_State *L, pdb_connection *connection) {
    pdb_find_observers(connection);
    if (connection->hub) return connection->hub;
    pdb_state *rows = pdb_state_of(L);
    pdb_connection_observers *hub = calloc(1, sizeof *hub);
    if (hub == NULL) luaL_error(L, "not enough memory");
    hub->owners = 1; /* the relay's */
    hub->handle = connection->handle;
    hub->grdb = connection->grdb;
    hub->is_boolean = rows->callbacks.sql.is_boolean;
    bool may_refuse = pdb_begin_host_call(rows);
    hub->relay = rows->callbacks.observe(connection->grdb, hub);
    pdb_end_host_call(rows, may_refuse);
    for (int i = 0; i < connection->savepoints; i++) pdb_observers_begin_savepoint(hub, NULL);
    enlist(hub);
    pdb_find_observers(connection);
    return hub;
}

/* MARK: - The hook */

/* The values of the row that is being changed, which live until the hook returns. */
static void read_values(sqlite3 *handle, int count, sqlite3_value **values, int (*read)(sqlite3 *, int, sqlite3_value **)) {
    for (int i = 0; i < count; i++) {
        if (read(handle, i, &values[i]) != SQLITE_OK) values[i] = NULL;
    }
}

/* Others, in this process or not, may have changed the schema since the last transaction. */
static void begin_changes(pdb_connection_observers *hub) {
    if (hub->is_changed) return;
    hub->is_changed = true;
    unsigned version = 0;
    sqlite3_file_control(hub->handle, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    if (version != hub->data_version) pdb_observers_forget_tables(hub);
}

static bool is_wanted(pdb_connection_observers *hub, const char *table, int kind);

static void will_change(void *context, sqlite3 *handle, int kind, const char *schema, const char *name, sqlite3_int64 former,
                        sqlite3_int64 current) {
    enum { few = 32 };
    pdb_connection_observers *hub = context;
    begin_changes(hub);
    if (hub->is_deferring || !is_wanted(hub, name, kind)) return;
    pdb_observed_table *table = pdb_observed_table_of(hub, schema, name);
    if (table == NULL) return;
    sqlite3_value *fixed[few * 2], **values = fixed;
    if (table->count > few) values = calloc((size_t)table->count * 2, sizeof *values);
    if (values == NULL) return;
    pdb_change change = {.table = table, .kind = kind, .is_indirect = sqlite3_preupdate_depth(handle) > 0};
    change.former_rowid = kind == SQLITE_INSERT ? current : former;
    change.rowid = kind == SQLITE_DELETE ? former : current;
    if (kind != SQLITE_INSERT) read_values(handle, table->count, change.former = values, sqlite3_preupdate_old);
    if (kind != SQLITE_DELETE) read_values(handle, table->count, change.current = values + table->count, sqlite3_preupdate_new);
    table->owners++; /* the observer may make the hub forget it */
    pdb_observers_tell(hub, &change);
    pdb_release_observed_table(table);
    if (values != fixed) free(values);
}

bool pdb_observers_is_hooked(pdb_connection_observers *hub) { return hub->is_hooked; }

size_t pdb_observers_savepoint_count(pdb_connection_observers *hub) { return hub->savepoint_count; }

void pdb_observers_defer(pdb_connection_observers *hub, bool is_deferring) { hub->is_deferring = is_deferring; }

bool pdb_observers_wants(pdb_connection_observers *hub, const char *table, int kind) { return is_wanted(hub, table, kind); }

void pdb_observers_tell_later(pdb_connection_observers *hub, int kind, const char *schema, const char *name, sqlite3_int64 rowid) {
    if (!is_wanted(hub, name, kind)) return;
    pdb_observed_table *table = pdb_make_named_table(schema, name);
    if (table == NULL) return;
    pdb_change change = {.table = table, .kind = kind, .rowid = rowid, .former_rowid = rowid};
    pdb_call_observers(hub, &change);
    pdb_release_observed_table(table);
}

/*
** Statements that were compiled without the hook may empty a table at once, without telling of its rows. To define a function that
** is there already makes SQLite compile all statements anew.
*/
static void refuse(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count, (void)values;
    sqlite3_result_error(context, "not to be called", -1);
}

static void expire_statements(pdb_connection_observers *hub) {
    int code = SQLITE_OK;
    for (int i = 0; i < 2 && code == SQLITE_OK; i++) {
        code = sqlite3_create_function_v2(hub->handle, "perilune_observed", 0, SQLITE_UTF8, NULL, refuse, NULL, NULL, NULL);
    }
    hub->has_stale = code != SQLITE_OK; /* not while a cursor is open: it is tried again */
}

static void install_hook(pdb_connection_observers *hub) {
    if (hub->is_hooked) return;
    pdb_interrupt_recordings(hub->handle);
    sqlite3_preupdate_hook(hub->handle, will_change, hub);
    hub->is_hooked = true;
    expire_statements(hub);
}

static void remove_hook(pdb_connection_observers *hub) {
    if (!hub->is_hooked) return;
    sqlite3_preupdate_hook(hub->handle, NULL, NULL);
    hub->is_hooked = false;
}

void *pdb_lift_hook(sqlite3 *handle) {
    pthread_mutex_lock(&hubs_lock);
    pdb_connection_observers *hub = hubs;
    while (hub && (hub->handle != handle || !hub->is_hooked)) hub = hub->next;
    pthread_mutex_unlock(&hubs_lock);
    if (hub) sqlite3_preupdate_hook(handle, NULL, NULL);
    return hub;
}

void pdb_put_hook_back(void *lifted) {
    pdb_connection_observers *hub = lifted;
    if (hub) sqlite3_preupdate_hook(hub->handle, will_change, hub);
}

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

static bool is_wanted(pdb_connection_observers *hub, const char *table, int kind) {
    for (pdb_observer *observer = hub->observers; observer; observer = observer->next) {
        if (wants(observer, table, kind)) return true;
    }
    return false;
}

void pdb_observers_add(pdb_connection_observers *hub, pdb_observer *observer) {
    atomic_fetch_add(&observer->owners, 1);
    pdb_observer **link = &hub->observers;
    while (*link) link = &(*link)->next;
    *link = observer;
    if (pdb_observer_has(observer, PDB_ON_CHANGE)) install_hook(hub);
}

bool pdb_observers_prune(pdb_connection_observers *hub) {
    if (hub->calling > 0 || atomic_load(&hub->is_ended)) return false;
    if (hub->is_hooked && hub->has_stale) expire_statements(hub);
    if (!atomic_exchange(&hub->has_removed, false)) return false;
    bool has_changes = false;
    for (pdb_observer **link = &hub->observers; *link;) {
        pdb_observer *observer = *link;
        if (atomic_load(&observer->is_removed)) {
            *link = observer->next;
            pdb_release_observer(observer);
            continue;
        }
        if (pdb_observer_has(observer, PDB_ON_CHANGE)) has_changes = true;
        link = &observer->next;
    }
    if (!has_changes) remove_hook(hub);
    return hub->observers == NULL;
}

void pdb_prune_observers(pdb_connection *connection) {
    if (!pdb_observers_prune(connection->hub)) return;
    connection->database->rows->callbacks.stop_observing(connection->grdb, connection->hub->relay);
}

/* The last observer so far: those that are added while others are called are told of what comes later. */
static pdb_observer *last_of(pdb_connection_observers *hub) {
    pdb_observer *last = hub->observers;
    while (last && last->next) last = last->next;
    return last;
}

void pdb_call_observers(pdb_connection_observers *hub, const pdb_change *change) {
    pdb_observer *last = last_of(hub);
    hub->calling++;
    for (pdb_observer *observer = hub->observers; observer; observer = observer->next) {
        bool is_told = wants(observer, change->table->name, change->kind);
        if (is_told && !pdb_is_own(observer)) {
            pdb_post_change(observer, change);
        } else if (is_told && !hub->has_failed) {
            hub->has_failed = !pdb_call_on_change(observer, change);
        }
        if (observer == last) break;
    }
    hub->calling--;
}

/* MARK: - Transactions */

int pdb_observers_will_commit(pdb_connection_observers *hub) {
    pdb_flush_savepoints(hub);
    plua_context *context = plua_running_context();
    if (context == NULL) return LUA_OK;
    lua_State *L = context->running;
    if (hub->has_failed && pdb_take_pending_error(L)) return LUA_ERRRUN;
    pdb_observer *last = last_of(hub);
    int status = LUA_OK;
    hub->calling++;
    for (pdb_observer *observer = hub->observers; observer && status == LUA_OK; observer = observer->next) {
        status = pdb_call_will_commit(observer);
        if (observer == last) break;
    }
    hub->calling--;
    return status;
}

void pdb_observers_did_end(pdb_connection_observers *hub, bool is_commit) {
    pdb_forget_savepoints(hub);
    hub->has_failed = hub->is_changed = false;
    sqlite3_file_control(hub->handle, "main", SQLITE_FCNTL_DATA_VERSION, &hub->data_version);
    int function = is_commit ? PDB_DID_COMMIT : PDB_DID_ROLLBACK;
    for (pdb_observer *observer = hub->observers; observer; observer = observer->next) {
        if (atomic_load(&observer->is_removed)) continue;
        if (pdb_is_own(observer)) pdb_defer_callback(observer, function);
        else pdb_post_end(observer, is_commit);
    }
}

void pdb_observers_statement_failed(pdb_connection_observers *hub) {
    /* GRDB does not tell of the end of a transaction that one failed statement was. */
    if (!hub->is_changed) return;
    if (sqlite3_get_autocommit(hub->handle)) pdb_observers_did_end(hub, false);
    else pdb_drop_statement(hub);
}
