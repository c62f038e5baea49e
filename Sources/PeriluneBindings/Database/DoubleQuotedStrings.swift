internal import CPeriluneRows
internal import CPeriluneSQLite
package import GRDB
internal import PeriluneRecords
internal import Synchronization

/// Support for double-quoted strings in triggers and views, such as `strftime("%s")`.
///
/// By default, SQLite treats a double-quoted name that does not exist as a string. GRDB disables this. If a trigger or view of
/// another program depends on such strings, its tables would then be unusable. Therefore a connection accepts the strings if the
/// schema seems to contain one, but never in CREATE statements.
///
/// New SQL is still rejected if it contains such a string. Otherwise a misspelled column in double quotes would silently become a
/// string.
package enum DoubleQuotedStrings {
    /// Whether connections of this process reject such strings even in triggers and views.
    package static var areRefused: Bool {
        get { refusal.withLock { $0 } }
        set { refusal.withLock { $0 = newValue } }
    }

    private static let refusal = Mutex(false)

    package static func install(on db: Database) {
        if let connection = db.sqliteConnection { install(on: connection) }
    }

    /// - Returns: Whether this call enabled the strings.
    @discardableResult
    static func install(on connection: OpaquePointer) -> Bool {
        guard psql_accept_double_quoted_strings(connection, -1) == 0, schemaHasString(connection), !isRefusing(connection) else {
            return false
        }
        _ = psql_accept_double_quoted_strings(connection, 1)
        return true
    }

    // MARK: - Refusing

    /// The name of an SQL function that marks a connection, because SQLite 3.40 has no other way to attach data to a connection.
    private static let mark = "perilune_refuses_double_quoted_strings"

    /// Makes a connection reject double-quoted strings.
    static func refuse(on db: Database) {
        guard let connection = db.sqliteConnection else { return }
        sqlite3_create_function_v2(
            connection, mark, 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, nil, { context, _, _ in sqlite3_result_null(context) }, nil,
            nil, nil)
    }

    /// Returns whether a connection rejects double-quoted strings. Compiles a statement without running it, because a running
    /// statement would appear in traces.
    private static func isRefusing(_ connection: OpaquePointer) -> Bool {
        if areRefused { return true }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        return sqlite3_prepare_v2(connection, "SELECT \(mark)()", -1, &statement, nil) == SQLITE_OK
    }

    // MARK: - Compiling

    /// Runs a closure that compiles SQL. If it fails because of a trigger or view created after the connection was opened, enables
    /// the strings and retries.
    static func compiling<Result>(_ sql: String, on db: Database, _ compile: () throws -> Result) throws -> Result {
        guard let connection = db.sqliteConnection else { return try compile() }
        do {
            let result = try compile()
            try requireNames(in: sql, on: db, connection, compile)
            return result
        } catch let error as DatabaseError {
            guard let name = missingColumn(of: error), !SQLNames(in: sql).containsInDoubleQuotes(name) else { throw error }
            if install(on: connection) { return try compile() }
            if let owner = ownerOfString(name, connection) { throw explanation(of: error, name, owner) }
            // Fail again, because reading the schema has overwritten the error position in the connection.
            return try compile()
        }
    }

    /// Compiles a statement that contains double quotes again with the strings disabled, and throws if it depends on them.
    private static func requireNames<Result>(
        in sql: String, on db: Database, _ connection: OpaquePointer, _ compile: () throws -> Result
    ) throws {
        guard !db.configuration.acceptsDoubleQuotedStringLiterals, psql_accept_double_quoted_strings(connection, -1) != 0,
            sql.utf8.contains(UInt8(ascii: "\""))
        else { return }
        _ = psql_accept_double_quoted_strings(connection, 0)
        defer { _ = psql_accept_double_quoted_strings(connection, 1) }
        do {
            _ = try compile()
        } catch let error as DatabaseError {
            if let name = missingColumn(of: error), SQLNames(in: sql).containsInDoubleQuotes(name) { throw error }
        }
    }

    private static func missingColumn(of error: DatabaseError) -> String? {
        let prefix = "no such column: "
        guard let message = error.message, message.hasPrefix(prefix) else { return nil }
        return String(message.dropFirst(prefix.count))
    }

    private static func explanation(of error: DatabaseError, _ name: String, _ owner: String) -> DatabaseError {
        DatabaseError(
            resultCode: error.resultCode,
            message: """
                no such column: \(name): \(owner) has "\(name)" in double quotes, which this connection reads as a name; \
                write strings in single quotes there, or open the database without `double_quoted_strings = false`
                """,
            sql: error.sql)
    }

    private static let ownersSQL = OwnSQL.marked(
        "SELECT type, name, sql FROM main.sqlite_master WHERE type IN ('trigger', 'view')")

    /// Returns a description of the trigger or view that contains a double-quoted word: "the trigger `t`".
    private static func ownerOfString(_ word: String, _ connection: OpaquePointer) -> String? {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(connection, ownersSQL, -1, &statement, nil) == SQLITE_OK else { return nil }
        while sqlite3_step(statement) == SQLITE_ROW {
            guard let type = sqlite3_column_text(statement, 0), let name = sqlite3_column_text(statement, 1),
                let sql = sqlite3_column_text(statement, 2), SQLNames(in: String(cString: sql)).containsInDoubleQuotes(word)
            else { continue }
            return "the \(String(cString: type)) `\(String(cString: name))`"
        }
        return nil
    }

    // MARK: - The schema

    private static let schemaSQL = OwnSQL.marked(
        """
        SELECT type IN ('trigger', 'view'), name, sql FROM main.sqlite_master WHERE EXISTS \
        (SELECT 1 FROM main.sqlite_master WHERE type IN ('trigger', 'view') AND instr(sql, '"') > 0)
        """)

    /// Returns whether a trigger or view contains a double-quoted word that is not a name in the schema.
    private static func schemaHasString(_ connection: OpaquePointer) -> Bool {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(connection, schemaSQL, -1, &statement, nil) == SQLITE_OK else { return false }
        var quoted: Set<String> = [], names: Set<String> = ["rowid", "oid", "_rowid_", "old", "new", "excluded", "main", "temp"]
        while sqlite3_step(statement) == SQLITE_ROW {
            if let name = sqlite3_column_text(statement, 1) { names.insert(String(cString: name).foldedName) }
            guard let text = sqlite3_column_text(statement, 2) else { continue }
            let found = SQLNames(in: String(cString: text))
            if sqlite3_column_int(statement, 0) != 0 {
                quoted.formUnion(found.inDoubleQuotes)
                names.formUnion(found.inOtherForm)
            } else {
                names.formUnion(found.all)
            }
        }
        return quoted.contains { !names.contains($0.foldedName) }
    }
}
