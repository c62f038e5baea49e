/* The hub of a connection: SQLite's hook, and the list of observers. */
#include "CPeriluneRows/Observers/observers.h"

#include <pthread.h>

/* The hubs of the process, by connection: hosts that share one share its hub. */
static perilune_hub *hubs;
static pthread_mutex_t hubs_lock = PTHREAD_MUTEX_INITIALIZER;
/* Changes when one is made or ends, so that others look only then. */
static _Atomic(unsigned) generation;

/* MARK: - Lifetime */

void perilune_retain_hub(perilune_hub *hub) { atomic_fetch_add(&hub->owners, 1); }

void perilune_release_hub(perilune_hub *hub) {
    if (atomic_fetch_sub(&hub->owners, 1) > 1) return;
    perilune_forget_savepoints(hub);
    perilune_hub_forget_tables(hub);
    free(hub->changes);
    free(hub->savepoints);
    free(hub);
}

static void enlist(perilune_hub *hub) {
    pthread_mutex_lock(&hubs_lock);
    hub->next = hubs;
    hubs = hub;
    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&hubs_lock);
}

static void unlist(perilune_hub *hub) {
    pthread_mutex_lock(&hubs_lock);
    for (perilune_hub **link = &hubs; *link; link = &(*link)->next) {
        if (*link != hub) continue;
        *link = hub->next;
        atomic_fetch_add(&generation, 1);
        break;
    }
    pthread_mutex_unlock(&hubs_lock);
}

/* Retains it. A pointer of GRDB's is that of another object only when the hub has ended. */
static perilune_hub *find(sqlite3 *handle, void *grdb) {
    pthread_mutex_lock(&hubs_lock);
    perilune_hub *hub = hubs;
    while (hub && (hub->handle != handle || hub->grdb != grdb)) hub = hub->next;
    if (hub) perilune_retain_hub(hub);
    pthread_mutex_unlock(&hubs_lock);
    return hub;
}

void perilune_hub_end(perilune_hub *hub) {
    unlist(hub);
    atomic_store(&hub->is_ended, true);
    while (hub->observers) {
        perilune_observer *observer = hub->observers;
        hub->observers = observer->next;
        perilune_release_observer(observer);
    }
    perilune_release_hub(hub);
}

void perilune_find_hub(perilune_connection *connection) {
    unsigned now = atomic_load_explicit(&generation, memory_order_relaxed);
    if (connection->hub_generation == now) return;
    connection->hub_generation = now;
    if (connection->hub) perilune_release_hub(connection->hub);
    connection->hub = find(connection->handle, connection->grdb);
}

perilune_hub *perilune_make_hub(lua_State *L, perilune_connection *connection) {
    perilune_find_hub(connection);
    if (connection->hub) return connection->hub;
    perilune_rows *rows = perilune_rows_of(L);
    perilune_hub *hub = calloc(1, sizeof *hub);
    if (hub == NULL) luaL_error(L, "not enough memory");
    hub->owners = 1; /* the relay's */
    hub->handle = connection->handle;
    hub->grdb = connection->grdb;
    bool may_refuse = perilune_leave_lua(rows);
    hub->relay = rows->callbacks.observe(connection->grdb, hub);
    perilune_return_to_lua(rows, may_refuse);
    for (int i = 0; i < connection->savepoints; i++) perilune_hub_begin_savepoint(hub, NULL);
    enlist(hub);
    perilune_find_hub(connection);
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
static void begin_changes(perilune_hub *hub) {
    if (hub->is_changed) return;
    hub->is_changed = true;
    unsigned version = 0;
    sqlite3_file_control(hub->handle, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    if (version != hub->data_version) perilune_hub_forget_tables(hub);
}

static bool is_wanted(perilune_hub *hub, const char *table, int kind);

static void will_change(void *context, sqlite3 *handle, int kind, const char *schema, const char *name, sqlite3_int64 former,
                        sqlite3_int64 current) {
    enum { few = 32 };
    perilune_hub *hub = context;
    begin_changes(hub);
    if (hub->is_deferring || !is_wanted(hub, name, kind)) return;
    perilune_observed_table *table = perilune_observed_table_of(hub, schema, name);
    if (table == NULL) return;
    sqlite3_value *fixed[few * 2], **values = fixed;
    if (table->count > few) values = calloc((size_t)table->count * 2, sizeof *values);
    if (values == NULL) return;
    perilune_change change = {.table = table, .kind = kind, .is_indirect = sqlite3_preupdate_depth(handle) > 0};
    change.former_rowid = kind == SQLITE_INSERT ? current : former;
    change.rowid = kind == SQLITE_DELETE ? former : current;
    if (kind != SQLITE_INSERT) read_values(handle, table->count, change.former = values, sqlite3_preupdate_old);
    if (kind != SQLITE_DELETE) read_values(handle, table->count, change.current = values + table->count, sqlite3_preupdate_new);
    table->owners++; /* the observer may make the hub forget it */
    perilune_hub_tell(hub, &change);
    perilune_release_observed_table(table);
    if (values != fixed) free(values);
}

bool perilune_hub_is_hooked(perilune_hub *hub) { return hub->is_hooked; }

size_t perilune_hub_savepoint_count(perilune_hub *hub) { return hub->savepoint_count; }

void perilune_hub_defer(perilune_hub *hub, bool is_deferring) { hub->is_deferring = is_deferring; }

bool perilune_hub_wants(perilune_hub *hub, const char *table, int kind) { return is_wanted(hub, table, kind); }

void perilune_hub_tell_later(perilune_hub *hub, int kind, const char *schema, const char *name, sqlite3_int64 rowid) {
    if (!is_wanted(hub, name, kind)) return;
    perilune_observed_table *table = perilune_make_named_table(schema, name);
    if (table == NULL) return;
    perilune_change change = {.table = table, .kind = kind, .rowid = rowid, .former_rowid = rowid};
    perilune_call_observers(hub, &change);
    perilune_release_observed_table(table);
}

/*
** Statements that were compiled without the hook may empty a table at once, without telling of its rows. To define a function that
** is there already makes SQLite compile all statements anew.
*/
static void refuse(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count, (void)values;
    sqlite3_result_error(context, "not to be called", -1);
}

static void expire_statements(perilune_hub *hub) {
    int code = SQLITE_OK;
    for (int i = 0; i < 2 && code == SQLITE_OK; i++) {
        code = sqlite3_create_function_v2(hub->handle, "perilune_observed", 0, SQLITE_UTF8, NULL, refuse, NULL, NULL, NULL);
    }
    hub->has_stale = code != SQLITE_OK; /* not while a cursor is open: it is tried again */
}

static void install_hook(perilune_hub *hub) {
    if (hub->is_hooked) return;
    psql_interrupt_recordings(hub->handle);
    sqlite3_preupdate_hook(hub->handle, will_change, hub);
    hub->is_hooked = true;
    expire_statements(hub);
}

static void remove_hook(perilune_hub *hub) {
    if (!hub->is_hooked) return;
    sqlite3_preupdate_hook(hub->handle, NULL, NULL);
    hub->is_hooked = false;
}

perilune_hub *perilune_lift_hook(sqlite3 *handle) {
    pthread_mutex_lock(&hubs_lock);
    perilune_hub *hub = hubs;
    while (hub && (hub->handle != handle || !hub->is_hooked)) hub = hub->next;
    pthread_mutex_unlock(&hubs_lock);
    if (hub) sqlite3_preupdate_hook(handle, NULL, NULL);
    return hub;
}

void perilune_put_hook_back(perilune_hub *hub) {
    if (hub) sqlite3_preupdate_hook(hub->handle, will_change, hub);
}

/* MARK: - Observers */

static bool wants(const perilune_observer *observer, const char *table, int kind) {
    if (atomic_load(&observer->is_removed) || !perilune_observer_has(observer, PERILUNE_ON_CHANGE)) return false;
    if (!(observer->kinds & perilune_kind_bit(kind))) return false;
    if (observer->tables == NULL) return true;
    for (size_t i = 0; i < observer->table_count; i++) {
        if (sqlite3_stricmp(observer->tables[i], table) == 0) return true;
    }
    return false;
}

static bool is_wanted(perilune_hub *hub, const char *table, int kind) {
    for (perilune_observer *observer = hub->observers; observer; observer = observer->next) {
        if (wants(observer, table, kind)) return true;
    }
    return false;
}

void perilune_hub_add(perilune_hub *hub, perilune_observer *observer) {
    atomic_fetch_add(&observer->owners, 1);
    perilune_observer **link = &hub->observers;
    while (*link) link = &(*link)->next;
    *link = observer;
    if (perilune_observer_has(observer, PERILUNE_ON_CHANGE)) install_hook(hub);
}

bool perilune_hub_prune(perilune_hub *hub) {
    if (hub->calling > 0 || atomic_load(&hub->is_ended)) return false;
    if (hub->is_hooked && hub->has_stale) expire_statements(hub);
    if (!atomic_exchange(&hub->has_removed, false)) return false;
    bool has_changes = false;
    for (perilune_observer **link = &hub->observers; *link;) {
        perilune_observer *observer = *link;
        if (atomic_load(&observer->is_removed)) {
            *link = observer->next;
            perilune_release_observer(observer);
            continue;
        }
        if (perilune_observer_has(observer, PERILUNE_ON_CHANGE)) has_changes = true;
        link = &observer->next;
    }
    if (!has_changes) remove_hook(hub);
    return hub->observers == NULL;
}

void perilune_prune_hub(perilune_connection *connection) {
    if (!perilune_hub_prune(connection->hub)) return;
    connection->database->rows->callbacks.stop_observing(connection->grdb, connection->hub->relay);
}

/* The last observer so far: those that are added while others are called are told of what comes later. */
static perilune_observer *last_of(perilune_hub *hub) {
    perilune_observer *last = hub->observers;
    while (last && last->next) last = last->next;
    return last;
}

void perilune_call_observers(perilune_hub *hub, const perilune_change *change) {
    perilune_observer *last = last_of(hub);
    hub->calling++;
    for (perilune_observer *observer = hub->observers; observer; observer = observer->next) {
        bool is_told = wants(observer, change->table->name, change->kind);
        if (is_told && !perilune_is_own(observer)) {
            perilune_post_change(observer, change);
        } else if (is_told && !hub->has_failed) {
            hub->has_failed = !perilune_call_on_change(observer, change);
        }
        if (observer == last) break;
    }
    hub->calling--;
}

/* MARK: - Transactions */

int perilune_hub_will_commit(perilune_hub *hub) {
    perilune_flush_savepoints(hub);
    plua_context *context = plua_running_context();
    if (context == NULL) return LUA_OK;
    lua_State *L = context->running;
    if (hub->has_failed && perilune_take_pending_error(L)) return LUA_ERRRUN;
    perilune_observer *last = last_of(hub);
    int status = LUA_OK;
    hub->calling++;
    for (perilune_observer *observer = hub->observers; observer && status == LUA_OK; observer = observer->next) {
        status = perilune_call_will_commit(observer);
        if (observer == last) break;
    }
    hub->calling--;
    return status;
}

void perilune_hub_did_end(perilune_hub *hub, bool is_commit) {
    perilune_forget_savepoints(hub);
    hub->has_failed = hub->is_changed = false;
    sqlite3_file_control(hub->handle, "main", SQLITE_FCNTL_DATA_VERSION, &hub->data_version);
    int function = is_commit ? PERILUNE_DID_COMMIT : PERILUNE_DID_ROLLBACK;
    for (perilune_observer *observer = hub->observers; observer; observer = observer->next) {
        if (atomic_load(&observer->is_removed)) continue;
        if (perilune_is_own(observer)) perilune_add_settlement(observer, function);
        else perilune_post_end(observer, is_commit);
    }
}

void perilune_hub_statement_failed(perilune_hub *hub) {
    /* GRDB does not tell of the end of a transaction that one failed statement was. */
    if (hub->is_changed && sqlite3_get_autocommit(hub->handle)) perilune_hub_did_end(hub, false);
}
