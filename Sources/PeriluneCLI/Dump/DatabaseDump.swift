internal import GRDB
internal import GRDBSQLite
internal import PeriluneRecords

/// A database dump as SQL text, in the format that the SQLite shell writes.
struct DatabaseDump {
    let db: Database
    /// The tables and views to write.
    let tables: [TableDescription]
    /// Whether the dump omits other tables of the database.
    var isPart = false
    /// The parts to write.
    var parts: Parts = .all
    let write: ([UInt8]) throws -> Void

    enum Parts: Sendable {
        case all, schema, data
    }

    /// Writes the dump. Unreadable parts of a damaged file are omitted.
    ///
    /// - Returns: The names of tables that may be incomplete.
    func run() throws -> [String] {
        var output: [UInt8] = [], incomplete: [String] = []
        if parts != .data, !isPart, let encoding = try String.fetchOne(db, sql: "PRAGMA encoding"), encoding != "UTF-8" {
            // This pragma has no effect in a database that already has tables.
            output.append("PRAGMA encoding='\(encoding)';\n")
        }
        output.append("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
        let withoutContents = tables.filter(Self.hasNoContents).map(\.name)
        let virtual = tables.filter { $0.kind == "virtual" }
        if parts != .data {
            for table in tables where table.kind == "table" { output.append(SchemaStatements.text([table.sql])) }
        }
        let triggers = parts == .data ? try triggers() : []
        for trigger in triggers { output.append("DROP TRIGGER IF EXISTS \(trigger.name.quotedName);\n") }
        if parts != .schema {
            for table in tables where table.kind == "table" {
                if try !writeRows(of: table, &output) { incomplete.append(table.name) }
            }
            try writeSequences(tables, &output)
        }
        for table in virtual {
            if table.flaw != nil {
                if parts != .data { writeDescription(of: table, &output) }
            } else if withoutContents.contains(table.name) {
                if parts == .schema {
                    output.append(SchemaStatements.text([table.sql]))
                } else {
                    try writeIndex(of: table, &output, &incomplete)
                }
            } else {
                // A virtual table creates its shadow tables itself, and its rows are inserted through it.
                if parts != .data { output.append(SchemaStatements.text([table.sql])) }
                if parts == .schema { continue }
                if try !writeRows(of: table, &output) { incomplete.append(table.name) }
                try writeConfiguration(of: table, &output)
            }
        }
        if parts != .data {
            let made = Set(tables.filter { $0.kind != "view" }.map(\.sql))
            // Follows the rows, so that triggers do not run and each index is built once.
            for statement in try SchemaStatements.read(in: db, of: isPart ? tables.first?.name : nil)
            where !made.contains(statement) {
                output.append(SchemaStatements.text([statement]))
            }
            for pragma in ["application_id", "user_version"] where !isPart {
                let number = try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0
                if number != 0 { output.append("PRAGMA \(pragma)=\(number);\n") }
            }
        }
        for trigger in triggers { output.append(SchemaStatements.text([trigger.sql])) }
        if parts != .schema, !isPart { try writeStatistics(&output) }
        output.append("COMMIT;\n")
        try write(output)
        return incomplete
    }

    /// Returns the dumped tables whose pages are damaged. Reading a damaged page often succeeds and returns other values, so that
    /// reading alone does not find the damage. The check takes about a twentieth of the time of the dump.
    func damagedTables() throws -> [String] {
        var names: [(table: String, part: String)] = tables.filter { $0.kind == "table" }.map { ($0.name, $0.name) }
        let virtual = tables.filter { $0.kind == "virtual" }.map(\.name)
        if !virtual.isEmpty {
            let shadows = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'")
            names += shadows.compactMap { part in
                virtual.filter { part.foldedName.hasPrefix($0.foldedName + "_") }.max { $0.count < $1.count }.map { ($0, part) }
            }
        }
        var damaged: [String] = []
        for (table, part) in names where try !damaged.contains(table) && isDamaged(part) { damaged.append(table) }
        return damaged
    }

    private func isDamaged(_ table: String) throws -> Bool {
        do {
            // Other lines concern rows that violate a constraint.
            let reports = try String.fetchAll(db, sql: "PRAGMA quick_check(\(table.quotedName))")
            return reports.contains { $0.hasPrefix("*** in database ") }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // The check needs the functions of CHECK constraints and generated columns, which an extension may define.
            return false
        }
    }

    /// Returns the triggers of the dumped tables. They must not run while a data-only dump is restored.
    private func triggers() throws -> [(name: String, sql: String)] {
        let names = Set(tables.filter { $0.kind == "table" }.map(\.name.foldedName))
        return try Row.fetchAll(db, sql: "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid")
            .filter { names.contains(($0["tbl_name"] as String).foldedName) }.map { ($0["name"], $0["sql"]) }
    }

    /// Writes an INSERT for each row, with the row id if no column is an alias for it. Returns whether all rows could be read.
    func writeRows(of table: TableDescription, _ output: inout [UInt8]) throws -> Bool {
        let columns = table.columns.filter { $0.hidden == 0 }.map(\.name)
        guard table.kind != "virtual" || takesRows(table.name, columns) else { return true }
        let rowID = try rowIDName(of: table)
        let names = (rowID.map { [$0] } ?? []) + columns.map(\.quotedName)
        guard !names.isEmpty else { return true }
        let list = names.joined(separator: ", ")
        // A damaged table is read from both ends; row ids show where the ends meet.
        let key =
            table.kind == "table"
            ? TableSchema.rowIDNames(besides: table.columns.lazy.map(\.name)).first.flatMap { table.isWithoutRowID ? nil : $0 }
            : nil
        let first = names.count - columns.count
        let required = Set(table.kind == "table" ? table.columns.filter(\.isNotNull).map(\.name) : [])
        let notNull = columns.indices.filter { required.contains(columns[$0]) }.map { first + $0 }
        var last: Int64?
        do {
            if try writeRows(of: table.name, list, key, nil, &last, notNull: notNull, &output) == 0 { return true }
            writeRemark(on: table, &output)
            return false
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            writeRemark(on: table, &output)
            guard let key else { return false }
            var first: Int64?
            do {
                _ = try writeRows(of: table.name, list, key, last ?? .min, &first, notNull: notNull, &output)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {}
            return false
        }
    }

    private func writeRemark(on table: TableDescription, _ output: inout [UInt8]) {
        output.append("-- some rows of \(table.name.replacing("\n", with: " ")) cannot be read\n")
    }

    /// Returns whether a virtual table accepts rows. Some, such as fts5vocab, only show data of other tables.
    private func takesRows(_ table: String, _ columns: [String]) -> Bool {
        let values = [String](repeating: "NULL", count: columns.count).joined(separator: ", ")
        return
            (try? db.makeStatement(
                sql: "INSERT INTO \(table.quotedName) (\(columns.map(\.quotedName).joined(separator: ", "))) VALUES (\(values))"))
            != nil
    }

    /// - Parameters:
    ///   - key: The name of the row id; `nil` if the table has none.
    ///   - end: If not `nil`, reads backward and stops before the row with this id; `nil` reads all rows forward.
    ///   - last: The row id of the last row that was read.
    ///   - notNull: The positions of columns that are NOT NULL. Only damage puts a NULL there, and a row with it could not be restored.
    /// - Returns: The number of rows that were left out, because of such a NULL.
    func writeRows(
        of table: String, _ list: String, _ key: String?, _ end: Int64?, _ last: inout Int64?, notNull: [Int] = [],
        _ output: inout [UInt8]
    ) throws -> Int {
        let own = key.map { ", \($0)" } ?? "", order = end == nil ? "" : " ORDER BY \(key!) DESC"
        let statement = try db.makeStatement(sql: "SELECT \(list)\(own) FROM \(table.quotedName)\(order)")
        let start = Array("INSERT INTO \(table.quotedName) (\(list)) VALUES (".utf8)
        let count = statement.columnCount - (key == nil ? 0 : 1)
        let rows = try Row.fetchCursor(statement)
        var omitted = 0
        while try rows.next() != nil {
            if key != nil {
                let id = sqlite3_column_int64(statement.sqliteStatement, CInt(count))
                if let end, id <= end { return omitted }
                last = id
            }
            if notNull.contains(where: { sqlite3_column_type(statement.sqliteStatement, CInt($0)) == SQLITE_NULL }) {
                omitted += 1
                continue
            }
            output += start
            for column in 0..<count {
                if column > 0 { output.append(",") }
                SQLLiteral.append(Cell(statement.sqliteStatement, column: CInt(column)), to: &output)
            }
            output.append(");\n")
            if output.count > 1 << 16 {
                try write(output)
                output.removeAll(keepingCapacity: true)
            }
        }
        return omitted
    }

    /// Writes the statistics of ANALYZE.
    private func writeStatistics(_ output: inout [UInt8]) throws {
        guard try db.tableExists("sqlite_stat1") else { return }
        output.append("ANALYZE sqlite_schema;\n")
        if parts == .data { output.append("DELETE FROM sqlite_stat1;\n") }
        let sql = "SELECT quote(tbl) || ',' || quote(idx) || ',' || quote(stat) FROM sqlite_stat1 ORDER BY rowid"
        for values in try String.fetchAll(db, sql: sql) {
            output.append("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (\(values));\n")
        }
    }

    /// Returns the name of the row id if no column stores it. The dump needs these ids, because other tables may refer to them, such as
    /// external-content full-text tables.
    private func rowIDName(of table: TableDescription) throws -> String? {
        guard table.kind == "table" || table.kind == "virtual" && table.key.isEmpty, !table.isWithoutRowID, !table.keyIsRowID
        else { return nil }
        guard let name = TableSchema.rowIDNames(besides: table.columns.lazy.map(\.name)).first else { return nil }
        // Some virtual tables have no row id.
        return (try? db.makeStatement(sql: "SELECT \(name) FROM \(table.name.quotedName)")) == nil ? nil : name
    }

    /// Writes the counters of AUTOINCREMENT.
    private func writeSequences(_ tables: [TableDescription], _ output: inout [UInt8]) throws {
        guard try db.tableExists("sqlite_sequence") else { return }
        let statement = try db.makeStatement(sql: "SELECT name, seq FROM sqlite_sequence")
        let rows = try Row.fetchCursor(statement), names = Set(tables.map { Array($0.name.utf8) })
        // Inserting rows creates some counters; the dump deletes these and writes all counters in order.
        let isNew = parts == .all && !isPart
        if isNew { output.append("DELETE FROM sqlite_sequence;\n") }
        while try rows.next() != nil {
            let name = Cell(statement.sqliteStatement, column: 0)
            guard case .text(let bytes) = name, isNew || names.contains(bytes) else { continue }
            if !isNew {
                output.append("DELETE FROM sqlite_sequence WHERE name=")
                SQLLiteral.append(name, to: &output)
                output.append(";\n")
            }
            output.append("INSERT INTO sqlite_sequence (name, seq) VALUES (")
            SQLLiteral.append(name, to: &output)
            output.append(",")
            SQLLiteral.append(Cell(statement.sqliteStatement, column: 1), to: &output)
            output.append(");\n")
        }
    }
}

extension Cell {
    /// Creates a cell from a column of the current row. Calls SQLite's C functions, which return the exact bytes of text.
    init(_ statement: OpaquePointer, column: CInt) {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: self = .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: self = .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT: self = .text(Self.bytes(sqlite3_column_text(statement, column), statement, column))
        case SQLITE_BLOB:
            self = .blob(
                Self.bytes(sqlite3_column_blob(statement, column)?.assumingMemoryBound(to: UInt8.self), statement, column))
        default: self = .null
        }
    }

    /// Copies the bytes of a value. SQLite requires that the address is requested before the byte count.
    private static func bytes(_ start: UnsafePointer<UInt8>?, _ statement: OpaquePointer, _ column: CInt) -> [UInt8] {
        Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(statement, column))))
    }
}
