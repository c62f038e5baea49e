internal import CPeriluneSQLite
internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import Perilune

/// A restore of a dump from `perilune dump` or SQLite's shell, in one transaction.
struct DatabaseRestore {
    let db: Database
    /// The name of the dump for messages.
    let path: String
    /// Receives the completed fraction, from 0 to 1.
    var progress: (Double) -> Void = { _ in }

    /// Runs the statements of a dump in one transaction.
    ///
    /// - Throws: ``CommandFailure`` with the line of the failed statement. In this case, nothing was changed.
    func run(_ dump: [UInt8]) throws {
        if let zero = dump.firstIndex(of: 0) {
            guard let file = BinaryFile(dump) else {
                throw failure("it holds a NUL byte in line \(Self.line(of: zero, in: dump))")
            }
            throw failure("it is \(file.name); expected SQL", help: file.help)
        }
        prepareConnection()
        try execute("BEGIN IMMEDIATE")
        do {
            try runStatements(dump)
            try execute("COMMIT")
        } catch {
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// Disables triggers and checks: a dump already contains rows written by triggers, and may contain rows that violate a CHECK or
    /// foreign key. Accepts strings in double quotes, which the definitions of an old schema may contain.
    private func prepareConnection() {
        let connection = db.sqliteConnection
        psql_accept_double_quoted_definitions(connection)
        _ = psql_enable_triggers(connection, 0)
        for pragma in ["foreign_keys = OFF", "ignore_check_constraints = ON"] {
            sqlite3_exec(connection, "PRAGMA \(pragma)", nil, nil, nil)
        }
    }

    private func execute(_ sql: String) throws {
        let code = sqlite3_exec(db.sqliteConnection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw CommandFailure(ErrorReport(databaseError(code, sql: sql))) }
    }

    private func databaseError(_ code: CInt, sql: String) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(db.sqliteConnection)), sql: sql)
    }

    private func runStatements(_ dump: [UInt8]) throws {
        try (dump + [0]).withUnsafeBufferPointer { text in
            try text.withMemoryRebound(to: CChar.self) { text in
                var position = text.baseAddress!, count = 0, isInTransaction = false
                let end = position + dump.count
                while position < end {
                    var next: UnsafePointer<CChar>?, statement: OpaquePointer?
                    let code = sqlite3_prepare_v2(db.sqliteConnection, position, -1, &statement, &next)
                    defer { sqlite3_finalize(statement) }
                    let sql = UnsafeBufferPointer(start: position, count: (next ?? end) - position)
                    if code != SQLITE_OK {
                        let offset = position - text.baseAddress!
                        if isInTransaction, Self.isCutOff(position) {
                            throw failure(
                                "it ends inside the statement of line \(Self.line(of: offset + Self.start(of: sql), in: dump)), "
                                    + "so that the rest of the dump is missing")
                        }
                        throw failure(code, sql, offset, dump)
                    }
                    position = next ?? end
                    guard let statement else { continue }
                    switch TransactionWord(sql) {
                    case .begin, .end:
                        isInTransaction = TransactionWord(sql) == .begin
                        continue
                    case .rollback:
                        throw failure(
                            "it ends with ROLLBACK, since the database that was dumped is damaged: rows may be missing",
                            help: "replace ROLLBACK by COMMIT at its end to restore its rows")
                    case nil: break
                    }
                    var result: CInt
                    repeat { result = sqlite3_step(statement) } while result == SQLITE_ROW
                    if result != SQLITE_DONE { throw failure(result, sql, sql.baseAddress! - text.baseAddress!, dump) }
                    count += 1
                    if count & 0xFFF == 0 { progress(Double(position - text.baseAddress!) / Double(dump.count)) }
                }
                if isInTransaction { throw failure("it ends without COMMIT, so that the rest of the dump is missing") }
                if count == 0 { throw failure("it holds no statements") }
            }
        }
    }

    /// A statement that begins or ends the transaction of the dump, for which the restore uses its own transaction.
    private enum TransactionWord {
        case begin, end, rollback

        init?(_ sql: UnsafeBufferPointer<CChar>) {
            let start = DatabaseRestore.start(of: sql)
            guard let first = sql[start...].first, "BCERbcer".utf8.contains(UInt8(bitPattern: first)) else { return nil }
            let word = sql[start...].prefix(9).map { UInt8(bitPattern: $0) }.prefix { ($0 | 0x20) &- 0x61 < 26 }
            switch String(decoding: word, as: UTF8.self).lowercased() {
            case "begin": self = .begin
            case "commit", "end": self = .end
            case "rollback":
                let text = String(decoding: sql[start...].prefix(100).map { UInt8(bitPattern: $0) }, as: UTF8.self)
                // ROLLBACK TO does not end the transaction.
                guard text.lowercased().prefixMatch(of: /rollback(\s+transaction)?\s+to\b/) == nil else { return nil }
                self = .rollback
            default: return nil
            }
        }
    }

    /// Returns the position of the first word in a statement, after blanks and comments.
    private static func start(of sql: UnsafeBufferPointer<CChar>) -> Int {
        let byte = { (index: Int) -> UInt8 in index < sql.count ? UInt8(bitPattern: sql[index]) : 0 }
        var position = 0
        while position < sql.count {
            if [0x20, 0x09, 0x0A, 0x0C, 0x0D, UInt8(ascii: ";")].contains(byte(position)) {
                position += 1
            } else if byte(position) == UInt8(ascii: "-"), byte(position + 1) == UInt8(ascii: "-") {
                while position < sql.count, byte(position) != 0x0A { position += 1 }
            } else if byte(position) == UInt8(ascii: "/"), byte(position + 1) == UInt8(ascii: "*") {
                position += 2
                while position < sql.count, byte(position) != UInt8(ascii: "*") || byte(position + 1) != UInt8(ascii: "/") {
                    position += 1
                }
                position = min(position + 2, sql.count)
            } else {
                break
            }
        }
        return position
    }

    // MARK: - Failures

    /// Returns whether a text is the beginning of one statement.
    private static func isCutOff(_ text: UnsafePointer<CChar>) -> Bool {
        sqlite3_complete(text) == 0 && strstr(text, ";\n") == nil
    }

    private static func line(of position: Int, in text: [UInt8]) -> Int { text[..<position].count { $0 == 0x0A } + 1 }

    private func failure(_ message: String, help: String? = nil) -> CommandFailure {
        CommandFailure(ErrorReport("cannot restore \(path): \(message)", kind: "format", help: help))
    }

    private func failure(_ code: CInt, _ sql: UnsafeBufferPointer<CChar>, _ position: Int, _ dump: [UInt8]) -> CommandFailure {
        let start = Self.start(of: sql)
        let text = String(decoding: sql[start...].prefix(400).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var report = ErrorReport(databaseError(code, sql: text))
        report.message = "\(path):\(Self.line(of: position + start, in: dump)): \(report.message)"
        if report.help == nil, report.message.hasSuffix(" already exists") {
            report.help = "a dump of a whole database is restored into an empty one; nothing was changed"
        } else if report.message.contains("no such module") || report.message.contains("no such collation")
            || report.message.contains("no such function")
        {
            report.help = "if an extension defines it, load it: --extension FILE, or `extensions` in \(Settings.fileName)"
        }
        return CommandFailure(report)
    }
}
