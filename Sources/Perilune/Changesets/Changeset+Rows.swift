/// The change of one row in a ``Changeset``.
public struct ChangesetRow: Sendable, Equatable {
    /// The name of the table.
    public let table: String
    /// Whether the row was inserted, updated or deleted.
    public let operation: RowChange.Kind
    /// The positions of the key columns, in the order of the table.
    public let keyColumns: [Int]
    /// The values before the change, in the order of the table's columns; `nil` for unchanged columns of an updated row. Empty for an
    /// inserted row.
    public let old: [StoredValue?]
    /// The values after the change, in the order of the table's columns; `nil` for unchanged columns of an updated row. Empty for a
    /// deleted row.
    public let new: [StoredValue?]

    init(_ change: Changeset.Change) {
        let columns = 0..<change.columnCount
        table = change.table
        operation = change.kind
        keyColumns = change.keyColumns
        old = operation == .insert ? [] : columns.map { change.old($0) }
        new = operation == .delete ? [] : columns.map { change.new($0) }
    }

    var columnCount: Int { max(old.count, new.count) }

    /// The values of the key columns.
    public var key: [StoredValue] {
        keyColumns.map { (operation == .insert ? new[$0] : old[$0]) ?? .null }
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
