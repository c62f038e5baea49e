internal import CPeriluneSQLite
internal import Foundation
internal import GRDB

/// Records what changes in the database of one connection. Everything here belongs on the queue of that connection.
final class ChangeRecording {
    private var recording: OpaquePointer?

    /// Begins.
    ///
    /// - Parameters:
    ///   - excluded: Tables that sessions would fail on.
    ///   - limitInBytes: The memory that the recording may take.
    init(_ db: Database, excluding excluded: [String], limitInBytes: Int) throws {
        let names = excluded.map { strdup($0) }
        defer { names.forEach { free($0) } }
        let pointers = names.map { UnsafePointer($0) }
        let code = psql_recording_begin(db.sqliteConnection, pointers, pointers.count, limitInBytes, &recording)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// Ends it, before the connection is closed.
    func end() {
        if let recording { psql_recording_end(recording) }
        recording = nil
    }

    /// Whether it was given up because it had grown too large.
    var isTooLarge: Bool {
        psql_recording_status(recording) == PSQL_RECORDING_TOO_LARGE
    }

    /// The tables that were written to.
    var touchedTables: [String] {
        (0..<psql_recording_touched_count(recording)).map {
            String(cString: psql_recording_touched_table(recording, $0))
        }
    }

    /// The net changes; `nil` if the recording is not complete.
    func changeset() -> Changeset? {
        guard psql_recording_status(recording) == PSQL_RECORDING_COMPLETE else { return nil }
        var bytes: UnsafeMutableRawPointer?
        var length: CInt = 0
        guard psql_recording_changeset(recording, &bytes, &length) == SQLITE_OK else { return nil }
        return Changeset(taking: bytes, length: length)
    }
}

extension Changeset {
    /// The changes of some tables since the state that is attached as another schema.
    init(_ db: Database, since schema: String, of tables: [String]) throws {
        let names = tables.map { strdup($0) }
        defer { names.forEach { free($0) } }
        let pointers = names.map { UnsafePointer($0) }
        var bytes: UnsafeMutableRawPointer?
        var length: CInt = 0
        let code = psql_compare_schemas(db.sqliteConnection, schema, pointers, pointers.count, &bytes, &length)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        self.init(taking: bytes, length: length)
    }
}
