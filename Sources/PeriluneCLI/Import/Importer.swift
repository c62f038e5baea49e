internal import GRDB
internal import GRDBSQLite
internal import Perilune
internal import PeriluneRecords

/// An import of files into a table, which writes all rows or none.
struct Importer {
    let table: String
    /// Whether to create a missing table.
    var makesTable = false
    var primaryKey: [String] = []
    /// Whether a row with an existing key updates the stored row.
    var upserts = false
    /// Whether to skip bad rows; otherwise one bad row cancels the import.
    var skipsBadRows = false
    /// Receives the fraction of the file that has been read, and the number of rows.
    var progress: (Double, Int) -> Void = { _, _ in }

    struct BadRow {
        let path: String
        let place: ImportSource.Place
        let column: String?
        let message: String
        /// The original text of the row.
        let text: [UInt8]

        /// The location of the row, and the problem.
        var description: String {
            "\(path):\(place.line): " + (place.object.map { "object \($0): " } ?? "") + (column.map { "column \($0): " } ?? "")
                + message
        }
    }

    struct Outcome {
        var rows = 0
        var inserted = 0
        var madeTable = false
        var isCommitted = false
        /// The bad rows; only the first ones, unless bad rows are skipped.
        var badRows: [BadRow] = []
        var badCount = 0
    }

    /// The number of bad rows to keep if they are not written to a file.
    private static let mostBadRows = 10

    /// Imports files in one transaction. Bad rows roll it back unless they are to be skipped.
    func run(_ sources: [ImportSource], in queue: DatabaseQueue) throws -> Outcome {
        var outcome = Outcome()
        do {
            try queue.inTransaction(.immediate) { db in
                outcome.madeTable = try prepare(db, sources)
                let schema = try TableDescription.readAll(in: db, named: table)[0]
                let before = try count(db, schema)
                for source in sources { try write(source, schema, db, &outcome) }
                outcome.inserted = try count(db, schema) - before
                outcome.isCommitted = outcome.badCount == 0 || skipsBadRows
                return outcome.isCommitted ? .commit : .rollback
            }
        } catch let error as DatabaseError {
            throw CommandFailure(ErrorReport(error))
        } catch let failure as ClusterFailure {
            throw CommandFailure(ErrorReport(failure.message, kind: failure.kind.rawValue))
        }
        return outcome
    }

    private func count(_ db: Database, _ schema: TableDescription) throws -> Int {
        let question = "SELECT count(*) FROM \(schema.name.quotedName)"
        let prepared = try DatabasePlaces.of(db).prepare(question, in: db)
        return try withExtendedLifetime(prepared) { try Int.fetchOne(prepared.statement) ?? 0 }
    }

    // MARK: - The table

    /// Creates the table if necessary, and returns whether it was created.
    private func prepare(_ db: Database, _ sources: [ImportSource]) throws -> Bool {
        if let existing = try TableDescription.readAll(in: db, named: table).first {
            guard existing.kind != "view" else { throw failure("\(table) is a view") }
            return false
        }
        guard makesTable else {
            let names = try TableDescription.readAll(in: db).map(\.name)
            let nearest = nearestName(to: table, among: names).map { "did you mean `\($0)`? " } ?? ""
            throw failure("unknown table \(table)", help: nearest + "use --create to create it: \(definition(sources))")
        }
        let names = sources.flatMap { $0.columns.map(\.name) }, known = Set(names.map(\.foldedName))
        if let missing = primaryKey.first(where: { !known.contains($0.foldedName) }) {
            throw failure("--primary-key names \(missing), which no file has", help: Self.suggestion(missing, among: names))
        }
        try DatabasePlaces.of(db).prepare(definition(sources), in: db).execute()
        return true
    }

    /// Returns the CREATE TABLE statement for the files.
    func definition(_ sources: [ImportSource]) -> String {
        var names: [String] = [], known: Set<String> = [], forms: [String: ValueForms] = [:]
        for column in sources.flatMap(\.columns) {
            let folded = column.name.foldedName
            if known.insert(folded).inserted { names.append(column.name) }
            forms[folded, default: []].formUnion(column.forms)
        }
        let key = primaryKey.map(\.foldedName)
        let columns = names.map { name in
            let kind = forms[name.foldedName]?.kind(setsAside: skipsBadRows) ?? .text
            let definition = "\(name.quotedName) \(kind.rawValue.uppercased())"
            guard key.contains(name.foldedName) else { return definition }
            // The only integer key is the rowid, which cannot be NULL.
            let isRowid = key.count == 1 && kind == .integer
            return definition + (isRowid ? "" : " NOT NULL") + (key.count == 1 ? " PRIMARY KEY" : "")
        }
        let constraint = key.count > 1 ? ", PRIMARY KEY (\(primaryKey.map(\.quotedName).joined(separator: ", ")))" : ""
        return "CREATE TABLE \(table.quotedName) (\(columns.joined(separator: ", "))\(constraint))"
    }

    /// Returns a hint with the nearest name and the list of all names.
    private static func suggestion(_ name: String, among names: [String]) -> String {
        let nearest = nearestName(to: name, among: names).map { "did you mean `\($0)`? " } ?? ""
        return nearest + "available: \(names.joined(separator: ", "))"
    }

    private func failure(_ message: String, help: String? = nil) -> CommandFailure {
        CommandFailure(ErrorReport(message, kind: "usage", help: help), status: ExitStatus.failure)
    }

    /// Returns the table columns that correspond to the columns of a file.
    private func columns(of source: ImportSource, in schema: TableDescription) throws -> [TableDescription.Column] {
        let there = schema.columns.filter { $0.hidden == 0 }
        let known = Dictionary(there.map { ($0.name.foldedName, $0) }) { first, _ in first }
        return try source.columns.map { column in
            if let found = known[column.name.foldedName] { return found }
            if column.isUnnamed, !source.hasHeader {
                let names = there.prefix(source.columns.count).map(\.name).joined(separator: ",")
                throw failure(
                    "\(source.path): no header names the columns of \(schema.name)",
                    help: "name them in the order of the fields: --columns '\(names)'")
            }
            if column.isUnnamed, let names = source.namesWithoutUnnamed(in: Set(known.keys)) {
                throw failure(
                    "\(source.path): the header has no name for column \(column.position + 1)",
                    help: "to leave it out: --columns '\(names)'")
            }
            let place = source.path + (source.line(of: column).map { ":\($0)" } ?? "")
            throw failure(
                "\(place): \(schema.name) has no column \(column.name)",
                help: Self.suggestion(column.name, among: there.map(\.name)) + "; use --columns to name the fields of the file")
        }
    }

    /// Sets aside the objects whose fields the table lacks, if invalid rows are written to a file.
    private func setAsideObjects(of source: inout ImportSource, _ schema: TableDescription) {
        let names = schema.columns.filter { $0.hidden == 0 }.map(\.name), known = Set(names.map(\.foldedName))
        _ = source.setAsideObjects { column in
            known.contains(column.name.foldedName)
        } because: { column in
            "\(schema.name) has no column \(column.name)"
                + (nearestName(to: column.name, among: names).map { "; did you mean `\($0)`?" } ?? "")
        }
    }

    /// Returns the statement that inserts a row with values for some columns.
    private func insertion(_ columns: [TableDescription.Column], _ schema: TableDescription) -> String {
        let names = columns.map(\.name.quotedName)
        if names.isEmpty { return "INSERT INTO \(schema.name.quotedName) DEFAULT VALUES" }
        var sql = "INSERT INTO \(schema.name.quotedName) (\(names.joined(separator: ", "))) VALUES ("
        sql += Array(repeating: "?", count: names.count).joined(separator: ", ") + ")"
        guard upserts else { return sql }
        let key = key(of: schema), folded = Set(key.map(\.foldedName))
        let others = columns.filter { !folded.contains($0.name.foldedName) }.map(\.name.quotedName)
        sql += " ON CONFLICT (\(key.map(\.quotedName).joined(separator: ", "))) DO "
        return sql
            + (others.isEmpty ? "NOTHING" : "UPDATE SET " + others.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
    }

    private func key(of schema: TableDescription) -> [String] { primaryKey.isEmpty ? schema.key : primaryKey }

    /// Rejects a file whose columns do not include the key.
    private func requireKey(_ columns: [TableDescription.Column], _ schema: TableDescription) throws {
        guard upserts else { return }
        let key = key(of: schema)
        guard !key.isEmpty else {
            throw failure("\(schema.name) has no primary key", help: "use --primary-key to name the columns that identify a row")
        }
        if let missing = key.first(where: { name in !columns.contains { $0.name.foldedName == name.foldedName } }) {
            let names = columns.map(\.name)
            throw failure(
                "the file has no column \(missing), which --upsert needs to identify rows",
                help: Self.suggestion(missing, among: names))
        }
    }

    // MARK: - The rows

    /// The insert statements, cached by their columns.
    private final class Insertions {
        private var prepared: [[Int]: any PlacedStatement] = [:]
        private let prepare: ([Int]) throws -> any PlacedStatement

        init(_ prepare: @escaping ([Int]) throws -> any PlacedStatement) { self.prepare = prepare }

        /// Returns the statement for some columns, given by their indices in the file.
        func statement(for columns: [Int]) throws -> OpaquePointer {
            if let known = prepared[columns] { return known.statement.sqliteStatement }
            // The cache is bounded, because objects may have any combination of fields.
            if prepared.count > 100 { prepared.removeAll() }
            let made = try prepare(columns)
            prepared[columns] = made
            return made.statement.sqliteStatement
        }
    }

    private func makeInsertions(_ columns: [TableDescription.Column], _ schema: TableDescription, _ db: Database) -> Insertions {
        Insertions { positions in
            let sql = insertion(positions.map { columns[$0] }, schema)
            do {
                return try DatabasePlaces.of(db).prepare(sql, in: db)
            } catch let error as DatabaseError
                where upserts && error.message?.hasPrefix("ON CONFLICT clause does not match") == true
            {
                let key = key(of: schema)
                let name = ([schema.name, "by"] + key).joined(separator: "_").quotedName
                throw failure(
                    "\(schema.name) has no unique key on \(key.joined(separator: ", ")), which --upsert needs to identify rows",
                    help:
                        "CREATE UNIQUE INDEX \(name) ON \(schema.name.quotedName) (\(key.map(\.quotedName).joined(separator: ", ")))"
                )
            }
        }
    }

    private func write(_ source: ImportSource, _ schema: TableDescription, _ db: Database, _ outcome: inout Outcome) throws {
        var source = source
        if skipsBadRows { setAsideObjects(of: &source, schema) }
        let columns = try columns(of: source, in: schema)
        try requireKey(columns, schema)
        let insertions = makeInsertions(columns, schema, db), all = Array(columns.indices)
        let whole = try insertions.statement(for: all)
        let kinds = columns.map { ColumnKind(declared: $0.type) }
        var result = outcome
        try source.forEachRow(kinds) { place, row in
            switch row {
            case .flaw(let column, let message):
                note(
                    BadRow(path: source.path, place: place, column: column, message: message, text: source.text(of: place)),
                    &result)
            case .cells(let cells): try insert(cells, by: whole, source, place, db, &result)
            case .fields(let cells, let columns):
                try insert(cells, by: insertions.statement(for: columns), source, place, db, &result)
            }
            if (result.rows + result.badCount) & 0xFFF == 0 {
                progress(Double(place.range.upperBound) / Double(max(source.size, 1)), result.rows)
            }
        }
        withExtendedLifetime(insertions) {}
        outcome = result
    }

    private func insert(
        _ cells: [Cell], by statement: OpaquePointer, _ source: ImportSource, _ place: ImportSource.Place, _ db: Database,
        _ outcome: inout Outcome
    ) throws {
        for (index, cell) in cells.enumerated() { Self.bind(cell, to: statement, at: CInt(index + 1)) }
        let code = sqlite3_step(statement)
        defer { sqlite3_reset(statement) }
        guard code != SQLITE_DONE else { return outcome.rows += 1 }
        let message = String(cString: sqlite3_errmsg(db.sqliteConnection))
        guard code & 0xFF == SQLITE_CONSTRAINT || code & 0xFF == SQLITE_MISMATCH else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
        }
        note(BadRow(path: source.path, place: place, column: nil, message: message, text: source.text(of: place)), &outcome)
    }

    private func note(_ row: BadRow, _ outcome: inout Outcome) {
        outcome.badCount += 1
        if skipsBadRows || outcome.badRows.count < Self.mostBadRows { outcome.badRows.append(row) }
    }

    private static func bind(_ cell: Cell, to statement: OpaquePointer, at index: CInt) {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch cell {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let value): sqlite3_bind_int64(statement, index, value)
        case .boolean(let value): sqlite3_bind_int64(statement, index, value ? 1 : 0)
        case .real(let value): sqlite3_bind_double(statement, index, value)
        case .text(let bytes):
            bytes.withUnsafeBytes { buffer in
                _ = sqlite3_bind_text(
                    statement, index, buffer.baseAddress?.assumingMemoryBound(to: CChar.self) ?? UnsafePointer(Self.empty),
                    CInt(buffer.count), transient)
            }
        case .blob(let bytes):
            bytes.withUnsafeBytes { _ = sqlite3_bind_blob(statement, index, $0.baseAddress, CInt($0.count), transient) }
        }
    }

    /// The address that is bound for empty text, because a null pointer would bind NULL.
    private nonisolated(unsafe) static let empty = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
}
