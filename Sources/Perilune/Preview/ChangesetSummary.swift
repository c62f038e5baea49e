internal import GRDB
internal import PeriluneRecords

/// A summary of a changeset: the number of changes of each table, and the first changed rows.
struct ChangesetSummary {
    /// The tables, ordered by name.
    let tables: [TableChanges]

    /// Creates a summary of a changeset.
    ///
    /// - Parameters:
    ///   - rowLimit: The maximum number of rows of each kind to keep for a table. The rows with the smallest keys are kept.
    ///   - schema: The schema that provides the column names.
    init(_ changeset: ChangesetStream, rowLimit: Int, schema: SchemaSnapshot) throws {
        var tables: [String: TableSummary] = [:]
        try changeset.forEach { change in
            tables[change.table, default: Self.makeTable(change, rowLimit, schema)].count(
                change.kind, key: change.key, Self.rows(of: change))
        }
        self.tables = tables.values.map { $0.finish() }.sorted { $0.name < $1.name }
    }

    private static func makeTable(_ change: Changeset.Change, _ rowLimit: Int, _ schema: SchemaSnapshot) -> TableSummary {
        let shape = schema.table(change.table)
        let columns = shape?.columns.map(\.name) ?? (1...change.columnCount).map { "column \($0)" }
        let key = shape?.key ?? change.keyColumns.map { columns[$0] }
        return TableSummary(name: change.table, columns: columns, key: key, rowLimit: rowLimit)
    }

    /// Returns the row before and after a change. In an updated row, the values of unchanged columns, which a changeset omits, are NULL
    /// until `complete(from:)` is called.
    private static func rows(of change: Changeset.Change) -> RowChange {
        let columns = 0..<change.columnCount
        switch change.kind {
        case .insert: return RowChange(kind: .insert, after: columns.map { change.new($0) ?? .null })
        case .delete: return RowChange(kind: .delete, before: columns.map { change.old($0) ?? .null })
        case .update:
            let before = columns.map { change.old($0) ?? .null }
            return RowChange(
                kind: .update, before: before, after: columns.map { change.new($0) ?? before[$0] })
        }
    }
}

extension TableChanges {
    /// Fills in the unchanged columns of updated rows, which a changeset omits, from the updated database.
    mutating func complete(from db: Database) throws {
        let places = key.compactMap { columns.firstIndex(of: $0) }
        guard places.count == key.count, !key.isEmpty else { return }
        let match = key.map { "\($0.quotedName) IS ?" }.joined(separator: " AND ")
        let names = columns.map(\.quotedName).joined(separator: ", ")
        let statement = try db.makeStatement(
            sql: "SELECT \(names) FROM main.\(name.quotedName) WHERE \(match)")
        for index in rows.indices where rows[index].kind == .update {
            guard let before = rows[index].oldValues, let after = rows[index].newValues else { continue }
            try statement.setArguments(StatementArguments(places.map { after[$0].databaseValue }))
            let cursor = try Row.fetchCursor(statement)
            guard try cursor.next() != nil else { continue }
            let row = columns.indices.map { StoredValue(statement.sqliteStatement, column: $0) }
            // Equal values before and after mean that the column was omitted.
            rows[index].oldValues = before.indices.map { before[$0] == after[$0] ? row[$0] : before[$0] }
            rows[index].newValues = row
        }
    }
}
