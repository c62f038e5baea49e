internal import CPeriluneRows
internal import CPeriluneSQLite
internal import Foundation
internal import GRDB
internal import PeriluneRecords
internal import Synchronization

/// Records changes in the schema "main" of one connection, by SQLite's hook for row changes. Once the recording exceeds its memory limit,
/// it notes only the names of the changed tables. Use it only on the queue of that connection.
final class ChangeRecording {
    /// The tables that were written to, even if rolled back, except SQLite's own.
    private(set) var touchedTables: [String] = []
    /// The name of the table that was written to last, to find at once that it is known.
    private var lastTable: [CChar] = []
    private var isLastTableWanted = false
    private let connection: SQLiteConnection
    private let rows: RecordedRows
    private let excluded: [String]
    private let limitInBytes: Int
    /// Whether the recording exceeded its memory limit: of later changes, only the tables are known.
    private(set) var isTooLarge = false
    /// Whether statements may be there that were compiled without the hook, since a cursor was open.
    private var hasStaleStatements: Bool
    private var hasEnded = false

    /// Begins.
    ///
    /// - Parameters:
    ///   - excluded: Tables that are not recorded, such as those without a key; it is noted that they were written to.
    ///   - limitInBytes: The memory that the recording may take, looked at now and then while scripts run statements.
    ///   - memory: The source of that memory.
    init(_ db: Database, excluding excluded: [String], limitInBytes: Int, in memory: RecordingMemory = .machine) {
        connection = db.sqliteConnection!
        self.excluded = excluded
        self.limitInBytes = limitInBytes
        rows = RecordedRows(connection, in: memory)
        pdb_hook_recordings(connection)
        hasStaleStatements = !pdb_expire_statements(connection)
        Recordings.add(self, on: connection)
    }

    /// Ends it, before the connection is closed.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        Recordings.remove(self)
        if !Recordings.has(connection) { pdb_unhook_recordings(connection) }
    }

    /// The tables in which a key has taken the place of another that SQLite considers equal; known with the changeset.
    var tablesWithReplacedKeys: Set<String> { rows.tablesWithReplacedKeys }

    /// The net changes, in a file if they are many; `nil` if the recording is not complete: too large, or the columns of a table changed.
    ///
    /// - Throws: ``StorageError``.
    func changeset() throws -> StoredBytes? {
        isTooLarge ? nil : try rows.changeset()
    }

    /// Called at each change.
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

    /// Statements are about to run.
    fileprivate func willBeginAccess() {
        if hasStaleStatements { hasStaleStatements = !pdb_expire_statements(connection) }
    }

    /// A row is about to change.
    fileprivate func take(_ kind: CInt, of table: UnsafePointer<CChar>) {
        guard wants(table), !isTooLarge else { return }
        rows.take(kind, of: table)
        if rows.isOutOfMemory { checkSize() }
    }
}

/// The recordings of the process, so that the statements of a connection find its own.
private enum Recordings {
    private struct Entry {
        let connection: Int
        let recording: Int
    }

    /// The entries by address, each of which is retained. Used only on the queue of their connection, on which recordings also begin and
    /// end.
    private static let entries = Mutex<[Entry]>([])

    static func add(_ recording: ChangeRecording, on connection: SQLiteConnection) {
        let retained = Unmanaged.passRetained(recording).toOpaque()
        let entry = Entry(connection: Int(bitPattern: connection), recording: Int(bitPattern: retained))
        entries.withLock { entries in
            entries.append(entry)
            pdb_follow_recordings(
                { Recordings.onEach($0) { $0.checkSize() } }, { Recordings.onEach($0) { $0.willBeginAccess() } }, { Recordings.has($0) },
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
