internal import CPeriluneSQLite
internal import Foundation
package import GRDB
internal import Glibc
internal import Synchronization

/// The journal mode of a database file, and the `synchronous` setting of its connections.
///
/// Unless a mode is specified, new files use a write-ahead log, with which readers and a writer do not block each other. Existing
/// files keep the mode that is stored in the file, because other programs may depend on it.
package struct FileJournal: Equatable, Sendable {
    package enum Mode: String, CaseIterable, Sendable {
        case wal, delete
    }

    /// SQLite's `PRAGMA synchronous`.
    package enum Synchronous: String, CaseIterable, Sendable {
        case off, normal, full, extra
    }

    /// The journal mode. `nil` means a write-ahead log for new files whose file system supports it.
    package var mode: Mode?
    /// The `synchronous` setting. `nil` means `full`, SQLite's default, or `normal`, GRDB's default for pools.
    package var synchronous: Synchronous?
    /// Whether existing files are switched to ``mode``.
    package var switchesExisting = false

    package init() {}

    /// The journal of files for which no other journal is specified.
    package static var standard: FileJournal {
        get { common.withLock { $0 } }
        set { common.withLock { $0 = newValue } }
    }

    private static let common = Mutex(FileJournal())

    /// Returns whether a file is on a network file system. For a missing file, checks its folder.
    package static func isOnNetwork(_ path: String) -> Bool {
        psql_is_on_network(path) || psql_is_on_network(URL(filePath: path).deletingLastPathComponent().path)
    }

    /// Adds the journal to the configuration of a database queue.
    ///
    /// - Parameter path: The file; `nil` for a database in memory.
    package func install(in configuration: inout Configuration, for path: String?) {
        guard let path, !configuration.readonly else { return }
        var journal = self
        if case .wal = configuration.journalMode {
            // Otherwise GRDB would set `synchronous` after this preparation.
            configuration.journalMode = .default
            (journal.mode, journal.synchronous, journal.switchesExisting) = (.wal, synchronous ?? .normal, true)
        }
        let isNew = Self.isNew(path), isRequired = journal.mode != nil
        if !isRequired, isNew, !Self.isOnNetwork(path) { journal.mode = .wal }
        if !isNew, !journal.switchesExisting { journal.mode = nil }
        guard journal.mode != nil || journal.synchronous != nil else { return }
        configuration.prepareDatabase { [journal] db in
            if let mode = journal.mode { try Self.set(mode, isRequired: isRequired, of: db) }
            if let synchronous = journal.synchronous { try Self.set(synchronous, of: db) }
        }
    }

    /// Applies the `synchronous` setting to the writer of an open pool. A pool always uses a write-ahead log.
    package func apply(to pool: DatabasePool) throws {
        guard let synchronous, !pool.configuration.readonly else { return }
        try pool.writeWithoutTransaction { db in try Self.set(synchronous, of: db) }
    }

    /// Returns whether a file is missing or empty.
    private static func isNew(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) != 0
            ? errno == ENOENT : information.st_mode & S_IFMT == S_IFREG && information.st_size == 0
    }

    private static func set(_ synchronous: Synchronous, of db: Database) throws {
        try db.execute(sql: OwnSQL.marked("PRAGMA synchronous = \(synchronous.rawValue)"))
    }

    static func set(_ mode: Mode, isRequired: Bool, of db: Database) throws {
        do {
            let result = try String.fetchOne(db, sql: OwnSQL.marked("PRAGMA journal_mode = \(mode.rawValue)"))
            guard result != mode.rawValue, isRequired else { return }
            throw DatabaseError(message: "journal_mode \(mode.rawValue) is not possible on its file system")
        } catch  where !isRequired {
            // Another process is creating the same file and chooses its mode.
        }
    }
}
