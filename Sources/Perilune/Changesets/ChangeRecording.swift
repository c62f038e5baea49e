internal import CPeriluneRows
internal import CPeriluneSQLite
internal import GRDB
internal import Synchronization

/// Records what changes in the schema "main" of one connection: by SQLite's session extension, or where scripts observe each change by
/// the hook that observers have taken. Everything here belongs on the queue of that connection.
final class ChangeRecording {
    private enum State {
        case complete
        /// It would have taken more memory than it may: what came after that is missing.
        case tooLarge
        /// The schema has changed in a way that cannot be followed, or memory is short, or observers have taken the hook of the session.
        case failed
    }

    /// The tables that were written to, rolled back or not, but for those of SQLite itself.
    private(set) var touchedTables: [String] = []
    private let connection: SQLiteConnection
    private var session: OpaquePointer?
    /// The hook of the observers, which stays as long as this recording.
    private var hook: UnsafeMutableRawPointer?
    private let rows: HookRecording
    private let excluded: [String]
    private let limitInBytes: Int
    private var state = State.complete

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
        var code = sqlite3session_create(connection, "main", &session)
        if code == SQLITE_OK { code = sqlite3session_attach(session, nil) }
        guard code == SQLITE_OK else {
            if let session { sqlite3session_delete(session) }
            session = nil
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        // Retained by the list of recordings until its end.
        sqlite3session_table_filter(
            session,
            { recording, table in
                let recording = Unmanaged<ChangeRecording>.fromOpaque(recording!).takeUnretainedValue()
                return recording.wants(String(cString: table!)) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Ends it, before the connection is closed.
    func end() {
        if let hook {
            self.hook = nil
            Recordings.remove(self)
            pdb_release_hook(hook)
        }
        guard let session else { return }
        Recordings.remove(self)
        let hook = pdb_lift_hook(connection)
        // Sessions find each other by the hook, which an observer has taken.
        if hook != nil { sqlite3_preupdate_hook(connection, { _, _, _, _, _, _, _ in }, UnsafeMutableRawPointer(session)) }
        sqlite3session_delete(session)
        pdb_put_hook_back(hook)
        self.session = nil
    }

    /// Whether it was given up because it had grown too large.
    var isTooLarge: Bool { state == .tooLarge }

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

    /// Asked at the first change of a table; again at each change of one that was refused.
    private func wants(_ table: String) -> Bool {
        guard !table.lowercased().hasPrefix("sqlite_") else { return false }
        if !touchedTables.contains(where: { $0.isSameTable(as: table) }) { touchedTables.append(table) }
        return !excluded.contains { $0.isSameTable(as: table) }
    }

    // MARK: - While statements run

    func checkSize() {
        let used = session.map { Int(sqlite3session_memory_used($0)) } ?? rows.memoryInBytes
        if state == .complete, used > limitInBytes { giveUp(.tooLarge) }
    }

    /// Observers take the hook of the session.
    fileprivate func interrupt() {
        if state == .complete, session != nil { giveUp(.failed) }
    }

    /// A row is about to change, in a connection that is observed.
    fileprivate func take(_ kind: CInt, of table: String) {
        if hook != nil, state == .complete, wants(table) { rows.take(kind, of: table) }
    }

    private func giveUp(_ state: State) {
        if let session { sqlite3session_enable(session, 0) }
        self.state = state
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
                    Recordings.onEach(connection) { $0.take(kind, of: String(cString: table)) }
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

extension Changeset {
    /// The changes by which "main" differs from the state that is attached as another schema, in tables that both have, with the same
    /// columns and key.
    init(_ db: Database, since schema: String, of tables: [String]) throws {
        let connection = db.sqliteConnection!
        let hook = pdb_lift_hook(connection)
        defer { pdb_put_hook_back(hook) }
        var session: OpaquePointer?
        var code = sqlite3session_create(connection, "main", &session)
        defer { if let session { sqlite3session_delete(session) } }
        for table in tables where code == SQLITE_OK {
            var message: UnsafeMutablePointer<CChar>?
            code = sqlite3session_attach(session, table)
            if code == SQLITE_OK { code = sqlite3session_diff(session, schema, table, &message) }
            sqlite3_free(message)
        }
        var bytes: UnsafeMutableRawPointer?
        var length: CInt = 0
        if code == SQLITE_OK { code = sqlite3session_changeset(session, &length, &bytes) }
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        self.init(taking: bytes, length: length)
    }
}
