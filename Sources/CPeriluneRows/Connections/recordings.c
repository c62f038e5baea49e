/* What recordings of changes, which are Swift's, have to hear of a connection. */
#include <stdatomic.h>

#include "CPeriluneRows/Connections/connections.h"

typedef void (*listener)(sqlite3 *handle);

static _Atomic(listener) checker, interrupter;

void pdb_follow_recordings(listener check, listener interrupt) {
    atomic_store(&checker, check);
    atomic_store(&interrupter, interrupt);
}

void pdb_check_recordings(sqlite3 *handle) {
    listener check = atomic_load_explicit(&checker, memory_order_relaxed);
    if (check) check(handle);
}

void pdb_interrupt_recordings(sqlite3 *handle) {
    listener interrupt = atomic_load(&interrupter);
    if (interrupt) interrupt(handle);
}
