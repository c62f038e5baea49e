internal import PeriluneBindings

/// Process-wide SQLite settings for performance.
public enum SQLiteTuning {
    /// Turns off SQLite's memory statistics, which makes writes and scans up to 20 % faster, and improves scaling over several threads.
    ///
    /// Only a program that controls the whole process should call this, before any use of SQLite.
    ///
    /// - Returns: Whether the setting was applied before the first use of SQLite.
    /// - SeeAlso: SQLite's `SQLITE_CONFIG_MEMSTATUS`.
    @discardableResult
    public static func disableMemoryStatistics() -> Bool {
        disableSQLiteMemoryStatistics()
    }

    /// Makes threads that wait for an SQLite mutex spin for a short time before they sleep.
    ///
    /// The readers of a file share a mutex, which each statement outside of a transaction holds for a few microseconds. If scripts read
    /// with single statements, adaptive mutexes nearly double the throughput of two hosts. Otherwise, two hosts read no faster than one.
    ///
    /// Only a program that controls the whole process should call this, before any use of SQLite.
    ///
    /// - Returns: Whether the setting was applied before the first use of SQLite, and the C library has adaptive mutexes (only
    ///   the GNU C library).
    /// - SeeAlso: SQLite's `SQLITE_CONFIG_MUTEX`.
    @discardableResult
    public static func useAdaptiveMutexes() -> Bool {
        useAdaptiveSQLiteMutexes()
    }
}
