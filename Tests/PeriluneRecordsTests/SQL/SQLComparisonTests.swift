import GRDB
import GRDBSQLite
import Testing

@testable import PeriluneRecords

/// Random texts, compared with SQLite's own interpretation.
@Suite struct SQLComparisonTests {
    private static let parts = [
        "SELECT", "VALUES", "WITH c AS (SELECT 1)", "INSERT INTO t", "REPLACE INTO t", "UPDATE t SET a =", "DELETE FROM t",
        "WHERE", "EXPLAIN",
        "FROM t", "a", "b", "t", "1", "2.5e-3", ".5", "0x1F", "'x'", "';'", "'--'", "'a''b'", "\"a\"", "\"a;\"", "`a`", "[a]",
        "x'0a'", "?", "?3",
        ":n", "@n", "$n", "$n::m", "$n(';)", "$n(--)", ":n$1", "#n", "(", ")", ",", ";", "=", "==", "<>", "||", "->", "->>", "-",
        "--", "-- ;\n",
        "/*", "*/", "/* ; */", "/* ' */", "/", "*", "+", ".", "AS", "AND", "IN", "BEGIN", "COMMIT", "SAVEPOINT s",
        "PRAGMA user_version",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END", "END", "CASE WHEN", "THEN", "\n", "\t", "\u{FEFF}", "\u{C}",
        "é", "replace(a, 1, 2)",
    ]

    private static let beginnings = [
        "SELECT", "SELECT", "VALUES (", "INSERT INTO t VALUES (", "WITH c AS (SELECT", "DELETE FROM t WHERE", "",
        "UPDATE t SET a =",
    ]

    private func randomText(_ random: inout some RandomNumberGenerator) -> String {
        var text = Self.beginnings.randomElement(using: &random)!
        for _ in 0..<Int.random(in: 0...7, using: &random) {
            text += Int.random(in: 0..<4, using: &random) == 0 ? "" : " "
            text += Self.parts.randomElement(using: &random)!
        }
        return text
    }

    @Test func `ends, parameters and read-only classification of statements agree with SQLite`() throws {
        var random = SystemRandomNumberGenerator(), compiledCount = 0
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a, b)")
            for _ in 0..<120_000 {
                let sql = randomText(&random)
                Array(sql.utf8).withUnsafeBufferPointer { bytes in
                    guard let compiled = Compiled(bytes, on: db) else { return }
                    compiledCount += 1
                    compare(bytes, with: compiled, sql)
                    sqlite3_finalize(compiled.statement)
                }
            }
        }
        #expect(compiledCount > 3_000)
    }

    /// A statement that SQLite has compiled, and the length of its text.
    private struct Compiled {
        let statement: OpaquePointer
        let length: Int

        init?(_ sql: UnsafeBufferPointer<UInt8>, on db: Database) {
            var statement: OpaquePointer?, tail: UnsafePointer<CChar>?
            let (code, length) = sql.withMemoryRebound(to: CChar.self) { text in
                let code = sqlite3_prepare_v2(db.sqliteConnection, text.baseAddress, CInt(text.count), &statement, &tail)
                return (code, tail.map { $0 - text.baseAddress! } ?? 0)
            }
            guard code == SQLITE_OK, let statement else { return nil }
            self.statement = statement
            self.length = length
        }
    }

    private func compare(_ bytes: UnsafeBufferPointer<UInt8>, with compiled: Compiled, _ sql: String) {
        var scanner = SQLScanner(bytes)
        guard let first = scanner.firstOfStatement() else {
            Issue.record("no statement is seen: \(sql)")
            return
        }
        scanner.skipStatement(after: first)
        // The text that SQLite uses, without blanks after it.
        let isSame =
            scanner.position == compiled.length
            || SQLScreening.isBlank(.init(rebasing: bytes[min(scanner.position, compiled.length)...]))
        #expect(isSame, "\(sql): \(scanner.position) \(compiled.length)")
        #expect(parameters(.init(rebasing: bytes[..<scanner.position])) == names(compiled.statement), "\(sql)")
        let screening = SQLScreening(bytes)
        if sqlite3_stmt_isexplain(compiled.statement) != 0 {
            // An unknown pragma is refused regardless of its other properties.
            #expect(screening.kind == .read || sql.contains("PRAGMA"), "\(sql)")
            return
        }
        let isReadOnly = sqlite3_stmt_readonly(compiled.statement) != 0
        switch screening.kind {
        case .read, .control: #expect(isReadOnly, "\(sql)")
        case .insert, .change: #expect(!isReadOnly, "\(sql)")
        case .empty: Issue.record("not empty: \(sql)")
        case .other, .files, .forbidden, .memory, .functions, .unenforced:
            #expect(!first.isSolid || !isReadOnly || sql.contains("PRAGMA"), "\(sql)")
        }
    }

    /// The parameters by number, in SQLite's order.
    private func parameters(_ bytes: UnsafeBufferPointer<UInt8>) -> [String?] {
        var result: [String?] = []
        for token in SQLScanner(bytes) where token.kind == .parameter {
            let name = String(decoding: bytes[token.range], as: UTF8.self)
            if name == "?" {
                result.append(nil)
            } else if let number = name.hasPrefix("?") ? Int(name.dropFirst()) : nil {
                while result.count < number { result.append(nil) }
                if result[number - 1] == nil { result[number - 1] = name }
            } else if !result.contains(name) {
                result.append(name)
            }
        }
        return result
    }

    private func names(_ statement: OpaquePointer) -> [String?] {
        (0..<sqlite3_bind_parameter_count(statement)).map { index in
            sqlite3_bind_parameter_name(statement, index + 1).map { String(cString: $0) }
        }
    }

    @Test func `names without their quotes agree with SQLite`() throws {
        var random = SystemRandomNumberGenerator()
        let letters = ["a", "\"", "\"\"", "'", "''", "`", "``", "[", "]", " ", "é", ";", "--", "/*"]
        try DatabaseQueue().inDatabase { db in
            var count = 0
            for _ in 0..<5_000 {
                let (opening, closing) = [("\"", "\""), ("'", "'"), ("`", "`"), ("[", "]")].randomElement(using: &random)!
                let text =
                    opening
                    + (0..<Int.random(in: 1...5, using: &random)).map { _ in letters.randomElement(using: &random)! }.joined()
                    + closing
                let bytes = Array(text.utf8)
                let (name, isWhole) = bytes.withUnsafeBufferPointer { bytes in
                    var scanner = SQLScanner(bytes)
                    let token = scanner.next()
                    return (token.flatMap(scanner.name), scanner.position == bytes.count && token?.isClosed == true)
                }
                guard isWhole else { continue }
                count += 1
                let names = try db.makeStatement(sql: "SELECT 1 AS \(text)").columnNames
                #expect(names == [name], "\(text)")
            }
            #expect(count > 1_000)
        }
    }
}
