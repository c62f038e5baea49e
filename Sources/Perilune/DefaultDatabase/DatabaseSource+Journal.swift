internal import GRDB
internal import PeriluneBindings

// The source option for the journal of a database file.

extension DatabaseSource {
    /// The journal of a database file, and how long its commits wait for the disk.
    ///
    /// ```swift
    /// let source = DatabaseSource.queue("shop.sqlite", journal: .init(synchronous: .normal))
    /// ```
    ///
    /// A killed process never loses a commit. See <doc:DurabilityAndSpeed> for power cuts.
    public struct Journal: Hashable, Sendable {
        /// A kind of journal.
        public enum Mode: String, CaseIterable, Sendable {
            /// A write-ahead log: readers and a writer do not block each other.
            case wal
            /// A rollback journal, which is deleted at the end of a transaction.
            case delete
        }

        /// SQLite's `PRAGMA synchronous`.
        public enum Synchronous: String, CaseIterable, Sendable {
            /// Nothing waits for the disk. A power cut can destroy the file.
            case off
            /// Commits to a write-ahead log do not wait for the disk. A power cut can undo the last ones.
            case normal
            /// Every commit waits for the disk.
            case full
            /// Like `full`, and the deletion of a rollback journal waits, too.
            case extra
        }

        /// The mode of a new file; `nil`, the default, for a write-ahead log if the file system supports it. An existing file keeps its
        /// mode. Pools always use a write-ahead log.
        public var mode: Mode?
        /// `nil`, the default, for `full` in a queue and `normal` in a pool.
        public var synchronous: Synchronous?

        /// Creates a journal.
        public init(mode: Mode? = nil, synchronous: Synchronous? = nil) {
            (self.mode, self.synchronous) = (mode, synchronous)
        }
    }
}

extension DatabaseSource.Journal {
    /// The journal with the choices of the process for everything that it leaves open.
    var completed: DatabaseSource.Journal {
        let file = FileJournal(self)
        return .init(
            mode: file.mode.flatMap { .init(rawValue: $0.rawValue) },
            synchronous: file.synchronous.flatMap { .init(rawValue: $0.rawValue) })
    }
}

extension FileJournal {
    /// Adds the choices of a source to the journal of the process.
    init(_ journal: DatabaseSource.Journal) {
        self = .standard
        if let mode = journal.mode { self.mode = Mode(rawValue: mode.rawValue) }
        if let synchronous = journal.synchronous { self.synchronous = Synchronous(rawValue: synchronous.rawValue) }
    }
}
