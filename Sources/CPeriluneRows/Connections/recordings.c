/* What recordings of changes, which are Swift's, have to hear of a connection. */
#include <stdatomic.h>

#include "CPeriluneRows/Connections/connections.h"

typedef void (*listener)(sqlite3 *handle);
typedef void (*change_listener)(sqlite3 *handle, int kind, const char *schema, const char *table);

static _Atomic(listener) checker, interrupter;
static _Atomic(change_listener) recorder;

void pdb_follow_recordings(listener check, listener interrupt, change_listener record) {
    atomic_store(&checker, check);
    atomic_store(&interrupter, interrupt);
    atomic_store(&recorder, record);
}

void pdb_check_recordings(sqlite3 *handle) {
    listener check = atomic_load_explicit(&checker, memory_order_relaxed);
    if (check) check(handle);
}

void pdb_interrupt_recordings(sqlite3 *handle) {
    listener interrupt = atomic_load(&interrupter);
    if (interrupt) interrupt(handle);
}

void pdb_record_change(sqlite3 *handle, int kind, const char *schema, const char *table) {
    change_listener record = atomic_load_explicit(&recorder, memory_order_relaxed);
    if (record) record(handle, kind, schema, table);
}
