internal import CPeriluneRows
internal import CPeriluneSQLite
package import GRDB
internal import PeriluneRecords

/// Support for double-quoted strings in triggers and views, as in `strftime("%s")`.
///
/// SQLite reads an unknown double-quoted name as a string, unless this is disabled for the connection, as GRDB does. A trigger or
/// view of another program that relies on it would make its tables unusable, so a connection accepts such strings if the schema
/// seems to contain one. They are never accepted in CREATE statements.
package enum DoubleQuotedStrings {
    package static func install(on db: Database) {
        if let connection = db.sqliteConnection { install(on: connection) }
    }

    /// - Returns: Whether they have just been enabled.
    @discardableResult
    static func install(on connection: OpaquePointer) -> Bool {
        guard psql_accept_double_quoted_strings(connection, -1) == 0, schemaHasString(connection) else { return false }
        _ = psql_accept_double_quoted_strings(connection, 1)
        return true
    }

    /// Runs a closure that compiles SQL. Runs it again if it failed because of a trigger or view created after the connection was
    /// opened.
    static func compiling<Result>(on db: Database, _ compile: () throws -> Result) throws -> Result {
        do {
            return try compile()
        } catch let error as DatabaseError where error.message?.contains("no such column: ") == true {
            guard let connection = db.sqliteConnection else { throw error }
            install(on: connection)
            // Repeated even if nothing has changed: reading the schema has replaced SQLite's position of the error.
            return try compile()
        }
    }

    private static let schemaSQL = OwnSQL.marked("""
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
