/// The change of one row in a ``Changeset``.
public struct ChangesetRow: Sendable, Equatable {
    /// The name of the table.
    public let table: String
    /// The kind of the change.
    public let kind: RowChange.Kind
    /// The positions of the key columns, in the order of the table.
    public let keyColumns: [Int]
    /// The values before the change, one for each column; `nil` for unchanged columns of an updated row. Empty for an inserted
    /// row.
    public let before: [StoredValue?]
    /// The values after the change, one for each column; `nil` for unchanged columns of an updated row. Empty for a deleted row.
    public let after: [StoredValue?]

    init(_ change: Changeset.Change) {
        let columns = 0..<change.columnCount
        table = change.table
        kind = change.kind
        keyColumns = change.keyColumns
        before = kind == .inserted ? [] : columns.map { change.old($0) }
        after = kind == .deleted ? [] : columns.map { change.new($0) }
    }

    var columnCount: Int { max(before.count, after.count) }

    /// The values of the key columns.
    public var key: [StoredValue] {
        keyColumns.map { (kind == .inserted ? after[$0] : before[$0]) ?? .null }
    }

    /// A description of the row for messages, for example `row 3 of author`.
    var rowText: String { "row \(key.map(\.shortText).joined(separator: ", ")) of \(table)" }
}

extension Changeset {
    /// Returns the changes, grouped by table.
    ///
    /// - Throws: A `DatabaseError` with the code `SQLITE_CORRUPT` if the bytes are not a changeset.
    public func rows() throws -> [ChangesetRow] {
        var rows: [ChangesetRow] = []
        try forEach { rows.append(ChangesetRow($0)) }
        return rows
    }
}
