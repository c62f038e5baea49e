/*
** Limits on the memory that scripts make SQLite allocate, which Lua's allocator does not count.
*/
#include <limits.h>

#include <perilune_files.h>
#include <perilune_long_functions.h>

#include "CPeriluneRows/Connections/connections.h"

enum {
    least_growth = 16 << 20, /* the cache of a file alone may take 2 MB per connection */
    least_longest_value = 1 << 20,
};

static size_t cache_of(pdb_connection *connection) {
    int used, highest;
    if (sqlite3_db_status(connection->handle, SQLITE_DBSTATUS_CACHE_USED, &used, &highest, 0) != SQLITE_OK) return 0;
    return used < 0 ? (size_t)INT_MAX : (size_t)used;
}

/* Resets the counts if this run has not used the connection before. */
static void begin_counting(pdb_state *rows, pdb_connection *connection, size_t used) {
    uint64_t count = rows->context->count;
    if (rows->cache_count != count) rows->cache_growth = 0;
    rows->cache_count = count;
    if (connection->cache_count == count) return;
    connection->cache_count = count;
    connection->cache_base = used;
    connection->cache_growth = 0;
}

void pdb_watch_memory(pdb_connection *connection) {
    pdb_state *rows = connection->database->rows;
    size_t limit = rows->context->limit;
    if (limit == 0 || (rows->account.id != 0 && psql_counts_memory())) return;
    size_t used = cache_of(connection);
    begin_counting(rows, connection, used);
    size_t growth = used > connection->cache_base ? used - connection->cache_base : 0;
    rows->cache_growth += growth - connection->cache_growth;
    connection->cache_growth = growth;
    if (rows->cache_growth > (limit > least_growth ? limit : least_growth)) {
        plua_cancel_run(rows->context, PLUA_CANCEL_MEMORY);
    }
}

/* The SQLite limits that follow from the memory limit: the memory limit divided by `divisor`, but at least `least`. */
static const struct {
    int kind, least, divisor;
} bounds[PDB_BOUND_COUNT] = {
    {SQLITE_LIMIT_LENGTH, 1 << 20, 1}, /* SQLite must not create values that exceed Lua's limit */
    {SQLITE_LIMIT_SQL_LENGTH, 1 << 20, 16},
    {SQLITE_LIMIT_VDBE_OP, 1 << 18, 64},
};

void pdb_begin_bounds(pdb_connection *connection) {
    plua_context *context = connection->database->rows->context;
    if ((context->disk_left != INT64_MAX || context->usage.is_on) && !connection->has_watched_files) {
        connection->has_watched_files = psql_watch_files(connection->handle) == SQLITE_OK;
    }
    if (!context->limited) return;
    if (!connection->has_bounded_functions) {
        /* Fails while statements run; the next access tries again. */
        connection->has_bounded_functions = psql_bound_functions(connection->handle, plua_is_run_cancelled, pdb_is_hooked) == SQLITE_OK;
    }
    if (context->limit == 0) return;
    for (int i = 0; i < PDB_BOUND_COUNT; i++) {
        size_t most = context->limit / (size_t)bounds[i].divisor;
        if (most < (size_t)bounds[i].least) most = (size_t)bounds[i].least;
        int former = connection->former_limits[i] = sqlite3_limit(connection->handle, bounds[i].kind, -1);
        if (most < (size_t)former) sqlite3_limit(connection->handle, bounds[i].kind, (int)most);
    }
    pdb_watch_memory(connection);
}

void pdb_end_bounds(pdb_connection *connection) {
    if (connection->database->rows->context->limit == 0) return;
    pdb_watch_memory(connection);
    for (int i = 0; i < PDB_BOUND_COUNT; i++) sqlite3_limit(connection->handle, bounds[i].kind, connection->former_limits[i]);
}
