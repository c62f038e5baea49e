internal import GRDB
internal import GRDBSQLite
internal import PeriluneRecords

/// A database as SQL that makes it again, as the shell of SQLite writes it.
struct DatabaseDump {
    let db: Database
    /// The only table; `nil`: all.
    var table: String?
    /// Whether the schema or the rows are left out.
    var parts: Parts = .all
    let write: ([UInt8]) throws -> Void

    enum Parts: Sendable {
        case all, schema, data
    }

    /// Writes it. What cannot be read of a damaged file is left out.
    ///
    /// - Returns: The names of the tables of which rows may be missing.
    func run() throws -> [String] {
        var output: [UInt8] = [], incomplete: [String] = []
        output.append("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
        let tables = try TableDescription.readAll(in: db, named: table)
        let withoutContents = tables.filter(Self.hasNoContents), isWhole = parts == .all
        let virtual = tables.filter { table in table.kind == "virtual" && !(isWhole && withoutContents.contains { $0.name == table.name }) }
        if parts != .data {
            for table in tables where table.kind == "table" { output.append(table.sql + ";\n") }
        }
        if parts != .schema {
            for table in tables where table.kind == "table" {
                if try !writeRows(of: table, &output) { incomplete.append(table.name) }
            }
            try writeSequences(tables, &output)
        }
        if parts != .data {
            // A virtual table makes those that it keeps its rows in; the rows go through it.
            for table in virtual { output.append(table.sql + ";\n") }
        }
        if parts != .schema {
            for table in virtual where !withoutContents.contains(where: { $0.name == table.name }) {
                if try !writeRows(of: table, &output) { incomplete.append(table.name) }
                try writeConfiguration(of: table, &output)
            }
        }
        if isWhole {
            for table in withoutContents { try writeIndex(of: table, &output, &incomplete) }
        }
        if parts != .data {
            let made = Set(tables.filter { $0.kind != "view" }.map(\.sql))
            // Last, so that triggers do nothing of their own, and indexes are made once.
            for statement in try SchemaStatements.read(in: db, of: table == nil ? nil : tables.first?.name) where !made.contains(statement) {
                output.append(statement + ";\n")
            }
            for pragma in ["application_id", "user_version"] where table == nil {
                let number = try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0
                if number != 0 { output.append("PRAGMA \(pragma)=\(number);\n") }
            }
        }
        if isWhole, table == nil { try writeStatistics(&output) }
        output.append("COMMIT;\n")
        try write(output)
        return incomplete
    }

    /// An INSERT for each row, with the row id of tables without a key that is it. Returns whether all could be read.
    func writeRows(of table: TableDescription, _ output: inout [UInt8]) throws -> Bool {
        let columns = table.columns.filter { $0.hidden == 0 }.map(\.name)
        let rowID = try rowIDName(of: table)
        let names = (rowID.map { [$0] } ?? []) + columns.map(\.quotedName)
        guard !names.isEmpty else { return true }
        let list = names.joined(separator: ", ")
        // From both ends of what is damaged; the row id tells where they meet.
        let key = table.kind == "table" ? TableSchema.rowIDNames(besides: table.columns.lazy.map(\.name)).first.flatMap { table.isWithoutRowID ? nil : $0 } : nil
        var last: Int64?
        do {
            try writeRows(of: table.name, list, key, nil, &last, &output)
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            output.append("-- some rows of \(table.name.replacing("\n", with: " ")) cannot be read\n")
            guard let key else { return false }
            var first: Int64?
            do {
                try writeRows(of: table.name, list, key, last ?? .min, &first, &output)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {}
            return false
        }
    }

    /// - Parameters:
    ///   - key: The name of the row id, if there is one.
    ///   - end: Backwards until the row of that id, which is not written; `nil`: forwards, all.
    ///   - last: The row id of the row that was written last.
    func writeRows(
        of table: String, _ list: String, _ key: String?, _ end: Int64?, _ last: inout Int64?, _ output: inout [UInt8]
    ) throws {
        let own = key.map { ", \($0)" } ?? "", order = end == nil ? "" : " ORDER BY \(key!) DESC"
        let statement = try db.makeStatement(sql: "SELECT \(list)\(own) FROM \(table.quotedName)\(order)")
        let start = Array("INSERT INTO \(table.quotedName) (\(list)) VALUES (".utf8)
        let count = statement.columnCount - (key == nil ? 0 : 1)
        let rows = try Row.fetchCursor(statement)
        while try rows.next() != nil {
            if key != nil {
                let id = sqlite3_column_int64(statement.sqliteStatement, CInt(count))
                if let end, id <= end { return }
                last = id
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
    }

    /// What ANALYZE has found out.
    private func writeStatistics(_ output: inout [UInt8]) throws {
        guard try db.tableExists("sqlite_stat1") else { return }
        output.append("ANALYZE sqlite_schema;\n")
        let sql = "SELECT quote(tbl) || ',' || quote(idx) || ',' || quote(stat) FROM sqlite_stat1 ORDER BY tbl, idx"
        for values in try String.fetchAll(db, sql: sql) { output.append("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (\(values));\n") }
    }

    /// The name of a row id that no column shows: others may refer to it, as full-text tables with contents elsewhere do.
    private func rowIDName(of table: TableDescription) throws -> String? {
        guard table.kind == "table" || table.kind == "virtual", !table.isWithoutRowID else { return nil }
        let isKey = table.key.count == 1 && table.columns.contains { $0.keyPosition > 0 && $0.type.lowercased() == "integer" }
        guard !isKey else { return nil }
        guard let name = TableSchema.rowIDNames(besides: table.columns.lazy.map(\.name)).first else { return nil }
        // Some virtual tables have none.
        return (try? db.makeStatement(sql: "SELECT \(name) FROM \(table.name.quotedName)")) == nil ? nil : name
    }

    /// What AUTOINCREMENT has counted.
    private func writeSequences(_ tables: [TableDescription], _ output: inout [UInt8]) throws {
        guard try db.tableExists("sqlite_sequence") else { return }
        for row in try Row.fetchAll(db, sql: "SELECT name, seq FROM sqlite_sequence") {
            let name: String = row["name"]
            guard tables.contains(where: { $0.name == name }) else { continue }
            let sequence: Int64 = row["seq"]
            output.append("DELETE FROM sqlite_sequence WHERE name=")
            SQLLiteral.append(.text(Array(name.utf8)), to: &output)
            output.append(";\nINSERT INTO sqlite_sequence (name, seq) VALUES (")
            SQLLiteral.append(.text(Array(name.utf8)), to: &output)
            output.append(",\(sequence));\n")
        }
    }
}

extension Cell {
    /// A column of the current row of a statement; SQLite's own functions give text byte by byte.
    init(_ statement: OpaquePointer, column: CInt) {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: self = .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: self = .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT: self = .text(Self.bytes(sqlite3_column_text(statement, column), statement, column))
        case SQLITE_BLOB:
            self = .blob(Self.bytes(sqlite3_column_blob(statement, column)?.assumingMemoryBound(to: UInt8.self), statement, column))
        default: self = .null
        }
    }

    /// Copies the bytes, whose count must be asked for after their address.
    private static func bytes(_ start: UnsafePointer<UInt8>?, _ statement: OpaquePointer, _ column: CInt) -> [UInt8] {
        Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(statement, column))))
    }
}
