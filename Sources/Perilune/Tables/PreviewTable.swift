internal import GRDB
internal import PeriluneRecords

/// The columns of a table.
struct PreviewTable {
    enum Kind: String {
        case table, virtual
        /// A table in which a virtual table keeps its rows.
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
    /// In order; the hidden columns of virtual tables left out.
    let columns: [Column]
    /// Whether the key is the row id.
    let isRowIDKey: Bool
    /// Whether SQLite may take two keys for the same that are stored differently: `a` and `A` by a collation, 1 and 1.0 where there is no
    /// type.
    let hasLooseKey: Bool

    /// The names of the columns of the primary key, in its order.
    var key: [String] {
        columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name)
    }

    /// Columns of the key that may hold NULL, which SQLite allows for historical reasons.
    var nullableKey: [String] {
        hasRowID && !isRowIDKey ? columns.filter { $0.keyPosition > 0 && !$0.isNotNull }.map(\.name) : []
    }

    /// Why the table cannot be recorded; `nil` if they can.
    var unrecordable: String? {
        switch kind {
        case .virtual: "it is a virtual table"
        case .shadow: "it belongs to a virtual table"
        case .table where key.isEmpty: "it has no PRIMARY KEY"
        case .table where columns.contains(where: \.isGenerated): "it has generated columns"
        case .table: nil
        }
    }

    /// Why no changeset holds that a key has taken the place of another that SQLite considers equal: it would have to delete one row before
    /// it inserts the other, and its inverse the other way round.
    static let replacedKeys = "keys of its rows changed to values that SQLite considers equal"

    /// A name by which SQL reaches the row id, if no column is called the same.
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
        // Every other key has an index.
        let indexed = try Row.fetchAll(
            db,
            sql: """
                SELECT part.cid, part.coll FROM pragma_index_list(?1, ?2) AS list, pragma_index_xinfo(list.name, ?2) AS part
                WHERE list.origin = 'pk' AND part."key"
                """, arguments: [name, schema])
        isRowIDKey = hasRowID && indexed.isEmpty && columns.contains { $0.keyPosition > 0 }
        let types = Dictionary(rows.map { ($0[5] as Int, $0[6] as String) }) { first, _ in first }
        hasLooseKey = indexed.contains { part in
            // Without affinity, numbers and texts stay as they come.
            (part[1] as String?)?.uppercased() != "BINARY" || DeclaredType(types[part[0]] ?? "", isStrict: isStrict).affinity == .blob
        }
    }

    private static func fetchColumns(_ db: Database, of name: String, schema: String, kind: Kind) throws -> [Row] {
        do {
            return try Row.fetchAll(
                db,
                sql: #"SELECT name, pk, "notnull", hidden, dflt_value, cid, type FROM pragma_table_xinfo(?, ?) ORDER BY cid"#,
                arguments: [name, schema])
        } catch is DatabaseError where kind == .virtual {
            // The module of the virtual table is missing: it belongs to another program.
            return []
        }
    }
}
