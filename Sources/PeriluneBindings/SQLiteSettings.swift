internal import CPeriluneSQLite

/// Has SQLite count no memory. Returns whether it came before SQLite's first use.
package func disableSQLiteMemoryStatistics() -> Bool {
    psql_disable_memory_statistics() == SQLITE_OK
}

/// Has threads look again before they sleep, where they wait for each other in SQLite. Returns whether it came before its first use.
package func useAdaptiveSQLiteMutexes() -> Bool {
    psql_use_adaptive_mutexes() == SQLITE_OK
}
