package import GRDB

/// What the schema of a database consists of: its tables, indexes, views and triggers, SQLite's and GRDB's own left out.
package struct SchemaContents: Equatable, Sendable {
    package struct Object: Equatable, Sendable {
        /// `table`, `index`, `view` or `trigger`.
        package let type: String
        package let name: String
        /// The SQL that made it; `nil` for the indexes of constraints.
        package let sql: String?
        /// Those of a table, in order.
        package var columns: [Column] = []
    }

    package struct Column: Equatable, Sendable {
        package let name: String
        /// What the schema says of it, short.
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
                SELECT type, name, sql FROM main.sqlite_schema
                WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE 'grdb\_%' ESCAPE '\'
                ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, name
                """#)
        objects = try rows.map { row in
            var object = Object(type: row["type"], name: row["name"], sql: row["sql"])
            if object.type == "table" { object.columns = try Self.columns(of: object.name, db) }
            return object
        }
    }

    private static func columns(of table: String, _ db: Database) throws -> [Column] {
        let rows = try Row.fetchAll(db, sql: "SELECT * FROM pragma_table_xinfo(?, 'main')", arguments: [table])
        return rows.map { row in
            var parts = [row["type"] as String]
            if row["notnull"] != 0 { parts.append("NOT NULL") }
            if let value: String = row["dflt_value"] { parts.append("DEFAULT \(value)") }
            if row["pk"] != 0 { parts.append("PRIMARY KEY") }
            if row["hidden"] == 2 || row["hidden"] == 3 { parts.append("GENERATED") }
            return Column(name: row["name"], definition: parts.filter { !$0.isEmpty }.joined(separator: " "))
        }
    }
}
