internal import CPeriluneSQLite

/// Disables SQLite's memory statistics. Returns whether this happened before SQLite's first use.
package func disableSQLiteMemoryStatistics() -> Bool {
    psql_disable_memory_statistics() == SQLITE_OK
}

/// Makes threads that wait for SQLite mutexes spin before they sleep. Returns whether this happened before SQLite's first use.
package func useAdaptiveSQLiteMutexes() -> Bool {
    psql_use_adaptive_mutexes() == SQLITE_OK
}
