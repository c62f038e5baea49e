internal import PeriluneBindings

/// SQLite settings for the whole process.
public enum SQLiteTuning {
    /// Turns off SQLite's memory statistics, which makes writes and scans up to a fifth faster and lets threads scale.
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
    /// The readers of one file share a mutex, which each statement outside of a transaction holds for a few microseconds. With
    /// adaptive mutexes, two hosts that read statement by statement read nearly twice as much as one host. Without them, two
    /// hosts read no more than one.
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
