internal import CPeriluneRows
internal import CPeriluneSQLite
internal import Foundation
internal import GRDB
internal import PeriluneRecords
internal import Synchronization

/// A recording of the row changes in the schema "main" of one connection, based on SQLite's preupdate hook. If the recording exceeds its
/// memory limit, it keeps only the names of the changed tables. Must be used only on the connection's queue.
final class ChangeRecording {
    /// The names of the tables that were written to, even if the changes were rolled back. Excludes SQLite's internal tables.
    private(set) var touchedTables: [String] = []
    /// The C string of the last changed table, cached because consecutive changes usually concern the same table.
    private var lastTable: [CChar] = []
    private var isLastTableWanted = false
    private let connection: SQLiteConnection
    private let rows: RecordedRows
    private let excluded: [String]
    private let limitInBytes: Int
    /// Whether the recording exceeded its memory limit, and discarded its rows.
    private(set) var isTooLarge = false
    /// Whether prepared statements from before the hook may still exist, because a cursor was open when the recording began.
    private var hasStaleStatements: Bool
    private var hasEnded = false

    /// Starts to record.
    ///
    /// - Parameters:
    ///   - excluded: The tables whose rows are not recorded, such as tables without a key. Their names are still added to `touchedTables`.
    ///   - limitInBytes: The memory limit of the recording, checked periodically while scripts execute statements.
    ///   - memory: The allocator of the recording.
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

    /// The tables in which a key was replaced by a different key that SQLite considers equal. Complete only after a call of `changeset()`.
    var tablesWithReplacedKeys: Set<String> { rows.tablesWithReplacedKeys }

    /// Returns the net changes, which are in a file if they are large. Returns `nil` if the recording is incomplete: it exceeded its memory
    /// limit, or the columns of a table changed.
    ///
    /// - Throws: ``StorageError``.
    func changeset() throws -> StoredBytes? {
        isTooLarge ? nil : try rows.changeset()
    }

    /// Returns whether the changes of a table are recorded, and adds the table to `touchedTables`. Called for each change.
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

    /// A callback that runs before statements are executed.
    fileprivate func willBeginAccess() {
        if hasStaleStatements { hasStaleStatements = !pdb_expire_statements(connection) }
    }

    /// A callback of the preupdate hook, which runs before a row changes.
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

    /// The addresses of the connections and their recordings. The addresses remain valid, because each recording is retained, and is
    /// started, used and ended only on its connection's queue.
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
