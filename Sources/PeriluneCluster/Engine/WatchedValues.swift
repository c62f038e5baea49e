internal import GRDB
internal import GRDBSQLite
internal import PeriluneRecords

/// Values for columns whose declared types nodes interpret. A node ends when another client selects such a column directly and it
/// holds a value of an unexpected class, and so does the next leader. Such values are not sent.
struct WatchedValues {
    /// Nodes compare complete type names, ignoring case.
    private enum Kind: String {
        case boolean, date, datetime, timestamp
    }

    private struct Watched {
        let column: String
        let kind: Kind
        let parameter: Int
    }

    private var parameters: [Watched] = []

    /// - Parameters:
    ///   - target: The table that the statement writes.
    ///   - compiled: The compiled statement.
    /// - Throws: ``ClusterFailure`` if the statement contains such a value.
    init?(_ sql: String, into target: String, _ compiled: OpaquePointer, in db: Database) throws {
        let columns = try Row.fetchAll(
            db, sql: "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [target]
        )
        .map { (name: $0[0] as String, kind: Kind(rawValue: ($0[1] as String? ?? "").lowercased())) }
        guard columns.contains(where: { $0.kind != nil }) else { return nil }
        for (target, value) in Assignments.of(sql) {
            let found =
                switch target {
                case .name(let name): columns.first { $0.name.foldedName == name }
                case .position(let position): position < columns.count ? columns[position] : nil
                }
            guard let found, let kind = found.kind else { continue }
            switch value {
            case .parameter(let number): parameters.append(Watched(column: found.name, kind: kind, parameter: number))
            case .named(let name):
                let number = sqlite3_bind_parameter_index(compiled, name)
                if number > 0 { parameters.append(Watched(column: found.name, kind: kind, parameter: Int(number))) }
            case .literal(let text): try Self.check(text, found.name, kind, db)
            }
        }
        if parameters.isEmpty { return nil }
    }

    /// - Throws: ``ClusterFailure`` if a value is not accepted.
    func check(_ call: RemoteCall) throws {
        for watched in parameters where watched.parameter <= Int(call.count) {
            guard let value = call.values?[watched.parameter - 1], !Self.isGood(value, watched.kind) else { continue }
            throw Self.failure(watched.column, watched.kind)
        }
    }

    private static func check(_ literal: String, _ column: String, _ kind: Kind, _ db: Database) throws {
        let statement = try db.makeStatement(sql: "SELECT \(literal)")
        try withExtendedLifetime(statement) {
            let handle = statement.sqliteStatement
            defer { sqlite3_reset(handle) }
            guard sqlite3_step(handle) == SQLITE_ROW, let value = sqlite3_column_value(handle, 0) else { return }
            if !isGood(value, kind) { throw failure(column, kind) }
        }
    }

    /// Returns whether a node accepts the value that SQLite stores. These columns have numeric affinity.
    private static func isGood(_ value: OpaquePointer, _ kind: Kind) -> Bool {
        switch sqlite3_value_type(value) {
        case SQLITE_NULL, SQLITE_INTEGER: return true
        case SQLITE_FLOAT: return Int64(exactly: sqlite3_value_double(value)) != nil
        case SQLITE_TEXT:
            // The original value stays a text.
            let copy = sqlite3_value_dup(value)
            defer { sqlite3_value_free(copy) }
            return switch sqlite3_value_numeric_type(copy) {
            case SQLITE_TEXT: kind != .boolean
            case SQLITE_FLOAT: Int64(exactly: sqlite3_value_double(copy)) != nil
            default: true
            }
        default: return false
        }
    }

    private static func failure(_ column: String, _ kind: Kind) -> ClusterFailure {
        let expected = kind == .boolean ? "an integer or a boolean" : "a text that is not a number, or an integer"
        return ClusterFailure(
            .refused,
            "a node of a cluster ends when it meets this value in the column \(column), declared \(kind.rawValue.uppercased()): write "
                + "\(expected), or declare the column as TEXT or REAL")
    }
}
