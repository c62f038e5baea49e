internal import GRDB
internal import GRDBSQLite
internal import PeriluneRecords

/// The parameters for columns whose declared types dqlite interprets. A value of an unexpected storage class in such a column
/// crashes the node when another client selects the column directly, and then crashes the next leader, too. Such values must not be
/// sent.
struct WatchedValues {
    /// The declared types that nodes interpret. Nodes compare the complete type name without regard to case.
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
    ///   - target: The table to which the statement writes.
    ///   - compiled: The compiled statement.
    /// - Throws: ``ClusterFailure`` if the statement contains a literal that must not be sent.
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

    /// - Throws: ``ClusterFailure`` if a value must not be sent.
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

    /// Returns whether a node accepts the value in the form in which SQLite stores it. The columns have numeric affinity, which may
    /// convert the value.
    private static func isGood(_ value: OpaquePointer, _ kind: Kind) -> Bool {
        switch sqlite3_value_type(value) {
        case SQLITE_NULL, SQLITE_INTEGER: return true
        case SQLITE_FLOAT: return Int64(exactly: sqlite3_value_double(value)) != nil
        case SQLITE_TEXT:
            // Convert a copy, because the original value must stay text.
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
