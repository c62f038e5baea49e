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
        var writer = Writer()
        let finder = RowFinder(db, schema)
        try changeset.forEach { change in
            guard change.kind == .updated, let row = try finder.row(of: change) else { return }
            writer.add(change, row)
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

/// Writes a changeset of deletions.
private struct Writer {
    private(set) var bytes = Data()
    private var table: String?

    mutating func add(_ change: Changeset.Change, _ row: [PreviewValue]) {
        if table != change.table { begin(change) }
        bytes.append(contentsOf: [UInt8(SQLITE_DELETE), 0])
        let key = Set(change.keyColumns)
        for (index, value) in row.enumerated() {
            if key.contains(index) || change.new(index) == nil { append(value) } else { bytes.append(0) }
        }
    }

    private mutating func begin(_ change: Changeset.Change) {
        table = change.table
        let key = Set(change.keyColumns)
        bytes.append(UInt8(ascii: "T"))
        append(count: change.columnCount)
        bytes.append(contentsOf: (0..<change.columnCount).map { key.contains($0) ? 1 : 0 })
        bytes.append(contentsOf: change.table.utf8 + [0])
    }

    private mutating func append(_ value: PreviewValue) {
        switch value {
        case .null: bytes.append(UInt8(SQLITE_NULL))
        case .integer(let value): append(UInt8(SQLITE_INTEGER), UInt64(bitPattern: value))
        case .real(let value): append(UInt8(SQLITE_FLOAT), value.bitPattern)
        case .text(let text): append(UInt8(SQLITE3_TEXT), text)
        case .blob(let blob): append(UInt8(SQLITE_BLOB), blob)
        }
    }

    private mutating func append(_ type: UInt8, _ number: UInt64) {
        bytes.append(type)
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ type: UInt8, _ contents: [UInt8]) {
        bytes.append(type)
        append(count: contents.count)
        bytes.append(contentsOf: contents)
    }

    /// SQLite's variable-length integer: seven bits a byte, the highest first.
    private mutating func append(count: Int) {
        var groups = [UInt8(count & 0x7f)]
        var rest = count >> 7
        while rest > 0 {
            groups.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(contentsOf: groups.reversed())
    }
}
