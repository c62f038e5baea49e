internal import GRDB

/// A table or view as `perilune schema` describes it.
struct SchemaTable: Equatable {
    struct Column: Equatable {
        let name: String
        let type: String
        let isNotNull: Bool
        /// As SQL.
        let defaultValue: String?
        /// From 1; 0 outside of the key.
        let keyPosition: Int
        /// 2: generated and virtual, 3: generated and stored.
        let hidden: Int
    }

    struct ForeignKey: Equatable {
        var columns: [String]
        let table: String
        /// `nil` means the primary key of the other table.
        var references: [String?]
        let onUpdate: String
        let onDelete: String
    }

    struct Index: Equatable {
        let name: String
        /// `nil` stands for an expression.
        let columns: [String?]
        let isUnique: Bool
        let isPartial: Bool
        /// c: CREATE INDEX, u: UNIQUE, pk: PRIMARY KEY.
        let origin: String
    }

    let name: String
    /// table, view or virtual.
    let kind: String
    let isWithoutRowID: Bool
    let isStrict: Bool
    let sql: String
    var columns: [Column] = []
    var foreignKeys: [ForeignKey] = []
    var indexes: [Index] = []

    /// The columns of the primary key in its order.
    var key: [String] { columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name) }
}

/// Reads the schema of a database.
enum SchemaReader {
    /// Tables and views, by name.
    ///
    /// - Parameter wanted: The name of the only one that is wanted, in any case.
    static func tables(_ db: Database, named wanted: String? = nil) throws -> [SchemaTable] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT l.name, l.type, l.wr, l.strict, coalesce(s.sql, '') AS sql
                FROM pragma_table_list AS l LEFT JOIN sqlite_schema AS s ON s.name = l.name
                WHERE l.schema = 'main' AND l.type <> 'shadow' AND l.name NOT LIKE 'sqlite@_%' ESCAPE '@'
                AND (?1 IS NULL OR lower(l.name) = lower(?1)) ORDER BY l.name
                """, arguments: [wanted])
        return try rows.map { row in
            var table = SchemaTable(
                name: row["name"], kind: row["type"], isWithoutRowID: row["wr"], isStrict: row["strict"], sql: row["sql"])
            table.columns = try columns(db, of: table.name)
            table.foreignKeys = try foreignKeys(db, of: table.name)
            table.indexes = try indexes(db, of: table.name)
            return table
        }
    }

    private static func columns(_ db: Database, of table: String) throws -> [SchemaTable.Column] {
        try Row.fetchAll(db, sql: "SELECT * FROM pragma_table_xinfo(?) ORDER BY cid", arguments: [table]).map { row in
            SchemaTable.Column(
                name: row["name"], type: row["type"], isNotNull: row["notnull"], defaultValue: row["dflt_value"], keyPosition: row["pk"],
                hidden: row["hidden"])
        }
    }

    private static func foreignKeys(_ db: Database, of table: String) throws -> [SchemaTable.ForeignKey] {
        var keys: [Int: SchemaTable.ForeignKey] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT * FROM pragma_foreign_key_list(?) ORDER BY id, seq", arguments: [table]) {
            let id: Int = row["id"]
            if keys[id] == nil {
                keys[id] = SchemaTable.ForeignKey(
                    columns: [], table: row["table"], references: [], onUpdate: row["on_update"], onDelete: row["on_delete"])
            }
            keys[id]!.columns.append(row["from"])
            keys[id]!.references.append(row["to"])
        }
        // SQLite lists the last one first.
        return keys.sorted { $0.key > $1.key }.map(\.value)
    }

    private static func indexes(_ db: Database, of table: String) throws -> [SchemaTable.Index] {
        try Row.fetchAll(db, sql: "SELECT * FROM pragma_index_list(?) ORDER BY name", arguments: [table]).map { row in
            let columns = try Row.fetchAll(db, sql: "SELECT name FROM pragma_index_info(?) ORDER BY seqno", arguments: [row["name"]])
            return SchemaTable.Index(
                name: row["name"], columns: columns.map { $0["name"] }, isUnique: row["unique"], isPartial: row["partial"], origin: row["origin"])
        }
    }

    /// The statements that make the schema again: tables, then views, indexes and triggers, each in the order in which they were made.
    static func statements(_ db: Database, of table: String? = nil) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT sql FROM sqlite_schema
                WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_%' ESCAPE '@'
                AND name NOT IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow')
                AND (?1 IS NULL OR lower(tbl_name) = lower(?1))
                ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, rowid
                """, arguments: [table])
    }
}
