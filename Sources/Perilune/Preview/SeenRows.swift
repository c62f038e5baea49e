internal import CPeriluneRows
internal import GRDB

/// The unchanged columns of the rows that a changeset updates. A changeset contains only the changed columns and the key.
///
/// The rows are stored in SQLite's changeset format, as deletions in which the changed columns are undefined.
///
/// - SeeAlso: SQLite's `ext/session/sqlite3session.c`, "Changeset Format".
struct SeenRows {
    let rows: ChangesetStream

    init(rows: ChangesetStream) {
        self.rows = rows
    }

    /// Reads the rows from a database. The changeset may or may not have been applied, because it does not affect these columns.
    init(_ changeset: ChangesetStream, in db: Database, schema: SchemaSnapshot) throws {
        var writer = ChangesetWriter()
        let spool = ByteSpool()
        let finder = RowFinder(db, schema)
        try changeset.forEach { change in
            guard change.kind == .update, try finder.find(change) else { return }
            writer.begin(change.table, keyPositions: finder.isKey.map { $0 ? 1 : 0 })
            writer.beginChange(.delete)
            for index in finder.isKey.indices {
                let isSeen = finder.isKey[index] || change.newValue(index) == nil
                writer.append(isSeen ? finder.value(index) : nil as OpaquePointer?)
            }
            try writer.flush(to: spool)
        }
        try writer.flush(to: spool, ifMoreThan: 0)
        rows = ChangesetStream(try spool.finish())
    }

    /// Returns the first row with a different value. Skips missing rows, which are detected when the changeset is applied.
    func firstDifference(in db: Database, schema: SchemaSnapshot) throws -> PlanConflict? {
        let finder = RowFinder(db, schema)
        var conflict: PlanConflict?
        try rows.forEach { seen in
            guard conflict == nil, try finder.find(seen) else { return }
            let isDifferent = finder.isKey.indices.contains { index in
                seen.oldValue(index).map { !SQLiteValue.areSame($0, finder.value(index)) } ?? false
            }
            guard isDifferent else { return }
            let columns = finder.isKey.indices
            conflict = PlanConflict(
                seen, in: schema, kind: .update, expected: columns.map { seen.old($0) },
                found: columns.map { StoredValue(finder.value($0)) })
        }
        return conflict
    }
}

/// A finder for the rows of changes, by key.
private final class RowFinder {
    private let db: Database
    private let schema: SchemaSnapshot
    private var statement: Statement?
    private var table = ""
    /// Whether each column of the current table belongs to the key.
    private(set) var isKey: [Bool] = []

    init(_ db: Database, _ schema: SchemaSnapshot) {
        self.db = db
        self.schema = schema
    }

    deinit {
        if let statement { sqlite3_reset(statement.sqliteStatement) }
    }

    /// Finds the row of a change, and returns whether the row exists. The values of the row are valid until the next call.
    func find(_ change: Changeset.Change) throws -> Bool {
        guard let statement = try statement(for: change)?.sqliteStatement else { return false }
        sqlite3_reset(statement)
        var parameter: CInt = 0
        for index in isKey.indices where isKey[index] {
            parameter += 1
            sqlite3_bind_value(statement, parameter, change.oldValue(index))
        }
        let code = sqlite3_step(statement)
        guard code == SQLITE_ROW || code == SQLITE_DONE else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(db.sqliteConnection)))
        }
        return code == SQLITE_ROW
    }

    /// Returns a value of the row that was found last.
    func value(_ column: Int) -> OpaquePointer {
        sqlite3_column_value(statement!.sqliteStatement, CInt(column))
    }

    /// Returns the prepared statement for the table of a change. Caches only the last statement, because the changes of a table are
    /// consecutive.
    private func statement(for change: Changeset.Change) throws -> Statement? {
        if table == change.table { return statement }
        if let statement { sqlite3_reset(statement.sqliteStatement) }
        table = change.table
        guard let columns = schema.table(table)?.columns, columns.count == change.columnCount else {
            statement = nil
            return nil
        }
        isKey = (0..<columns.count).map(change.isKey)
        let names = columns.map(\.name.quotedName).joined(separator: ", ")
        let match = change.keyColumns.map { "\(columns[$0].name.quotedName) IS ?" }.joined(separator: " AND ")
        statement = try db.makeStatement(sql: "SELECT \(names) FROM main.\(table.quotedName) WHERE \(match)")
        return statement
    }
}
