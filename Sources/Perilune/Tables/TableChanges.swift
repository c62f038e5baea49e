internal import Foundation

/// The row changes of one table.
public struct TableChanges: Codable, Sendable, Equatable {
    /// The name of the table.
    public package(set) var name: String
    /// The names of the columns, in the order of the table.
    public package(set) var columns: [String] = []
    /// The names of the columns that identify rows; empty if the row ID or all values identify rows.
    public package(set) var key: [String] = []
    /// The number of inserted rows.
    public package(set) var inserted = 0
    /// The number of updated rows.
    public package(set) var updated = 0
    /// The number of deleted rows.
    public package(set) var deleted = 0
    /// The first changed rows, sorted by key. The preview limits the number of rows of each kind.
    public package(set) var rows: [RowChange] = []
    /// The reason why a plan cannot contain changes of the table; `nil` if it can.
    public package(set) var unrecordable: String?
    /// Whether the numbers of changes are known. If `false`, the table was written to, but could not be compared.
    public package(set) var isCounted = true

    /// Creates an empty set of changes for a table.
    package init(name: String) {
        self.name = name
    }

    /// Decodes the changes, and gives the rows the names of the columns.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        columns = try container.decode([String].self, forKey: .columns)
        key = try container.decode([String].self, forKey: .key)
        inserted = try container.decode(Int.self, forKey: .inserted)
        updated = try container.decode(Int.self, forKey: .updated)
        deleted = try container.decode(Int.self, forKey: .deleted)
        rows = try container.decode([RowChange].self, forKey: .rows)
        unrecordable = try container.decodeIfPresent(String.self, forKey: .unrecordable)
        isCounted = try container.decode(Bool.self, forKey: .isCounted)
        nameValues()
    }

    /// Gives the rows the names of the columns, by which ``RowChange/before`` and ``RowChange/after`` find values.
    mutating func nameValues() {
        let names = RowChange.Names(columns: columns, key: key.compactMap { columns.firstIndex(of: $0) })
        for index in rows.indices { rows[index].names = names }
    }

    /// The number of rows that would change.
    public var count: Int { inserted + updated + deleted }
    /// The number of changed rows that are not in ``rows``.
    package var hiddenCount: Int { count - rows.count }

    /// The positions of the columns in display order, and the number of leading columns. If rows are updated, the key and the updated
    /// columns lead.
    package var columnOrder: (columns: [Int], leading: Int) {
        let changed = rows.filter { $0.kind == .update }.reduce(into: Set<Int>()) { $0.formUnion($1.changedPlaces) }
        guard !changed.isEmpty else { return (Array(columns.indices), key.count) }
        let keys = columns.indices.filter { key.contains(columns[$0]) }
        let others = columns.indices.filter { !keys.contains($0) }
        let leading = keys + others.filter(changed.contains)
        return (leading + others.filter { !changed.contains($0) }, leading.count)
    }

    /// Sorts the rows by their key.
    mutating func sortRows() {
        let places = key.compactMap { columns.firstIndex(of: $0) }
        guard !places.isEmpty else { return }
        let keys = rows.map { row in places.map { (row.newValues ?? row.oldValues ?? [])[$0] } }
        rows = rows.indices.sorted { keys[$0].lexicographicallyPrecedes(keys[$1]) }.map { rows[$0] }
    }
}

/// A row before and after a change.
public struct RowChange: Codable, Sendable, Equatable {
    /// The kind of a row change.
    @nonexhaustive
    public enum Kind: String, Codable, Sendable {
        /// The row is inserted, updated or deleted.
        case insert, update, delete
    }

    /// The kind of the change.
    public package(set) var kind: Kind
    /// The values before the change, in the order of ``TableChanges/columns``; `nil` for inserted rows.
    package var oldValues: [StoredValue]?
    /// The values after the change, in the order of ``TableChanges/columns``; `nil` for deleted rows.
    package var newValues: [StoredValue]?
    /// The names of the columns, which the rows of a table share; see ``TableChanges/nameValues()``.
    var names = Names(columns: [], key: [])

    /// The names of columns, and the positions of the key columns. Names do not distinguish rows.
    struct Names: Equatable {
        let columns: [String]
        let key: [Int]

        static func == (left: Names, right: Names) -> Bool { true }
    }

    /// Creates the change of a row.
    package init(kind: Kind, before: [StoredValue]? = nil, after: [StoredValue]? = nil) {
        self.kind = kind
        oldValues = before
        newValues = after
    }

    /// The values of the key columns; empty if the row ID or all values identify rows.
    public var key: [StoredValue] {
        let values = oldValues ?? newValues ?? []
        return names.key.map { values.indices.contains($0) ? values[$0] : .null }
    }

    /// The values before the change by column; `nil` for inserted rows.
    public var before: [String: StoredValue]? { oldValues.map(named) }

    /// The values after the change by column; `nil` for deleted rows.
    public var after: [String: StoredValue]? { newValues.map(named) }

    /// The names of the updated columns; empty for inserted and deleted rows.
    public var changedColumns: [String] { changedPlaces.filter(names.columns.indices.contains).map { names.columns[$0] } }

    /// The positions of the updated columns.
    package var changedPlaces: [Int] {
        guard let oldValues, let newValues else { return [] }
        return newValues.indices.filter { oldValues.indices.contains($0) && oldValues[$0] != newValues[$0] }
    }

    private func named(_ values: [StoredValue]) -> [String: StoredValue] {
        Dictionary(zip(names.columns, values)) { first, _ in first }
    }
}

extension RowChange {
    private enum CodingKeys: String, CodingKey {
        case kind
        case oldValues = "before"
        case newValues = "after"
    }

    private enum ReportKey: String, CodingKey {
        case changed
    }

    /// Encodes the change with lists of values, in the order of the table's columns. For updated rows, adds the positions of the updated
    /// columns as `changed`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encodeIfPresent(oldValues, forKey: .oldValues)
        try container.encodeIfPresent(newValues, forKey: .newValues)
        guard kind == .update else { return }
        var extra = encoder.container(keyedBy: ReportKey.self)
        try extra.encode(changedPlaces, forKey: .changed)
    }
}

/// A change of the schema.
public struct SchemaChange: Codable, Sendable, Equatable {
    /// The kind of a schema change.
    @nonexhaustive
    public enum Kind: String, Codable, Sendable {
        /// The object is added, removed or changed.
        case added, removed, changed
    }

    /// The kind of the change.
    public package(set) var kind: Kind
    /// The type of the object: `table`, `index`, `view` or `trigger`, or `pragma` for `user_version` and `application_id`.
    public package(set) var type: String
    /// The name of the object.
    public package(set) var name: String
    /// The name of the object's table; empty for pragmas.
    public package(set) var table: String
    /// The SQL of the object before the change, or the value of the pragma; `nil` if the object is added.
    public package(set) var before: String?
    /// The SQL of the object after the change, or the value of the pragma; `nil` if the object is removed.
    public package(set) var after: String?
}
