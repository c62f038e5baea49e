internal import GRDB
internal import PeriluneRecords

/// Counts the changes of a changeset, and keeps the first of each table.
struct ChangesetSummary {
    private struct Sample {
        let key: [PreviewValue]
        let change: RowChange
    }

    private struct Table {
        var changes: TableChanges
        var samples: [RowChange.Kind: [Sample]] = [:]
    }

    /// By name.
    private(set) var tables: [TableChanges] = []

    /// Reads a changeset.
    ///
    /// - Parameters:
    ///   - rowLimit: How many rows of each kind are kept for a table, those with the smallest keys.
    ///   - schema: Gives the columns their names.
    init(_ changeset: Changeset, rowLimit: Int, schema: SchemaSnapshot) throws {
        var tables: [String: Table] = [:]
        try changeset.forEach { change in
            let name = change.table
            Self.count(change, rowLimit: rowLimit, in: &tables[name, default: Self.makeTable(change, schema)])
        }
        self.tables = tables.values.map(Self.finish).sorted { $0.name < $1.name }
    }

    private static func makeTable(_ change: Changeset.Change, _ schema: SchemaSnapshot) -> Table {
        var changes = TableChanges(name: change.table)
        let shape = schema.table(change.table)
        changes.columns = shape?.columns.map(\.name) ?? (1...change.columnCount).map { "column \($0)" }
        changes.key = shape?.key ?? change.keyColumns.map { changes.columns[$0] }
        return Table(changes: changes)
    }

    private static func count(_ change: Changeset.Change, rowLimit: Int, in table: inout Table) {
        switch change.kind {
        case .inserted: table.changes.inserted += 1
        case .updated: table.changes.updated += 1
        case .deleted: table.changes.deleted += 1
        }
        guard rowLimit > 0 else { return }
        let key = change.key
        guard rowLimit < .max else {
            // All are kept: there is nothing to choose.
            table.samples[change.kind, default: []].append(Sample(key: key, change: rows(of: change)))
            return
        }
        var samples = table.samples[change.kind] ?? []
        if samples.count == rowLimit {
            guard let last = samples.last, key.lexicographicallyPrecedes(last.key) else { return }
            samples.removeLast()
        }
        let place = samples.firstIndex { key.lexicographicallyPrecedes($0.key) } ?? samples.endIndex
        samples.insert(Sample(key: key, change: rows(of: change)), at: place)
        table.samples[change.kind] = samples
    }

    /// The row before and after. What an update has left alone is not in the changeset: NULL in both, for now.
    private static func rows(of change: Changeset.Change) -> RowChange {
        let columns = 0..<change.columnCount
        switch change.kind {
        case .inserted: return RowChange(kind: .inserted, after: columns.map { change.new($0) ?? .null })
        case .deleted: return RowChange(kind: .deleted, before: columns.map { change.old($0) ?? .null })
        case .updated:
            let before = columns.map { change.old($0) ?? .null }
            return RowChange(
                kind: .updated, before: before, after: columns.map { change.new($0) ?? before[$0] })
        }
    }

    private static func finish(_ table: Table) -> TableChanges {
        var changes = table.changes
        let samples = [RowChange.Kind.inserted, .deleted, .updated].flatMap { table.samples[$0] ?? [] }
        changes.rows = samples.map(\.change)
        changes.sortRows()
        return changes
    }
}

extension TableChanges {
    /// Fills in what a changeset does not say of updated rows, from the database in which they are updated.
    mutating func complete(from db: Database) throws {
        let places = key.compactMap { columns.firstIndex(of: $0) }
        guard places.count == key.count, !key.isEmpty else { return }
        let match = key.map { "\($0.quotedName) IS ?" }.joined(separator: " AND ")
        let names = columns.map(\.quotedName).joined(separator: ", ")
        let statement = try db.makeStatement(
            sql: "SELECT \(names) FROM main.\(name.quotedName) WHERE \(match)")
        for index in rows.indices where rows[index].kind == .updated {
            guard let before = rows[index].before, let after = rows[index].after else { continue }
            try statement.setArguments(StatementArguments(places.map { after[$0].databaseValue }))
            let cursor = try Row.fetchCursor(statement)
            guard try cursor.next() != nil else { continue }
            let row = columns.indices.map { PreviewValue(statement.sqliteStatement, column: $0) }
            // Where both are the same, the row was not changed there.
            rows[index].before = before.indices.map { before[$0] == after[$0] ? row[$0] : before[$0] }
            rows[index].after = row
        }
    }
}
