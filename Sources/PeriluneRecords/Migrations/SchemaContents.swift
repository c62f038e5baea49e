package import GRDB

/// The tables, indexes, views and triggers of a database, without the internal ones of SQLite, GRDB and Perilune.
package struct SchemaContents: Equatable, Sendable {
    package struct Object: Equatable, Sendable {
        /// `table`, `index`, `view` or `trigger`.
        package let type: String
        package let name: String
        /// The SQL that created the object; `nil` for indexes of constraints.
        package let sql: String?
        /// The columns of a table, in order.
        package var columns: [Column] = []
    }

    package struct Column: Equatable, Sendable {
        package let name: String
        /// The type and constraints of the column in a normalized form.
        package let definition: String
    }

    package let objects: [Object]

    package init(objects: [Object]) {
        self.objects = objects
    }

    /// Reads the schema `main`.
    package init(_ db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: #"""
                SELECT type, name, sql, tbl_name FROM main.sqlite_schema
                WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE 'grdb\_%' ESCAPE '\'
                ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, name
                """#)
        objects = try rows.filter { !OwnTables.own($0["name"], of: $0["tbl_name"]) }.map { row in
            var object = Object(type: row["type"], name: row["name"], sql: row["sql"])
            if object.type == "table" { object.columns = try Self.columns(of: object.name, db) }
            return object
        }
    }

    private static func columns(of table: String, _ db: Database) throws -> [Column] {
        try TableSchema.columns(of: table, in: db).map { column in
            var parts = [column.type.text]
            if column.isNotNull { parts.append("NOT NULL") }
            if let value = column.defaultSQL { parts.append("DEFAULT \(value)") }
            if column.primaryKeyPosition != nil { parts.append("PRIMARY KEY") }
            if column.generation != nil { parts.append("GENERATED") }
            return Column(name: column.name, definition: parts.filter { !$0.isEmpty }.joined(separator: " "))
        }
    }
}
