#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The state of a database file and its journals as the file system shows it. The files are not opened, because closing them would release
/// SQLite's locks.
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

        /// The time after which every write changes the stamp: clocks of file systems tick every few milliseconds, some every two seconds.
        var settles: Duration {
            .seconds(seconds) + .nanoseconds(nanoseconds) + (nanoseconds == 0 ? .milliseconds(2100) : .milliseconds(25))
        }
    }

    private let file: Stamp?
    private let log: Stamp?
    private let journal: Stamp?

    /// Reads the state of the file at a path.
    init(_ path: String) {
        file = Stamp(path)
        // The last connection deletes an empty log.
        log = Stamp(path + "-wal").flatMap { $0.size == 0 ? nil : $0 }
        journal = Stamp(path + "-journal")
    }

    /// Whether the file exists.
    var exists: Bool { file != nil }

    /// The time until every further write changes the mark.
    var timeToSettle: Duration {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let moment = Duration.seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
        let longest = [file, log, journal].compactMap { $0?.settles }.max() ?? .zero
        // A time in the future, of a clock that was set back, settles nothing.
        return min(max(longest - moment, .zero), .milliseconds(2100))
    }

    /// Whether something may have been committed since another mark, which had settled.
    ///
    /// The removal of a log does not count: the connection that removes a log has copied it to the file before.
    func hasChanged(since mark: DatabaseFileMark) -> Bool {
        file != mark.file || journal != mark.journal || log != nil && log != mark.log
    }
}
