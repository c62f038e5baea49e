/* What recordings of changes, which are Swift's, have to hear of a connection. */
#include <stdatomic.h>

#include "CPeriluneRows/Connections/connections.h"

typedef void (*listener)(sqlite3 *handle);

static _Atomic(listener) watcher, interrupter;

void pdb_follow_recordings(listener watch, listener interrupt) {
    atomic_store(&watcher, watch);
    atomic_store(&interrupter, interrupt);
}

void pdb_watch_recordings(sqlite3 *handle) {
    listener watch = atomic_load_explicit(&watcher, memory_order_relaxed);
    if (watch) watch(handle);
}

void pdb_interrupt_recordings(sqlite3 *handle) {
    listener interrupt = atomic_load(&interrupter);
    if (interrupt) interrupt(handle);
}
