/// A table or view as described by the schema of its database. All other schema readers are based on it.
package struct TableDescription: Equatable {
    package struct Column: Equatable {
        package let name: String
        package let type: String
        package let isNotNull: Bool
        /// The default value as SQL.
        package let defaultValue: String?
        /// The position in the primary key, starting at 1; 0 for other columns.
        package let keyPosition: Int
        /// 1: hidden, which `*` leaves out; 2: virtual generated; 3: stored generated; 0: any other column.
        package let hidden: Int

        package init(name: String, type: String, isNotNull: Bool, defaultValue: String?, keyPosition: Int, hidden: Int) {
            self.name = name
            self.type = type
            self.isNotNull = isNotNull
            self.defaultValue = defaultValue
            self.keyPosition = keyPosition
            self.hidden = hidden
        }
    }

    package struct ForeignKey: Equatable {
        package var columns: [String]
        package let table: String
        /// The referenced columns; `nil` for the primary key of the other table.
        package var references: [String?]
        /// The action in SQLite's spelling: "NO ACTION", "RESTRICT", "SET NULL", "SET DEFAULT" or "CASCADE".
        package let onUpdate: String
        package let onDelete: String
    }

    package struct Index: Equatable {
        package let name: String
        /// The names of the columns; `nil` for expressions.
        package let columns: [String?]
        /// The collation of each column; empty for an index that does not exist yet.
        package let collations: [String]
        package let isUnique: Bool
        package let isPartial: Bool
        /// The origin of the index: "c" for CREATE INDEX, "u" for UNIQUE, "pk" for PRIMARY KEY.
        package let origin: String

        package init(name: String, columns: [String?], collations: [String] = [], isUnique: Bool, isPartial: Bool, origin: String)
        {
            self.name = name
            self.columns = columns
            self.collations = collations
            self.isUnique = isUnique
            self.isPartial = isPartial
            self.origin = origin
        }
    }

    /// `main`, `temp` or the name of an attached database.
    package let database: String
    package let name: String
    /// "table", "view", "virtual" or "shadow".
    package let kind: String
    package let isWithoutRowID: Bool
    package let isStrict: Bool
    /// The CREATE statement; empty outside of the main database, and for a table that was read by name.
    package let sql: String
    package var columns: [Column]
    package var foreignKeys: [ForeignKey]
    package var indexes: [Index]
    /// The reason why SQLite cannot use the table, such as a view of a missing table, or a virtual table whose module is missing. Only its
    /// SQL is then known.
    package var flaw: String?

    package init(
        database: String = "main", name: String, kind: String, isWithoutRowID: Bool, isStrict: Bool, sql: String = "",
        columns: [Column] = [], foreignKeys: [ForeignKey] = [], indexes: [Index] = []
    ) {
        self.database = database
        self.name = name
        self.kind = kind
        self.isWithoutRowID = isWithoutRowID
        self.isStrict = isStrict
        self.sql = sql
        self.columns = columns
        self.foreignKeys = foreignKeys
        self.indexes = indexes
    }

    /// The columns of the primary key, in key order.
    package var key: [String] { columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name) }

    /// Whether the primary key is an alias of the rowid. This applies to INTEGER PRIMARY KEY, which then has no index, but not to its DESC
    /// form.
    package var keyIsRowID: Bool {
        guard kind == "table", !isWithoutRowID, key.count == 1, let column = columns.first(where: { $0.keyPosition > 0 }) else {
            return false
        }
        return DeclaredType(column.type).isIntegerKey && !indexes.contains { $0.origin == "pk" }
    }
}
