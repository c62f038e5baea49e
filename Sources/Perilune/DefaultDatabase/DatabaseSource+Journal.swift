internal import GRDB
internal import PeriluneBindings

// The journal options of a database source.

extension DatabaseSource {
    /// The journal of a database file, and the durability of its commits.
    ///
    /// ```swift
    /// let source = DatabaseSource.queue("shop.sqlite", journal: .init(synchronous: .normal))
    /// ```
    ///
    /// Killing the process never loses a commit. For power failures, see <doc:DurabilityAndSpeed>.
    public struct Journal: Hashable, Sendable {
        /// A kind of journal.
        public enum Mode: String, CaseIterable, Sendable {
            /// A write-ahead log, with which readers and a writer do not block each other.
            case wal
            /// A rollback journal, which is deleted at the end of a transaction.
            case delete
        }

        /// SQLite's `PRAGMA synchronous`.
        public enum Synchronous: String, CaseIterable, Sendable {
            /// SQLite never waits for the disk. A power failure can destroy the file.
            case off
            /// Commits to a write-ahead log do not wait for the disk. A power failure can undo the last commits.
            case normal
            /// Every commit waits for the disk.
            case full
            /// Like `full`, and the deletion of a rollback journal waits for the disk, too.
            case extra
        }

        /// The journal mode of a new file. By default, `nil`, a new file has a write-ahead log if the file system supports it. An existing
        /// file keeps its mode. Pools always use a write-ahead log.
        public var mode: Mode?
        /// The synchronization of commits. By default, `nil`, a queue uses `full` and a pool uses `normal`.
        public var synchronous: Synchronous?

        /// Creates the options of a journal.
        public init(mode: Mode? = nil, synchronous: Synchronous? = nil) {
            (self.mode, self.synchronous) = (mode, synchronous)
        }
    }
}

extension DatabaseSource.Journal {
    /// The journal options, with the defaults of the process for unspecified options.
    var completed: DatabaseSource.Journal {
        let file = FileJournal(self)
        return .init(
            mode: file.mode.flatMap { .init(rawValue: $0.rawValue) },
            synchronous: file.synchronous.flatMap { .init(rawValue: $0.rawValue) })
    }
}

extension FileJournal {
    /// Overrides the defaults of the process with the options of a source.
    init(_ journal: DatabaseSource.Journal) {
        self = .standard
        if let mode = journal.mode { self.mode = Mode(rawValue: mode.rawValue) }
        if let synchronous = journal.synchronous { self.synchronous = Synchronous(rawValue: synchronous.rawValue) }
    }
}
