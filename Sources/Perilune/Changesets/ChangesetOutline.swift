/// Which tables a changeset changes, and how many of their rows.
package struct ChangesetOutline: Sendable {
    /// The changes of a table, from one header to the next.
    package struct Table: Sendable {
        /// The name of the table.
        package let name: String
        /// For each column whether it belongs to the key.
        package let isKey: [Bool]
        /// How many rows are inserted.
        package internal(set) var inserted = 0
        /// How many rows are updated.
        package internal(set) var updated = 0
        /// How many rows are deleted.
        package internal(set) var deleted = 0
        /// For each column whether any update changes it.
        var isUpdated: [Bool]

        init(name: String, isKey: [Bool]) {
            (self.name, self.isKey) = (name, isKey)
            isUpdated = Array(repeating: false, count: isKey.count)
        }

        /// How many rows are changed.
        package var count: Int { inserted + updated + deleted }
    }

    /// In the order of the changeset. A table may stand there more than once.
    package internal(set) var tables: [Table] = []

    /// How many rows are changed in all.
    package var count: Int { tables.reduce(0) { $0 + $1.count } }

    /// Begins the changes of a table. Consecutive changes of the same table are merged.
    mutating func begin(_ name: String, isKey: [Bool]) {
        if let last = tables.last, last.name == name, last.isKey == isKey { return }
        tables.append(Table(name: name, isKey: isKey))
    }

    /// Counts a change of the table that has begun last.
    mutating func count(_ kind: RowChange.Kind) {
        let last = tables.count - 1
        switch kind {
        case .inserted: tables[last].inserted += 1
        case .updated: tables[last].updated += 1
        case .deleted: tables[last].deleted += 1
        }
    }

    /// Notes a column that an update of the table that has begun last changes.
    mutating func noteUpdated(_ column: Int) {
        tables[tables.count - 1].isUpdated[column] = true
    }
}
