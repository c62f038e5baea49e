internal import CPeriluneRows
internal import CPeriluneSQLite
internal import Foundation
internal import GRDB
internal import PeriluneRecords
internal import Synchronization

/// Records what changes in the schema "main" of one connection: by SQLite's session extension, or where scripts observe each change by
/// the hook that observers have taken. Once that takes more memory than it may, only the names of the tables are noted that are written
/// to. Everything here belongs on the queue of that connection.
final class ChangeRecording {
    private enum State {
        case complete
        /// It would have taken more memory than it may: of what came after that, only the tables are known.
        case tooLarge
        /// The schema has changed in a way that cannot be followed, or memory is short, or observers have taken the hook of the session.
        case failed
    }

    /// The tables that were written to, rolled back or not, but for those of SQLite itself. Not all of them if ``hasFailed``.
    private(set) var touchedTables: [String] = []
    /// The name of the table that was written to last, to find at once that it is known.
    private var lastTable: [CChar] = []
    private var isLastTableWanted = false
    private let connection: SQLiteConnection
    private var session: OpaquePointer?
    /// Takes the place of the session when that has become too large: it records nothing.
    private var notingSession: OpaquePointer?
    /// The hook of the observers, which stays as long as this recording.
    private var hook: UnsafeMutableRawPointer?
    private let rows: HookRecording
    private let excluded: [String]
    private let limitInBytes: Int
    private var state = State.complete
    private var hasEnded = false

    /// Begins.
    ///
    /// - Parameters:
    ///   - excluded: Tables that are not recorded, such as those that sessions would fail on; it is noted that they were written to, and
    ///     so it is for tables that have no primary key.
    ///   - limitInBytes: The memory that the recording may take, looked at now and then while scripts run statements.
    init(_ db: Database, excluding excluded: [String], limitInBytes: Int) throws {
        connection = db.sqliteConnection!
        self.excluded = excluded
        self.limitInBytes = limitInBytes
        rows = HookRecording(connection)
        hook = pdb_hold_hook(connection)
        if hook == nil { try beginSession() }
        Recordings.add(self, on: connection)
    }

    private func beginSession() throws {
        session = try makeSession { recording, table in
            ChangeRecording.of(recording!).wants(table!) ? 1 : 0
        }
    }

    /// Begins a session on all tables for which a filter returns 1.
    private func makeSession(
        _ filter: @escaping @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> CInt
    ) throws -> OpaquePointer? {
        var session: OpaquePointer?
        var code = sqlite3session_create(connection, "main", &session)
        if code == SQLITE_OK { code = sqlite3session_attach(session, nil) }
        guard code == SQLITE_OK else {
            if let session { sqlite3session_delete(session) }
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        // Retained by the list of recordings until its end.
        sqlite3session_table_filter(session, filter, Unmanaged.passUnretained(self).toOpaque())
        return session
    }

    private static func of(_ context: UnsafeMutableRawPointer) -> ChangeRecording {
        Unmanaged<ChangeRecording>.fromOpaque(context).takeUnretainedValue()
    }

    /// Ends it, before the connection is closed.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        if let hook { pdb_release_hook(hook) }
        hook = nil
        deleteSessions()
        Recordings.remove(self)
    }

    /// Frees what was recorded, if it is of no use because it is not complete. Not to be called while statements run.
    func removeIncomplete() {
        guard state != .complete else { return }
        rows.removeAll()
        // The one that notes tables goes on.
        if state == .tooLarge, notingSession != nil { delete(&session) } else { deleteSessions() }
    }

    /// The one that has begun last, and knows the other, goes first.
    private func deleteSessions() {
        delete(&notingSession)
        delete(&session)
    }

    private func delete(_ session: inout OpaquePointer?) {
        guard let deleted = session else { return }
        session = nil
        let hook = pdb_lift_hook(connection)
        // Sessions find each other by the hook, which an observer has taken.
        if hook != nil { sqlite3_preupdate_hook(connection, { _, _, _, _, _, _, _ in }, UnsafeMutableRawPointer(deleted)) }
        sqlite3session_delete(deleted)
        pdb_put_hook_back(hook)
    }

    /// Whether it was given up because it had grown too large.
    var isTooLarge: Bool { state == .tooLarge }
    /// Whether not even the tables are known that were written to.
    var hasFailed: Bool { state == .failed }

    /// The net changes; `nil` if the recording is not complete.
    func changeset() -> Changeset? {
        guard state == .complete else { return nil }
        if hook != nil { return rows.changeset() }
        var bytes: UnsafeMutableRawPointer?
        var length: CInt = 0
        guard sqlite3session_changeset(session, &length, &bytes) == SQLITE_OK else {
            state = .failed
            return nil
        }
        return Changeset(taking: bytes, length: length)
    }

    /// The net changes, in a file if they are many; `nil` if the recording is not complete.
    ///
    /// - Throws: ``StorageError``.
    func storedChangeset() throws -> StoredBytes? {
        guard state == .complete else { return nil }
        if hook != nil { return rows.changeset().map { StoredBytes($0.bytes) } }
        let output = SpoolOutput()
        let code = sqlite3session_changeset_strm(
            session, { context, bytes, length in SpoolOutput.of(context!).take(UnsafeRawBufferPointer(start: bytes, count: Int(length))) },
            output.context)
        if let error = output.error { throw error }
        if code != SQLITE_OK { state = .failed }
        return code == SQLITE_OK ? try output.spool.finish() : nil
    }

    /// Called at the first change of a table; again at each change of one that was refused.
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
        guard state == .complete else { return }
        let used = session.map { Int(sqlite3session_memory_used($0)) } ?? rows.memoryInBytes
        if used > limitInBytes { giveUp(.tooLarge) }
    }

    /// Observers take the hook of the session.
    fileprivate func interrupt() {
        if session != nil || notingSession != nil { giveUp(.failed) }
    }

    /// A row is about to change, in a connection that is observed.
    fileprivate func take(_ kind: CInt, of table: UnsafePointer<CChar>) {
        guard hook != nil, state != .failed, wants(table) else { return }
        if state == .complete { rows.take(kind, of: String(cString: table)) }
    }

    private func giveUp(_ state: State) {
        guard self.state != .failed else { return }
        self.state = state
        guard let session else { return }
        sqlite3session_enable(session, 0)
        guard state == .tooLarge else { return }
        // A statement may run: the large one is deleted later. One that wants no table is asked about each change.
        do {
            notingSession = try makeSession { recording, table in
                _ = ChangeRecording.of(recording!).wants(table!)
                return 0
            }
        } catch {
            self.state = .failed
        }
    }
}

/// Keeps what a session writes.
private final class SpoolOutput {
    let spool = ByteSpool()
    private(set) var error: (any Error)?

    /// Valid as long as this object.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func of(_ context: UnsafeMutableRawPointer) -> SpoolOutput {
        Unmanaged<SpoolOutput>.fromOpaque(context).takeUnretainedValue()
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> CInt {
        do {
            try spool.append(bytes)
            return SQLITE_OK
        } catch {
            self.error = error
            return SQLITE_IOERR
        }
    }
}

/// The recordings of the process, so that the statements of a connection find its own.
private enum Recordings {
    private struct Entry {
        let connection: Int
        let recording: Int
    }

    /// By addresses, each of which is retained: they are used on the queue of their connection alone, where recordings begin and end too.
    private static let entries = Mutex<[Entry]>([])

    static func add(_ recording: ChangeRecording, on connection: SQLiteConnection) {
        let retained = Unmanaged.passRetained(recording).toOpaque()
        let entry = Entry(connection: Int(bitPattern: connection), recording: Int(bitPattern: retained))
        entries.withLock { entries in
            entries.append(entry)
            pdb_follow_recordings(
                { Recordings.onEach($0) { $0.checkSize() } }, { Recordings.onEach($0) { $0.interrupt() } },
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
            if entries.isEmpty { pdb_follow_recordings(nil, nil, nil) }
        }
        unmanaged.release()
    }

    private static func onEach(_ connection: OpaquePointer?, _ body: (ChangeRecording) -> Void) {
        let connection = Int(bitPattern: connection)
        for entry in entries.withLock({ $0.filter { $0.connection == connection } }) {
            body(Unmanaged<ChangeRecording>.fromOpaque(UnsafeRawPointer(bitPattern: entry.recording)!).takeUnretainedValue())
        }
    }
}

extension String {
    fileprivate func isSameTable(as name: String) -> Bool { sqlite3_stricmp(self, name) == 0 }
}
