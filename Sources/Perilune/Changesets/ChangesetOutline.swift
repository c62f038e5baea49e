/// An outline of a changeset: its tables with the number of changes of each kind.
package struct ChangesetOutline: Sendable {
    /// The consecutive changes of one table.
    package struct Table: Sendable {
        /// The name of the table.
        package let name: String
        /// Whether each column belongs to the key.
        package let isKey: [Bool]
        /// The number of inserted rows.
        package internal(set) var inserted = 0
        /// The number of updated rows.
        package internal(set) var updated = 0
        /// The number of deleted rows.
        package internal(set) var deleted = 0
        /// Whether at least one update changes each column.
        var isUpdated: [Bool]

        init(name: String, isKey: [Bool]) {
            (self.name, self.isKey) = (name, isKey)
            isUpdated = Array(repeating: false, count: isKey.count)
        }

        /// The number of changed rows.
        package var count: Int { inserted + updated + deleted }
    }

    /// The tables, in the order of the changeset. A table may appear more than once.
    package internal(set) var tables: [Table] = []

    /// The number of changed rows in all tables.
    package var count: Int { tables.reduce(0) { $0 + $1.count } }

    /// Begins the changes of a table. Consecutive changes of the same table are merged.
    mutating func begin(_ name: String, isKey: [Bool]) {
        if let last = tables.last, last.name == name, last.isKey == isKey { return }
        tables.append(Table(name: name, isKey: isKey))
    }

    /// Counts a change of the current table.
    mutating func count(_ kind: RowChange.Kind) {
        let last = tables.count - 1
        switch kind {
        case .insert: tables[last].inserted += 1
        case .update: tables[last].updated += 1
        case .delete: tables[last].deleted += 1
        }
    }

    /// Records that an update of the current table changes a column.
    mutating func noteUpdated(_ column: Int) {
        tables[tables.count - 1].isUpdated[column] = true
    }
}
