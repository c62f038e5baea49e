package import GRDB

/// Reading of table descriptions with SQLite's table-valued PRAGMA functions. All other schema readers use it.
extension TableDescription {
    /// Reads the description of a table or view.
    ///
    /// - Parameter name: The name, ignoring case. SQLite's order applies: temporary tables, then the main database, then attached ones.
    /// - Returns: `nil` if there is no such table.
    /// - Throws: SQLite's error for an unusable view.
    package static func read(_ name: String, in db: Database) throws -> TableDescription? {
        // The PRAGMA recognizes only the older names of the schema tables.
        let known = ["sqlite_schema": "sqlite_master", "sqlite_temp_schema": "sqlite_temp_master"][name.foldedName]
        let row = try Row.fetchOne(
            db,
            sql: "SELECT t.* FROM pragma_table_list(?) AS t, pragma_database_list AS d ON d.name = t.schema "
                + "ORDER BY d.name <> 'temp', d.seq", arguments: [known ?? name])
        return try row.map { try read($0, sql: nil, in: db) }
    }

    /// Reads the tables and views of the main database, sorted by name, except tables that SQLite and virtual tables create. An unusable
    /// table has a ``flaw``.
    ///
    /// - Parameter wanted: The table to which the result is limited, ignoring case; `nil` for all.
    package static func readAll(in db: Database, named wanted: String? = nil) throws -> [TableDescription] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT t.*, s.sql FROM pragma_table_list AS t
                LEFT JOIN main.sqlite_schema AS s ON s.name = t.name AND s.type IN ('table', 'view')
                WHERE t.schema = 'main' AND t.type <> 'shadow' AND t.name NOT LIKE 'sqlite@_%' ESCAPE '@'
                AND (?1 IS NULL OR lower(t.name) = lower(?1)) ORDER BY t.name
                """, arguments: [wanted]
        ).map { row in
            do {
                return try read(row, sql: row["sql"], in: db)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                var table = TableDescription(
                    name: row["name"], kind: row["type"], isWithoutRowID: false, isStrict: false, sql: row["sql"] ?? "")
                table.flaw = error.message ?? error.resultCode.description
                return table
            }
        }
    }

    /// Reads the columns of a table or view of the main database.
    static func columns(of name: String, in db: Database) throws -> [Column] {
        try TableReader(db: db, database: "main", name: name).columns()
    }

    private static func read(_ row: Row, sql: String?, in db: Database) throws -> TableDescription {
        let reader = TableReader(db: db, database: row["schema"], name: row["name"])
        return try TableDescription(
            database: reader.database, name: reader.name, kind: row["type"], isWithoutRowID: row["wr"], isStrict: row["strict"],
            sql: sql ?? "", columns: reader.columns(), foreignKeys: reader.foreignKeys(), indexes: reader.indexes())
    }
}

extension TableDescription {
    /// Returns a message for each unusable table or view.
    package static func flaws(of tables: [TableDescription]) -> [String] {
        tables.compactMap { table in
            table.flaw.map { "the \(table.kind == "view" ? "view" : "virtual table") \(table.name) cannot be used: \($0)" }
        }
    }
}

private struct TableReader {
    let db: Database
    let database: String
    let name: String

    private func rows(_ pragma: String, of name: String, order: String) throws -> [Row] {
        try Row.fetchAll(db, sql: "SELECT * FROM \(pragma)(?, ?) ORDER BY \(order)", arguments: [name, database])
    }

    func columns() throws -> [TableDescription.Column] {
        let rows = try rows("pragma_table_xinfo", of: name, order: "cid")
        // The PRAGMA returns no columns for a broken view. Compiling a statement throws SQLite's explanation instead.
        if rows.isEmpty { _ = try db.makeStatement(sql: "SELECT * FROM \(database.quotedName).\(name.quotedName)") }
        return rows.map { row in
            TableDescription.Column(
                name: row["name"], type: row["type"], isNotNull: row["notnull"], defaultValue: row["dflt_value"],
                keyPosition: row["pk"],
                hidden: row["hidden"])
        }
    }

    func foreignKeys() throws -> [TableDescription.ForeignKey] {
        var keys: [(id: Int, key: TableDescription.ForeignKey)] = []
        // SQLite lists foreign keys in reverse order of declaration.
        for row in try rows("pragma_foreign_key_list", of: name, order: "id DESC, seq") {
            let id: Int = row["id"]
            if keys.last?.id != id {
                keys.append(
                    (
                        id,
                        TableDescription.ForeignKey(
                            columns: [], table: row["table"], references: [], onUpdate: row["on_update"],
                            onDelete: row["on_delete"])
                    ))
            }
            keys[keys.count - 1].key.columns.append(row["from"])
            keys[keys.count - 1].key.references.append(row["to"])
        }
        return keys.map(\.key)
    }

    func indexes() throws -> [TableDescription.Index] {
        try rows("pragma_index_list", of: name, order: "name").map { row in
            let columns = try rows("pragma_index_xinfo", of: row["name"], order: "seqno").filter { $0["key"] }
            return TableDescription.Index(
                name: row["name"], columns: columns.map { $0["name"] }, collations: columns.map { $0["coll"] },
                isUnique: row["unique"],
                isPartial: row["partial"], origin: row["origin"])
        }
    }
}
