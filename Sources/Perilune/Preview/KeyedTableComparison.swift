internal import CPeriluneRows
internal import GRDB
internal import PeriluneRecords

/// A comparison of a recordable table with its previous state, which is attached as ``PreviewCopy/formerSchema``. Finds the same changes as
/// a recording, but holds only one row at a time in memory.
struct KeyedTableComparison {
    private let db: Database
    private let table: PreviewTable
    private let changes: PlanChangesWriter
    private var summary: TableSummary
    private var hasBegun = false

    /// The positions of the key columns, in the order of the table.
    private let key: [Int]
    private var count: Int { table.columns.count }

    /// Creates a comparison.
    ///
    /// - Parameters:
    ///   - table: A table with the same columns in both states. Its key must not be NULL, and must distinguish all different values.
    ///   - changes: The writer that receives the changed rows.
    init(_ db: Database, _ table: PreviewTable, rowLimit: Int, to changes: PlanChangesWriter) {
        (self.db, self.table, self.changes) = (db, table, changes)
        key = table.columns.indices.filter { table.columns[$0].keyPosition > 0 }
        summary = TableSummary(name: table.name, columns: table.columns.map(\.name), key: table.key, rowLimit: rowLimit)
    }

    /// Finds and counts the changed rows, and passes them to the writer.
    consuming func run() throws -> TableChanges {
        let formerCount = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(former)") ?? 0
        // Searches for deleted rows only if some previous rows no longer exist.
        if try compareRows() < formerCount { try findDeleted() }
        return summary.finish()
    }

    /// Finds inserted and updated rows. Returns the number of current rows that existed before.
    private mutating func compareRows() throws -> Int {
        var (matchCount, isChanged) = (0, Array(repeating: false, count: count))
        let width = count
        try forEachRow("SELECT \(list("a")), \(list("b")) FROM \(current) AS a LEFT JOIN \(former) AS b ON \(match)") {
            comparison, values in
            let (new, old) = (values[..<width], values[width...])
            guard sqlite3_value_type(old[width + comparison.key[0]]) != SQLITE_NULL else {
                comparison.take(.insert, new)
                return
            }
            matchCount += 1
            var hasChanged = false
            for index in 0..<width {
                isChanged[index] = !SQLiteValue.areSame(new[index]!, old[width + index]!)
                if isChanged[index] { hasChanged = true }
            }
            if hasChanged { comparison.takeUpdate(from: old, to: new, isChanged) }
        }
        return matchCount
    }

    private mutating func findDeleted() throws {
        try forEachRow("SELECT \(list("b")) FROM \(former) AS b WHERE NOT EXISTS (SELECT 1 FROM \(current) AS a WHERE \(match))")
        { comparison, row in
            comparison.take(.delete, row[...])
        }
    }

    // MARK: - Taking

    private mutating func take(_ kind: RowChange.Kind, _ row: PlanChangesWriter.Row) {
        begin()
        changes.add(kind, row)
        let key = key
        summary.count(
            kind, key: Self.values(row, key),
            RowChange(
                kind: kind, before: kind == .delete ? Self.values(row) : nil, after: kind == .insert ? Self.values(row) : nil))
    }

    private mutating func takeUpdate(from old: PlanChangesWriter.Row, to new: PlanChangesWriter.Row, _ isChanged: [Bool]) {
        begin()
        changes.addUpdate(from: old, to: new, isChanged: isChanged)
        let key = key
        summary.count(
            .update, key: Self.values(new, key), RowChange(kind: .update, before: Self.values(old), after: Self.values(new)))
    }

    private mutating func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        changes.begin(table)
    }

    private static func values(_ row: PlanChangesWriter.Row) -> [StoredValue] {
        row.map { StoredValue($0!) }
    }

    private static func values(_ row: PlanChangesWriter.Row, _ columns: [Int]) -> [StoredValue] {
        columns.map { StoredValue(row[row.startIndex + $0]!) }
    }

    // MARK: - SQL

    private var current: String { "main.\(table.name.quotedName)" }
    private var former: String { "\(PreviewCopy.formerSchema).\(table.name.quotedName)" }

    private var match: String {
        table.key.map { "b.\($0.quotedName) = a.\($0.quotedName)" }.joined(separator: " AND ")
    }

    private func list(_ alias: String) -> String {
        table.columns.map { "\(alias).\($0.name.quotedName)" }.joined(separator: ", ")
    }

    /// Calls a closure with the values of each row of a query. The values are valid only during the call.
    private mutating func forEachRow(_ sql: String, _ body: (inout Self, [OpaquePointer?]) throws -> Void) throws {
        let owner = try db.makeStatement(sql: sql)
        try withExtendedLifetime(owner) {
            let statement = owner.sqliteStatement
            defer { sqlite3_reset(statement) }
            var values = [OpaquePointer?](repeating: nil, count: Int(sqlite3_column_count(statement)))
            var code = sqlite3_step(statement)
            while code == SQLITE_ROW {
                for index in values.indices { values[index] = sqlite3_column_value(statement, CInt(index)) }
                try body(&self, values)
                code = sqlite3_step(statement)
            }
            guard code == SQLITE_DONE else {
                throw DatabaseError(
                    resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(db.sqliteConnection)))
            }
        }
    }
}
