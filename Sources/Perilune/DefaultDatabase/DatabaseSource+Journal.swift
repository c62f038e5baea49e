internal import GRDB
internal import PeriluneBindings

// The journal options of a database source.

extension DatabaseSource {
    /// A kind of journal.
    public enum Journal: String, CaseIterable, Sendable {
        /// A write-ahead log, with which readers and a writer do not block each other.
        case wal
        /// A rollback journal, which is deleted at the end of a transaction.
        case delete
    }

    /// The synchronization of commits with the disk: SQLite's `PRAGMA synchronous`.
    ///
    /// ```swift
    /// let source = DatabaseSource.queue("shop.sqlite", synchronous: .normal)
    /// ```
    ///
    /// Killing the process never loses a commit. For power failures, see <doc:DurabilityAndSpeed>.
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

    /// The journal of a database file, and the synchronization of commits; `nil` for the defaults.
    struct JournalOptions: Hashable, Sendable {
        var mode: Journal?
        var synchronous: Synchronous?

        /// The options, with the defaults of the process for unspecified options.
        var completed: JournalOptions {
            let file = FileJournal(self)
            return .init(
                mode: file.mode.flatMap { .init(rawValue: $0.rawValue) },
                synchronous: file.synchronous.flatMap { .init(rawValue: $0.rawValue) })
        }
    }
}

extension FileJournal {
    /// Overrides the defaults of the process with the options of a source.
    init(_ journal: DatabaseSource.JournalOptions) {
        self = .standard
        if let mode = journal.mode { self.mode = Mode(rawValue: mode.rawValue) }
        if let synchronous = journal.synchronous { self.synchronous = Synchronous(rawValue: synchronous.rawValue) }
    }
}
