package import GRDB
internal import GRDBSQLite

/// Creation of table schemas from table descriptions.
extension TableSchema {
    /// Reads the schema of a table or view.
    ///
    /// - Parameter name: The name, ignoring case, resolved like in ``TableDescription/read(_:in:)``.
    /// - Returns: `nil` if there is no such table.
    /// - Throws: SQLite's error for an unusable view.
    package static func read(_ name: String, in db: Database) throws -> TableSchema? {
        try TableDescription.read(name, in: db).map { try TableSchema($0, in: db) }
    }

    /// Returns the columns of a table or view of the main database.
    static func columns(of name: String, in db: Database) throws -> [Column] {
        try TableDescription.columns(of: name, in: db).map { Column($0, of: name, database: "main", isStrict: false, in: db) }
    }

    /// Returns the names of all tables and views, for suggestions in error messages.
    package static func names(in db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: "SELECT name FROM pragma_table_list WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
                + "AND type <> 'shadow' ORDER BY name")
    }

    private convenience init(_ description: TableDescription, in db: Database) throws {
        let columns = description.columns.map {
            Column($0, of: description.name, database: description.database, isStrict: description.isStrict, in: db)
        }
        let positions = Dictionary(columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
        let key = description.key.map { positions[$0]! }
        let hasKeyIndex = description.indexes.contains { $0.origin == "pk" }
        let indexes = description.indexes.filter { !$0.isPartial }
        func members(_ index: TableDescription.Index) -> [Int] { index.columns.prefix { $0 != nil }.map { positions[$0!]! } }
        let unique = indexes.filter { $0.isUnique && !$0.columns.contains(nil) }
        func withKey(_ keys: [[Int]]) -> [[Int]] { key.isEmpty || hasKeyIndex ? keys : [key] + keys }
        // Values that differ under any collation also differ under BINARY.
        func isDistinct(_ index: TableDescription.Index) -> Bool {
            zip(members(index), index.collations).allSatisfy { position, collation in
                let declared = columns[position].collation
                return declared == "BINARY" || declared == collation.uppercased()
            }
        }
        self.init(
            databaseName: description.database, name: description.name,
            kind: description.kind == "view" ? .view : description.kind == "virtual" ? .virtual : .table,
            isWithoutRowID: description.isWithoutRowID, isStrict: description.isStrict, columns: columns, primaryKey: key,
            primaryKeyIsRowID: description.keyIsRowID, uniqueKeys: withKey(unique.map(members)),
            distinctKeys: withKey(unique.filter(isDistinct).map(members)),
            hasUnlistedKeys: description.indexes.count(where: \.isUnique) > unique.count,
            foreignKeys: try description.foreignKeys.map { try ForeignKey($0, of: description, in: db) },
            indexes: indexes.map(members).filter { !$0.isEmpty })
    }
}

extension TableSchema.Column {
    fileprivate init(_ column: TableDescription.Column, of table: String, database: String, isStrict: Bool, in db: Database) {
        var collation: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(
            db.sqliteConnection, database, table, column.name, nil, &collation, nil, nil, nil)
        self.init(
            name: column.name, type: DeclaredType(column.type, isStrict: isStrict), isNotNull: column.isNotNull,
            defaultSQL: column.defaultValue,
            primaryKeyPosition: column.keyPosition > 0 ? column.keyPosition : nil,
            generation: column.hidden == 2 ? .virtual : column.hidden == 3 ? .stored : nil, isHidden: column.hidden == 1,
            collation: code == SQLITE_OK ? collation.map { String(cString: $0).uppercased() } : nil)
    }
}

extension TableSchema.ForeignKey {
    fileprivate init(_ key: TableDescription.ForeignKey, of table: TableDescription, in db: Database) throws {
        // A foreign key that names no columns refers to the primary key of the other table.
        let named = key.references.compactMap { $0 }
        let referenced =
            try named.isEmpty
            ? String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_info(?, ?) WHERE pk > 0 ORDER BY pk",
                arguments: [key.table, table.database])
            : named
        self.init(
            table: key.table, columns: key.columns, referencedColumns: referenced, onDelete: key.onDelete.lowercased(),
            onUpdate: key.onUpdate.lowercased())
    }
}

extension String {
    /// The name as an SQL identifier.
    package var quotedName: String {
        utf8.contains(UInt8(ascii: "\""))
            ? "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\"" : "\"\(self)\""
    }
}
