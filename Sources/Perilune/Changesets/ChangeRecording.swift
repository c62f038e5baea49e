internal import CPeriluneRows
internal import CPeriluneSQLite
internal import Foundation
internal import GRDB
internal import PeriluneRecords
internal import Synchronization

/// A recording of the row changes in the schema "main" of one connection, made by SQLite's preupdate hook. A recording that
/// exceeds its memory limit keeps only the names of the changed tables. Use it only on the queue of that connection.
final class ChangeRecording {
    /// The names of the tables that were written to, including changes that were rolled back. SQLite's own tables are excluded.
    private(set) var touchedTables: [String] = []
    /// The name of the table that was written to last, a cache for consecutive changes of one table.
    private var lastTable: [CChar] = []
    private var isLastTableWanted = false
    private let connection: SQLiteConnection
    private let rows: RecordedRows
    private let excluded: [String]
    private let limitInBytes: Int
    /// Whether the recording exceeded its memory limit. Its rows are then discarded, and only the names of the tables are known.
    private(set) var isTooLarge = false
    /// Whether statements compiled without the hook may still exist, because a cursor was open when the recording began.
    private var hasStaleStatements: Bool
    private var hasEnded = false

    /// Begins to record.
    ///
    /// - Parameters:
    ///   - excluded: The tables whose rows are not recorded, such as tables without a key. Their names are still added to
    ///     `touchedTables`.
    ///   - limitInBytes: The memory limit of the recording, checked from time to time while scripts execute statements.
    ///   - memory: The source of the recording's memory.
    init(_ db: Database, excluding excluded: [String], limitInBytes: Int, in memory: RecordingMemory = .machine) {
        connection = db.sqliteConnection!
        self.excluded = excluded
        self.limitInBytes = limitInBytes
        rows = RecordedRows(connection, in: memory)
        pdb_hook_recordings(connection)
        hasStaleStatements = !pdb_expire_statements(connection)
        Recordings.add(self, on: connection)
    }

    /// Ends the recording. Must be called before the connection is closed.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        Recordings.remove(self)
        if !Recordings.has(connection) { pdb_unhook_recordings(connection) }
    }

    /// The tables in which a key was replaced by a key that SQLite considers equal. Complete after `changeset()` was called.
    var tablesWithReplacedKeys: Set<String> { rows.tablesWithReplacedKeys }

    /// Returns the net changes, in a file if they are large; `nil` if the recording is incomplete, because it is too large or the
    /// columns of a table changed.
    ///
    /// - Throws: ``StorageError``.
    func changeset() throws -> StoredBytes? {
        isTooLarge ? nil : try rows.changeset()
    }

    /// Returns whether the changes of a table are recorded. Called for each change.
    private func wants(_ table: UnsafePointer<CChar>) -> Bool {
        if !lastTable.isEmpty, strcmp(table, lastTable) == 0 { return isLastTableWanted }
        let name = String(cString: table)
        lastTable = Array(UnsafeBufferPointer(start: table, count: Int(strlen(table)) + 1))
        isLastTableWanted = wants(name)
        return isLastTableWanted
    }

    private func wants(_ table: String) -> Bool {
        guard !table.foldedName.hasPrefix("sqlite_") else { return false }
        if !touchedTables.contains(where: { $0.isSameTable(as: table) }) { touchedTables.append(table) }
        return !excluded.contains { $0.isSameTable(as: table) }
    }

    // MARK: - While statements run

    func checkSize() {
        guard !isTooLarge, rows.isOutOfMemory || rows.memoryInBytes > limitInBytes else { return }
        isTooLarge = true
        rows.removeAll()
    }

    /// Called before statements are executed.
    fileprivate func willBeginAccess() {
        if hasStaleStatements { hasStaleStatements = !pdb_expire_statements(connection) }
    }

    /// Called before a row changes.
    fileprivate func take(_ kind: CInt, of table: UnsafePointer<CChar>) {
        guard wants(table), !isTooLarge else { return }
        rows.take(kind, of: table)
        if rows.isOutOfMemory { checkSize() }
    }
}

/// The active recordings of the process, by connection.
private enum Recordings {
    private struct Entry {
        let connection: Int
        let recording: Int
    }

    /// The connections and recordings as addresses. Each recording is retained, and used only on the queue of its connection, on
    /// which it also begins and ends.
    private static let entries = Mutex<[Entry]>([])

    static func add(_ recording: ChangeRecording, on connection: SQLiteConnection) {
        let retained = Unmanaged.passRetained(recording).toOpaque()
        let entry = Entry(connection: Int(bitPattern: connection), recording: Int(bitPattern: retained))
        entries.withLock { entries in
            entries.append(entry)
            pdb_follow_recordings(
                { Recordings.onEach($0) { $0.checkSize() } }, { Recordings.onEach($0) { $0.willBeginAccess() } },
                { Recordings.has($0) },
                { connection, kind, schema, table in
                    guard let schema, let table, sqlite3_stricmp(schema, "main") == 0 else { return }
                    Recordings.onEach(connection) { $0.take(kind, of: table) }
                })
        }
    }

    static func remove(_ recording: ChangeRecording) {
        let unmanaged = Unmanaged.passUnretained(recording)
        let address = Int(bitPattern: unmanaged.toOpaque())
        entries.withLock { entries in
            entries.removeAll { $0.recording == address }
            if entries.isEmpty { pdb_follow_recordings(nil, nil, nil, nil) }
        }
        unmanaged.release()
    }

    static func has(_ connection: OpaquePointer?) -> Bool {
        let connection = Int(bitPattern: connection)
        return entries.withLock { $0.contains { $0.connection == connection } }
    }

    private static func onEach(_ connection: OpaquePointer?, _ body: (ChangeRecording) -> Void) {
        let connection = Int(bitPattern: connection)
        for entry in entries.withLock({ $0 }) where entry.connection == connection {
            body(Unmanaged<ChangeRecording>.fromOpaque(UnsafeRawPointer(bitPattern: entry.recording)!).takeUnretainedValue())
        }
    }
}

extension String {
    fileprivate func isSameTable(as name: String) -> Bool { sqlite3_stricmp(self, name) == 0 }
}
