internal import CPeriluneRows
internal import Foundation
internal import GRDB

/// The rows that a changeset updates, in the columns that it does not change: sessions record of an update only what changes.
///
/// They stand in a changeset of SQLite, as deletions in which the columns that do change are undefined, so that SQLite reads them.
///
/// - SeeAlso: SQLite's `ext/session/sqlite3session.c`, "Changeset Format".
struct SeenRows {
    let rows: Changeset

    init(rows: Changeset) {
        self.rows = rows
    }

    /// Reads the rows from a database in which the changeset is applied, or is not: their other columns are the same.
    init(_ changeset: Changeset, in db: Database, schema: SchemaSnapshot) throws {
        var writer = ChangesetWriter()
        let finder = RowFinder(db, schema)
        try changeset.forEach { change in
            guard change.kind == .updated, let row = try finder.row(of: change) else { return }
            let key = change.keyColumns
            writer.begin(change.table, keyPositions: row.indices.map { key.contains($0) ? 1 : 0 })
            writer.add(.deleted, row.enumerated().map { index, value in key.contains(index) || change.new(index) == nil ? value : nil })
        }
        rows = Changeset(bytes: writer.bytes)
    }

    /// Finds the first row that is different now; one that is gone is left to who applies the changes.
    func firstDifference(in db: Database, schema: SchemaSnapshot) throws -> PlanConflict? {
        let finder = RowFinder(db, schema)
        var conflict: PlanConflict?
        try rows.forEach { seen in
            guard conflict == nil, let found = try finder.row(of: seen) else { return }
            let expected = found.indices.map { seen.old($0) }
            guard found.indices.contains(where: { expected[$0] != nil && expected[$0] != found[$0] }) else { return }
            conflict = PlanConflict(seen, in: schema, kind: .updated, expected: expected, found: found)
        }
        return conflict
    }
}

/// Reads the rows of changes by their keys.
private final class RowFinder {
    private let db: Database
    private let schema: SchemaSnapshot
    private var statement: Statement?
    private var table = ""

    init(_ db: Database, _ schema: SchemaSnapshot) {
        self.db = db
        self.schema = schema
    }

    /// All columns of the row that a change names; `nil` if there is none.
    func row(of change: Changeset.Change) throws -> [PreviewValue]? {
        guard let statement = try statement(for: change)?.sqliteStatement else { return nil }
        defer { sqlite3_reset(statement) }
        for (index, value) in change.key.enumerated() { value.bind(to: statement, at: CInt(index + 1)) }
        let code = sqlite3_step(statement)
        guard code == SQLITE_ROW || code == SQLITE_DONE else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(db.sqliteConnection)))
        }
        return code == SQLITE_DONE ? nil : (0..<change.columnCount).map { PreviewValue(statement, column: $0) }
    }

    /// The changes of a table come one after the other.
    private func statement(for change: Changeset.Change) throws -> Statement? {
        if table == change.table { return statement }
        table = change.table
        guard let columns = schema.table(table)?.columns, columns.count == change.columnCount else {
            statement = nil
            return nil
        }
        let names = columns.map(\.name.quotedName).joined(separator: ", ")
        let match = change.keyColumns.map { "\(columns[$0].name.quotedName) IS ?" }.joined(separator: " AND ")
        statement = try db.makeStatement(sql: "SELECT \(names) FROM main.\(table.quotedName) WHERE \(match)")
        return statement
    }
}
