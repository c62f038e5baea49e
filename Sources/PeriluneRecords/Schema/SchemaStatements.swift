package import GRDB

/// The SQL statements that create a schema.
package enum SchemaStatements {
    /// Returns the statements that recreate the schema of the main database: tables, then indexes, views and triggers, each in order of
    /// creation. Objects that SQLite and virtual tables create by themselves are left out.
    ///
    /// - Parameters:
    ///   - table: The table or view to which the result is limited, ignoring case; `nil` for all.
    ///   - leavesOutOwn: Whether to leave out Perilune's internal tables, which migrations do not create.
    package static func read(in db: Database, of table: String? = nil, leavesOutOwn: Bool = false) throws -> [String] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT sql, name, tbl_name FROM sqlite_schema
                WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_%' ESCAPE '@'
                AND name NOT IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow')
                AND (?1 IS NULL OR lower(tbl_name) = lower(?1))
                ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, rowid
                """, arguments: [table])
        return rows.filter { !leavesOutOwn || !OwnTables.own($0["name"], of: $0["tbl_name"]) }.map { $0["sql"] }
    }

    /// Returns the statements as one text, with a line for each.
    package static func text(_ statements: [String]) -> String { statements.map { ended($0) + "\n" }.joined() }

    /// Returns a statement with a semicolon that is not part of a comment: SQLite keeps a comment at the end of a view's SQL.
    package static func ended(_ statement: String) -> String {
        let text = Array(statement.utf8)
        let last = text.withUnsafeBufferPointer { bytes in SQLScanner(bytes).reduce(SQLToken?.none) { $1 } }
        guard let last, last.kind == .comment else { return statement + ";" }
        guard last.isClosed else { return statement + "*/;" }
        return statement + (text[last.range.lowerBound] == UInt8(ascii: "-") ? "\n;" : ";")
    }
}
