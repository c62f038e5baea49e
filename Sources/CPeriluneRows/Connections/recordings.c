/* Connection events for Swift's recordings of changes, and the check whether anything reads changes. */
#include <stdatomic.h>

#include "CPeriluneRows/Connections/connections.h"

typedef void (*listener)(sqlite3 *handle);
typedef bool (*question)(sqlite3 *handle);
typedef void (*change_listener)(sqlite3 *handle, int kind, const char *schema, const char *table);

static _Atomic(listener) checker, beginner;
static _Atomic(question) asker, observed_asker;
static _Atomic(change_listener) recorder;

void pdb_follow_recordings(listener check, listener will_begin, question is_recorded, change_listener record) {
    atomic_store(&checker, check);
    atomic_store(&beginner, will_begin);
    atomic_store(&asker, is_recorded);
    atomic_store(&recorder, record);
}

void pdb_check_recordings(sqlite3 *handle) {
    listener check = atomic_load_explicit(&checker, memory_order_relaxed);
    if (check) check(handle);
}

void pdb_begin_recorded_access(sqlite3 *handle) {
    listener will_begin = atomic_load_explicit(&beginner, memory_order_relaxed);
    if (will_begin) will_begin(handle);
}

bool pdb_is_recorded(sqlite3 *handle) {
    question is_recorded = atomic_load(&asker);
    return is_recorded && is_recorded(handle);
}

void pdb_record_change(sqlite3 *handle, int kind, const char *schema, const char *table) {
    change_listener record = atomic_load_explicit(&recorder, memory_order_relaxed);
    if (record) record(handle, kind, schema, table);
}

void pdb_follow_observers(question is_observed) { atomic_store(&observed_asker, is_observed); }

bool pdb_is_hooked(sqlite3 *handle) {
    question is_observed = atomic_load(&observed_asker);
    return (is_observed && is_observed(handle)) || pdb_is_recorded(handle);
}
