internal import Foundation

/// The changes of the rows of one table.
public struct TableChanges: Codable, Sendable, Equatable {
    /// The name of the table.
    public package(set) var name: String
    /// The names of the columns, in which the values of rows stand.
    public package(set) var columns: [String] = []
    /// The columns that identify rows; empty if that is their row id or their content.
    public package(set) var key: [String] = []
    /// How many rows are inserted.
    public package(set) var inserted = 0
    /// How many rows are updated.
    public package(set) var updated = 0
    /// How many rows are deleted.
    public package(set) var deleted = 0
    /// Some of the rows, sorted by key; at most as many of each kind as the preview was asked for.
    public package(set) var rows: [RowChange] = []
    /// Why the table cannot be recorded, so that no plan can hold its changes; `nil` if they can.
    public package(set) var unrecordable: String?
    /// Whether the numbers are known. If not, the table was written to.
    public package(set) var isCounted = true

    /// Makes an empty set of changes for a table.
    package init(name: String) {
        self.name = name
    }

    /// The number of rows that would change.
    public var count: Int { inserted + updated + deleted }
    /// The number of rows that are not in ``rows``.
    public var hiddenCount: Int { count - rows.count }

    /// The order in which a table of the changes shows the columns: the key and the columns that an update changes come first if there are
    /// updates.
    ///
    /// - Returns: The places of the columns, and the number of leading ones.
    package var columnOrder: (columns: [Int], leading: Int) {
        let changed = rows.filter { $0.kind == .updated }.reduce(into: Set<Int>()) { $0.formUnion($1.changedColumns) }
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
        let keys = rows.map { row in places.map { (row.after ?? row.before ?? [])[$0] } }
        rows = rows.indices.sorted { keys[$0].lexicographicallyPrecedes(keys[$1]) }.map { rows[$0] }
    }
}

/// A row before and after.
public struct RowChange: Codable, Sendable, Equatable {
    /// How a row changes.
    @nonexhaustive
    public enum Kind: String, Codable, Sendable {
        /// The row is inserted, updated or deleted.
        case inserted, updated, deleted

        /// The verb by which scripts call it.
        package var verb: String {
            switch self {
            case .inserted: "insert"
            case .updated: "update"
            case .deleted: "delete"
            }
        }
    }

    /// How the row changes.
    public package(set) var kind: Kind
    /// `nil` for inserted rows.
    public package(set) var before: [StoredValue]?
    /// `nil` for deleted rows.
    public package(set) var after: [StoredValue]?

    /// Makes the change of a row.
    package init(kind: Kind, before: [StoredValue]? = nil, after: [StoredValue]? = nil) {
        self.kind = kind
        self.before = before
        self.after = after
    }

    /// The positions of the columns that an update changes.
    public var changedColumns: [Int] {
        guard let before, let after else { return [] }
        return after.indices.filter { before.indices.contains($0) && before[$0] != after[$0] }
    }
}

extension RowChange {
    private enum ReportKey: String, CodingKey {
        case changed
    }

    /// Writes also the positions of the changed columns, of updated rows.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encodeIfPresent(before, forKey: .before)
        try container.encodeIfPresent(after, forKey: .after)
        guard kind == .updated else { return }
        var extra = encoder.container(keyedBy: ReportKey.self)
        try extra.encode(changedColumns, forKey: .changed)
    }
}

/// A change of the schema.
public struct SchemaChange: Codable, Sendable, Equatable {
    /// How a part of the schema changes.
    @nonexhaustive
    public enum Kind: String, Codable, Sendable {
        /// The part is added, removed or changed.
        case added, removed, changed
    }

    /// How the part of the schema changes.
    public package(set) var kind: Kind
    /// `table`, `index`, `view` or `trigger`; or `pragma`, for `user_version` and `application_id`.
    public package(set) var type: String
    /// The name of the table, index, view or trigger.
    public package(set) var name: String
    /// The table that an index or trigger belongs to.
    public package(set) var table: String
    /// The SQL that made it, before and after; the value of a pragma.
    public package(set) var before: String?
    /// The SQL that makes it afterwards; `nil` if it is removed.
    public package(set) var after: String?
}
