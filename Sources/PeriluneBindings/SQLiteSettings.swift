internal import CPeriluneRows

/// Has SQLite count no memory. Returns whether it came before SQLite's first use.
package func disableSQLiteMemoryStatistics() -> Bool {
    perilune_disable_memory_statistics() == SQLITE_OK
}
