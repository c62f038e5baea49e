internal import CPeriluneSQLite

/// Disables SQLite's memory statistics. Returns false if SQLite was already in use, in which case nothing changes.
package func disableSQLiteMemoryStatistics() -> Bool {
    psql_disable_memory_statistics() == SQLITE_OK
}

/// Makes threads that wait for SQLite mutexes spin before they sleep. Returns false if SQLite was already in use, in which case
/// nothing changes.
package func useAdaptiveSQLiteMutexes() -> Bool {
    psql_use_adaptive_mutexes() == SQLITE_OK
}
