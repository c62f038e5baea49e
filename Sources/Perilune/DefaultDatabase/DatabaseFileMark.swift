#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A snapshot of the file system metadata of a database file and its journals, to detect writes. The files are not opened, because closing
/// them would release SQLite's locks.
struct DatabaseFileMark: Sendable {
    private struct Stamp: Equatable, Sendable {
        private let device: dev_t
        private let number: ino_t
        let size: Int64
        let seconds: Int64
        let nanoseconds: Int64

        init?(_ path: String) {
            var information = stat()
            guard stat(path, &information) == 0 else { return nil }
            #if canImport(Glibc)
            let time = information.st_mtim
            #else
            let time = information.st_mtimespec
            #endif
            (device, number) = (information.st_dev, information.st_ino)
            (size, seconds, nanoseconds) = (Int64(information.st_size), Int64(time.tv_sec), Int64(time.tv_nsec))
        }

        /// The time after which every write changes the modification time. File systems record times with a resolution of a few
        /// milliseconds, some of two seconds.
        var settles: Duration {
            .seconds(seconds) + .nanoseconds(nanoseconds) + (nanoseconds == 0 ? .milliseconds(2100) : .milliseconds(25))
        }
    }

    private let file: Stamp?
    private let log: Stamp?
    private let journal: Stamp?

    /// Reads the metadata of the files of a database.
    init(_ path: String) {
        file = Stamp(path)
        // An empty log counts as missing, because the last connection may delete it.
        log = Stamp(path + "-wal").flatMap { $0.size == 0 ? nil : $0 }
        journal = Stamp(path + "-journal")
    }

    /// Whether the file exists.
    var exists: Bool { file != nil }

    /// The remaining time until every further write is guaranteed to change the mark.
    var timeToSettle: Duration {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let moment = Duration.seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
        let longest = [file, log, journal].compactMap { $0?.settles }.max() ?? .zero
        // The maximum applies if the clock was set back, and the modification time is in the future.
        return min(max(longest - moment, .zero), .milliseconds(2100))
    }

    /// Returns whether a transaction may have been committed since another mark, which must have settled.
    ///
    /// The deletion of a log is not a change, because the connection that deletes the log has checkpointed it into the file before.
    func hasChanged(since mark: DatabaseFileMark) -> Bool {
        file != mark.file || journal != mark.journal || log != nil && log != mark.log
    }
}
