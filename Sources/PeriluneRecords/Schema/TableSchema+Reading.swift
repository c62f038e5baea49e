package import GRDB
internal import GRDBSQLite

/// Reading the schema of a table from SQLite.
extension TableSchema {
    /// Reads what a table or view looks like, with table-valued PRAGMA functions.
    ///
    /// - Parameter name: In any case. Found as SQLite finds it: temporary tables first, then those of the main database, then
    ///   those of attached ones.
    /// - Returns: `nil` if there is none.
    /// - Throws: The error of SQLite for a view that cannot be used.
    package static func read(_ name: String, in db: Database) throws -> TableSchema? {
        // The pragma knows the tables of schemas by their older name alone.
        let known = ["sqlite_schema": "sqlite_master", "sqlite_temp_schema": "sqlite_temp_master"][name.foldedName]
        let rows = try Row.fetchAll(
            db,
            sql: "SELECT t.* FROM pragma_table_list(?) AS t, pragma_database_list AS d ON d.name = t.schema "
                + "ORDER BY d.name <> 'temp', d.seq", arguments: [known ?? name])
        guard let row = rows.first else { return nil }
        return try TableReader(db: db, database: row["schema"], name: row["name"]).read(row)
    }

    /// The columns of a table or view of the main database.
    static func columns(of name: String, in db: Database) throws -> [Column] {
        try TableReader(db: db, database: "main", name: name).readColumns(isStrict: false).columns
    }

    /// The names of the tables and views, for finding the one that was meant.
    package static func names(in db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: "SELECT name FROM pragma_table_list WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
                + "AND type <> 'shadow' ORDER BY name")
    }
}

private struct TableReader {
    let db: Database
    let database: String
    let name: String

    func read(_ row: Row) throws -> TableSchema {
        let type: String = row["type"]
        let isWithoutRowID: Bool = row["wr"]
        let isStrict: Bool = row["strict"]
        let (columns, key) = try readColumns(isStrict: isStrict)
        let indexes = try readIndexes(columns)
        // An INTEGER PRIMARY KEY has no index of its own, unless it is the DESC form.
        let isRowID =
            key.count == 1 && columns[key[0]].type.isIntegerKey && !isWithoutRowID
            && type == "table" && !indexes.contains { $0.origin == "pk" }
        var uniqueKeys = indexes.filter { $0.isUnique && !$0.isPartial && $0.isComplete }.map(\.columns)
        if !key.isEmpty, !uniqueKeys.contains(key) { uniqueKeys.insert(key, at: 0) }
        return TableSchema(
            databaseName: database, name: name,
            kind: type == "view" ? .view : type == "virtual" ? .virtual : .table,
            isWithoutRowID: isWithoutRowID, isStrict: isStrict, columns: columns, primaryKey: key,
            primaryKeyIsRowID: isRowID, uniqueKeys: uniqueKeys, foreignKeys: try readForeignKeys(),
            indexes: indexes.filter { !$0.isPartial && !$0.columns.isEmpty }.map(\.columns))
    }

    private func rows(_ pragma: String, of name: String, order: String = "1") throws -> [Row] {
        try Row.fetchAll(db, sql: "SELECT * FROM \(pragma)(?, ?) ORDER BY \(order)", arguments: [name, database])
    }

    // MARK: - Columns

    func readColumns(isStrict: Bool) throws -> (columns: [TableSchema.Column], key: [Int]) {
        let rows = try rows("pragma_table_xinfo", of: name)
        // A view that cannot be used has no columns here: let SQLite say why.
        if rows.isEmpty { _ = try db.makeStatement(sql: "SELECT * FROM \(database.quotedName).\(name.quotedName)") }
        let columns = rows.map { column($0, isStrict: isStrict) }
        let key = columns.indices.filter { columns[$0].primaryKeyPosition != nil }
        return (columns, key.sorted { columns[$0].primaryKeyPosition! < columns[$1].primaryKeyPosition! })
    }

    private func column(_ row: Row, isStrict: Bool) -> TableSchema.Column {
        let position: Int = row["pk"]
        let hidden: Int = row["hidden"]
        return TableSchema.Column(
            name: row["name"], type: DeclaredType(row["type"], isStrict: isStrict), isNotNull: row["notnull"], defaultSQL: row["dflt_value"],
            primaryKeyPosition: position > 0 ? position : nil,
            generation: hidden == 2 ? .virtual : hidden == 3 ? .stored : nil, isHidden: hidden == 1,
            collation: collation(of: row["name"]))
    }

    private func collation(of column: String) -> String? {
        var collation: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(db.sqliteConnection, database, name, column, nil, &collation, nil, nil, nil)
        return code == SQLITE_OK ? collation.map { String(cString: $0).uppercased() } : nil
    }

    // MARK: - Keys

    private struct Index {
        let columns: [Int]
        let isUnique: Bool
        let isPartial: Bool
        /// Without expressions.
        let isComplete: Bool
        let origin: String
    }

    private func readIndexes(_ columns: [TableSchema.Column]) throws -> [Index] {
        try rows("pragma_index_list", of: name, order: "name").map { row in
            let members = try rows("pragma_index_info", of: row["name"]).map { $0["cid"] as Int }
            return Index(
                columns: Array(members.prefix { $0 >= 0 }), isUnique: row["unique"], isPartial: row["partial"],
                isComplete: members.allSatisfy { $0 >= 0 }, origin: row["origin"])
        }
    }

    private func readForeignKeys() throws -> [TableSchema.ForeignKey] {
        let rows = try rows("pragma_foreign_key_list", of: name, order: "id DESC, seq")
        var groups: [[Row]] = []
        for row in rows {
            if let last = groups.last?.first, last["id"] as Int == row["id"] {
                groups[groups.count - 1].append(row)
            } else {
                groups.append([row])
            }
        }
        return try groups.map(foreignKey)
    }

    private func foreignKey(_ rows: [Row]) throws -> TableSchema.ForeignKey {
        let table: String = rows[0]["table"]
        // A key that names no columns means the primary key of the other table.
        let named = rows.compactMap { $0["to"] as String? }
        let referenced =
            try named.isEmpty
            ? self.rows("pragma_table_info", of: table, order: "pk").filter { $0["pk"] > 0 }.map { $0["name"] as String }
            : named
        return TableSchema.ForeignKey(
            table: table, columns: rows.map { $0["from"] }, referencedColumns: referenced,
            onDelete: (rows[0]["on_delete"] as String).lowercased(),
            onUpdate: (rows[0]["on_update"] as String).lowercased())
    }
}

extension String {
    /// The name as an SQL identifier.
    package var quotedName: String {
        utf8.contains(UInt8(ascii: "\""))
            ? "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\"" : "\"\(self)\""
    }
}
