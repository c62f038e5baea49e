/*
** Changes that may still be undone: by the running statement or inside open savepoints. They are reported once the statement has succeeded
** and the outermost savepoint is released, or dropped if they are undone. Scripts open savepoints with blocks or with SQL. The changes are
** in memory from SQLite's allocator, so they count toward the run's memory limit.
*/
#include <perilune_arrays.h>
#include <perilune_sqlite_arrays.h>

#include "CPeriluneRows/Observers/observers.h"

static sqlite3_value **copy_values(sqlite3_value **values, int count, size_t *bytes) {
    sqlite3_value **copies = values ? sqlite3_malloc64(((size_t)count + 1) * sizeof *copies) : NULL;
    for (int i = 0; copies && i < count; i++) {
        copies[i] = values[i] ? sqlite3_value_dup(values[i]) : NULL;
        *bytes += sizeof *copies + 64 + (values[i] ? (size_t)sqlite3_value_bytes(values[i]) : 0);
    }
    return copies;
}

static void free_values(sqlite3_value **values, int count) {
    for (int i = 0; values && i < count; i++) sqlite3_value_free(values[i]);
    sqlite3_free(values);
}

void pdb_free_change(pdb_change *change) {
    free_values(change->former, change->table->count);
    free_values(change->current, change->table->count);
    pdb_release_observed_table(change->table);
}

/* Drops all changes except the first `count`. */
static void drop_changes(pdb_connection_observers *observers, size_t count) {
    while (observers->change_count > count) pdb_free_change(&observers->changes[--observers->change_count]);
    if (count == 0) observers->changed_bytes = 0;
    if (observers->statement_start > count) observers->statement_start = count;
}

pdb_change pdb_copy_change(const pdb_change *change, size_t *bytes) {
    pdb_change copy = *change;
    copy.table->owners++;
    copy.former = copy_values(change->former, change->table->count, bytes);
    copy.current = copy_values(change->current, change->table->count, bytes);
    return copy;
}

/* Stores a copy of a change. Does nothing if memory runs out, because in that case the run is about to end or SQLite fails as well. */
static void keep_change(pdb_connection_observers *observers, const pdb_change *change) {
    if (!PSQL_ADD_ROOM(observers->changes, observers->change_count, observers->change_capacity)) return;
    observers->changes[observers->change_count++] = pdb_copy_change(change, &observers->changed_bytes);
    plua_context *context = plua_running_context();
    if (context && context->limit && observers->changed_bytes > context->limit) plua_cancel_run(context, PLUA_CANCEL_MEMORY);
}

/* Stores a change until it can no longer be undone. If no savepoint is open and no script is running, reports it at
** once, because in that case observers queue it until the commit. */
void pdb_observers_notify(pdb_connection_observers *observers, const pdb_change *change) {
    if (observers->savepoint_count == 0 && plua_running_context() == NULL) pdb_call_observers(observers, change);
    else keep_change(observers, change);
}

/* Reports the changes of released savepoints. */
static void flush(pdb_connection_observers *observers) {
    pdb_change *changes = observers->changes;
    size_t count = observers->change_count;
    observers->changes = NULL;
    observers->change_count = observers->change_capacity = observers->changed_bytes = observers->statement_start = 0;
    for (size_t i = 0; i < count; i++) {
        pdb_call_observers(observers, &changes[i]);
        pdb_free_change(&changes[i]);
    }
    sqlite3_free(changes);
}

void pdb_observers_statement_ended(pdb_connection_observers *observers) {
    if (observers->savepoint_count == 0) flush(observers);
    else observers->statement_start = observers->change_count;
}

void pdb_drop_statement(pdb_connection_observers *observers) {
    /* The count of changes is 0 if SQLite has undone the statement. After OR FAIL and RAISE(FAIL), the changes before the failure
    ** remain. */
    if (sqlite3_changes64(observers->handle) == 0) drop_changes(observers, observers->statement_start);
    pdb_observers_statement_ended(observers);
}

static void forget_savepoints(pdb_connection_observers *observers, size_t count) {
    while (observers->savepoint_count > count) free(observers->savepoints[--observers->savepoint_count].name);
}

size_t pdb_observers_begin_savepoint(pdb_connection_observers *observers, const char *name) {
    if (!PLUA_ADD_ROOM(observers->savepoints, observers->savepoint_count, observers->savepoint_capacity)) abort();
    observers->savepoints[observers->savepoint_count++] = (pdb_observed_savepoint){
        .name = name ? strdup(name) : NULL, .first_change = observers->change_count};
    return observers->savepoint_count;
}

void pdb_observers_end_savepoint(pdb_connection_observers *observers, size_t depth, bool is_kept) {
    if (depth == 0 || observers->savepoint_count < depth) return; /* the transaction has ended */
    if (!is_kept) drop_changes(observers, observers->savepoints[depth - 1].first_change);
    forget_savepoints(observers, depth - 1);
    if (observers->savepoint_count == 0) flush(observers);
    observers->has_failed = false;
}

void pdb_flush_savepoints(pdb_connection_observers *observers) {
    forget_savepoints(observers, 0);
    flush(observers);
}

void pdb_forget_savepoints(pdb_connection_observers *observers) {
    forget_savepoints(observers, 0);
    drop_changes(observers, 0);
}

/* MARK: - Savepoints in SQL */

/* Returns the number of the innermost savepoint with this name, from 1; 0 if none exists. */
static size_t depth_of(pdb_connection_observers *observers, const char *name) {
    size_t depth = observers->savepoint_count;
    while (depth > 0 && (observers->savepoints[depth - 1].name == NULL || sqlite3_stricmp(observers->savepoints[depth - 1].name, name) != 0)) {
        depth--;
    }
    return depth;
}

static void roll_back_to(pdb_connection_observers *observers, size_t depth) {
    if (depth == 0) return;
    drop_changes(observers, observers->savepoints[depth - 1].first_change);
    forget_savepoints(observers, depth);
}

void pdb_observers_take_control(pdb_connection_observers *observers, pdb_savepoint_command command, const char *name) {
    switch (command) {
        case PDB_SAVEPOINT_BEGIN: pdb_observers_begin_savepoint(observers, name); break;
        case PDB_SAVEPOINT_RELEASE: pdb_observers_end_savepoint(observers, depth_of(observers, name), true); break;
        case PDB_SAVEPOINT_ROLL_BACK: roll_back_to(observers, depth_of(observers, name)); break;
        case PDB_NO_SAVEPOINT: break;
    }
}
