internal import GRDB
internal import PeriluneRecords

/// The schema of a database at one moment.
struct SchemaSnapshot {
    /// A table, index, view or trigger; or a number in the header of the file, of the type `pragma`.
    struct Object: Equatable {
        let type: String
        let name: String
        let table: String
        let sql: String
    }

    let objects: [Object]
    /// Tables of all kinds, views left out.
    let tables: [TableShape]
    /// Grows with every change of the schema, also one that is taken back, and with VACUUM.
    let version: Int

    /// Reads the schema of an attached database.
    init(_ db: Database, schema: String = "main") throws {
        let stored = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, sql FROM \(schema.quotedName).sqlite_master
                WHERE name NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY type, name
                """
        ).map { Object(type: $0[0], name: $0[1], table: $0[2], sql: $0[3] ?? "") }
        let settings = try ["application_id", "user_version"].map { name in
            let value = try Int.fetchOne(db, sql: "PRAGMA \(schema.quotedName).\(name)") ?? 0
            return Object(type: "pragma", name: name, table: "", sql: "\(value)")
        }
        objects = stored + settings
        tables = try TableShape.fetchAll(db, schema: schema)
        version = try Int.fetchOne(db, sql: "PRAGMA \(schema.quotedName).schema_version") ?? 0
    }

    func table(_ name: String) -> TableShape? {
        tables.first { $0.name.lowercased() == name.lowercased() }
    }

    /// A name for the schema that other schemas do not have.
    var hash: String {
        SHA256.hash(objects.flatMap { [$0.type, $0.name, $0.table, $0.sql] }.joined(separator: "\0").utf8)
    }

    /// What has become of a former schema, tables first.
    func changes(since former: SchemaSnapshot) -> [SchemaChange] {
        let old = Dictionary(former.listed.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        let new = Dictionary(listed.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        return Set(old.keys).union(new.keys).compactMap { Self.change(from: old[$0], to: new[$0]) }.sorted {
            ($0.rank, $0.type, $0.name) < ($1.rank, $1.type, $1.name)
        }
    }

    /// The objects but for the tables in which virtual ones keep their rows.
    private var listed: [Object] {
        objects.filter { object in table(object.table)?.kind != .shadow }
    }

    private static func change(from old: Object?, to new: Object?) -> SchemaChange? {
        guard let object = new ?? old, old != new else { return nil }
        let kind: SchemaChange.Kind = old == nil ? .added : new == nil ? .removed : .changed
        return SchemaChange(
            kind: kind, type: object.type, name: object.name, table: object.table, before: old?.sql, after: new?.sql)
    }
}

extension SchemaSnapshot.Object {
    fileprivate var identity: String { type + "\0" + name }
}

extension SchemaChange {
    fileprivate var rank: Int { type == "table" ? 0 : 1 }
}

/// The columns of a table.
struct TableShape: Equatable {
    enum Kind: String {
        case table, virtual
        /// In which a virtual table keeps its rows.
        case shadow
    }

    struct Column: Equatable {
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
    /// Whether SQLite may take two keys for the same that are stored differently: `a` and `A` by a collation, 1 and 1.0 where there
    /// is no type.
    let hasLooseKey: Bool

    /// The names of the columns of the primary key, in its order.
    var key: [String] {
        columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name)
    }

    /// Columns of the key that may hold NULL, which SQLite allows for historical reasons.
    var nullableKey: [String] {
        hasRowID && !isRowIDKey ? columns.filter { $0.keyPosition > 0 && !$0.isNotNull }.map(\.name) : []
    }

    /// Why sessions cannot record the table; `nil` if they can.
    var unrecordable: String? {
        switch kind {
        case .virtual: "it is a virtual table"
        case .shadow: "it belongs to a virtual table"
        case .table where key.isEmpty: "it has no PRIMARY KEY"
        case .table where columns.contains(where: \.isGenerated): "it has generated columns"
        case .table: nil
        }
    }

    /// A name by which SQL reaches the row id, if no column is called the same.
    var rowIDName: String? {
        guard hasRowID else { return nil }
        return ["rowid", "_rowid_", "oid"].first { name in !columns.contains { $0.name.lowercased() == name } }
    }

    func column(_ name: String) -> Column? {
        columns.first { $0.name.lowercased() == name.lowercased() }
    }

    /// Whether the columns and the key are the same, so that a changeset of one fits the other.
    func hasSameShape(as other: TableShape) -> Bool {
        kind == other.kind && columns.map(\.name) == other.columns.map(\.name)
            && columns.map(\.keyPosition) == other.columns.map(\.keyPosition)
    }

    static func fetchAll(_ db: Database, schema: String) throws -> [TableShape] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, type, wr FROM pragma_table_list
                WHERE schema = ? AND type IN ('table', 'virtual', 'shadow') AND name NOT LIKE 'sqlite@_%' ESCAPE '@'
                ORDER BY name COLLATE NOCASE
                """, arguments: [schema])
        return try rows.map { row in
            let kind = Kind(rawValue: row[1]) ?? .table
            return try TableShape(db, schema: schema, name: row[0], kind: kind, hasRowID: row[2] == 0)
        }
    }

    private init(_ db: Database, schema: String, name: String, kind: Kind, hasRowID: Bool) throws {
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
            (part[1] as String?)?.uppercased() != "BINARY" || Self.holdsAnyType(types[part[0]] ?? "")
        }
    }

    private static func fetchColumns(_ db: Database, of name: String, schema: String, kind: Kind) throws -> [Row] {
        do {
            return try Row.fetchAll(
                db,
                sql: #"SELECT name, pk, "notnull", hidden, dflt_value, cid, type FROM pragma_table_xinfo(?, ?) ORDER BY cid"#,
                arguments: [name, schema])
        } catch is DatabaseError where kind == .virtual {
            // What makes the table is not there: a module of another program.
            return []
        }
    }

    /// Whether a column of a declared type keeps numbers and texts as they come.
    ///
    /// - SeeAlso: SQLite's "Datatypes In SQLite", §3.1.
    private static func holdsAnyType(_ type: String) -> Bool {
        let type = type.uppercased()
        return type.isEmpty || type == "ANY" || type.contains("BLOB") && !["INT", "CHAR", "CLOB", "TEXT"].contains { type.contains($0) }
    }
}
