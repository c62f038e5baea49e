internal import GRDB
internal import PeriluneRecords

/// The definition of a table.
struct PreviewTable {
    enum Kind: String {
        case table, virtual
        /// A shadow table, in which a virtual table stores its rows.
        case shadow
    }

    struct Column {
        let name: String
        /// The position in the primary key, from 1; 0 for other columns.
        let keyPosition: Int
        let isNotNull: Bool
        let isGenerated: Bool
        /// The SQL of the default value.
        let defaultSQL: String?
    }

    let name: String
    let kind: Kind
    let hasRowID: Bool
    /// The columns in order, without the hidden columns of virtual tables.
    let columns: [Column]
    /// Whether the primary key is the row ID.
    let isRowIDKey: Bool
    /// Whether different stored keys may compare equal in SQLite, such as `a` and `A` with a collation, or 1 and 1.0 in a column without a
    /// type.
    let hasLooseKey: Bool

    /// The names of the primary key columns, in the order of the key.
    var key: [String] {
        columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name)
    }

    /// The names of the primary key columns that may contain NULL, which SQLite allows for historical reasons.
    var nullableKey: [String] {
        hasRowID && !isRowIDKey ? columns.filter { $0.keyPosition > 0 && !$0.isNotNull }.map(\.name) : []
    }

    /// The reason why changes of the table cannot be recorded; `nil` if they can be recorded.
    var unrecordable: String? {
        switch kind {
        case .virtual: "it is a virtual table"
        case .shadow: "it belongs to a virtual table"
        case .table where key.isEmpty: "it has no PRIMARY KEY"
        case .table where columns.contains(where: \.isGenerated): "it has generated columns"
        case .table: nil
        }
    }

    /// The reason for a key that was replaced by a different key that SQLite considers equal. A changeset cannot contain this replacement:
    /// the deletion must precede the insertion, but inverting the changeset would reverse their order.
    static let replacedKeys = "keys of its rows changed to values that SQLite considers equal"

    /// A name of the row ID in SQL that no column has, such as `rowid`; `nil` if columns use all of these names.
    var rowIDName: String? {
        hasRowID ? TableSchema.rowIDNames(besides: columns.map(\.name)).first : nil
    }

    func column(_ name: String) -> Column? {
        columns.first { $0.name.foldedName == name.foldedName }
    }

    static func fetchAll(_ db: Database, schema: String) throws -> [PreviewTable] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, type, wr, strict FROM pragma_table_list
                WHERE schema = ? AND type IN ('table', 'virtual', 'shadow') AND name NOT LIKE 'sqlite@_%' ESCAPE '@'
                ORDER BY name COLLATE NOCASE
                """, arguments: [schema])
        return try rows.map { row in
            let kind = Kind(rawValue: row[1]) ?? .table
            return try PreviewTable(db, schema: schema, name: row[0], kind: kind, hasRowID: row[2] == 0, isStrict: row[3])
        }
    }

    private init(_ db: Database, schema: String, name: String, kind: Kind, hasRowID: Bool, isStrict: Bool) throws {
        self.name = name
        self.kind = kind
        self.hasRowID = hasRowID
        let rows = try Self.fetchColumns(db, of: name, schema: schema, kind: kind)
        columns = rows.filter { $0[3] != 1 }.map { row in
            Column(
                name: row[0], keyPosition: row[1], isNotNull: row[2], isGenerated: (row[3] as Int) > 1,
                defaultSQL: row[4])
        }
        // Every primary key has an index, unless it is the row ID.
        let indexed = try Row.fetchAll(
            db,
            sql: """
                SELECT part.cid, part.coll FROM pragma_index_list(?1, ?2) AS list, pragma_index_xinfo(list.name, ?2) AS part
                WHERE list.origin = 'pk' AND part."key"
                """, arguments: [name, schema])
        isRowIDKey = hasRowID && indexed.isEmpty && columns.contains { $0.keyPosition > 0 }
        let types = Dictionary(rows.map { ($0[5] as Int, $0[6] as String) }) { first, _ in first }
        hasLooseKey = indexed.contains { part in
            // In a column with BLOB affinity, SQLite does not convert numbers and text.
            (part[1] as String?)?.uppercased() != "BINARY"
                || DeclaredType(types[part[0]] ?? "", isStrict: isStrict).affinity == .blob
        }
    }

    private static func fetchColumns(_ db: Database, of name: String, schema: String, kind: Kind) throws -> [Row] {
        do {
            return try Row.fetchAll(
                db,
                sql: #"SELECT name, pk, "notnull", hidden, dflt_value, cid, type FROM pragma_table_xinfo(?, ?) ORDER BY cid"#,
                arguments: [name, schema])
        } catch is DatabaseError where kind == .virtual {
            // The virtual table needs a module that only another program provides.
            return []
        }
    }
}
