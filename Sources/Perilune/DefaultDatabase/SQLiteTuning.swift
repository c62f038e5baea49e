internal import PeriluneBindings

/// Settings of SQLite for the whole process.
public enum SQLiteTuning {
    /// Turns off SQLite's memory statistics, which makes writes and scans up to a fifth faster and lets threads scale.
    ///
    /// For programs that own their process: call it before anything uses SQLite.
    ///
    /// - Returns: Whether it came in time.
    /// - SeeAlso: SQLite's `SQLITE_CONFIG_MEMSTATUS`.
    @discardableResult
    public static func disableMemoryStatistics() -> Bool {
        disableSQLiteMemoryStatistics()
    }

    /// Makes threads that wait for an SQLite mutex spin for a while before they sleep.
    ///
    /// The readers of one file share a mutex, which each statement outside of a transaction takes for some microseconds. With it,
    /// two hosts that read statement by statement read nearly twice as much as one; without it, no more than one.
    ///
    /// For programs that own their process: call it before anything uses SQLite.
    ///
    /// - Returns: Whether it came in time, and the system has such mutexes (the GNU C library).
    /// - SeeAlso: SQLite's `SQLITE_CONFIG_MUTEX`.
    @discardableResult
    public static func useAdaptiveMutexes() -> Bool {
        useAdaptiveSQLiteMutexes()
    }
}
