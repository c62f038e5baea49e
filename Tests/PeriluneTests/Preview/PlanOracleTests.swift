import Foundation
import GRDB
import Perilune
import Testing

/// Random changes of tables of all kinds. Recording changes and comparing databases must give the same report and plan, and the
/// plan must have the same effect as the statements.
@Suite struct PlanOracleTests {
    /// The number of rounds; the environment can set more.
    private static let rounds = ProcessInfo.processInfo.environment["PERILUNE_ROUNDS"].flatMap(Int.init) ?? 8

    @Test(arguments: 0..<rounds)
    func `a plan has the same effect as the statements, however changes are detected`(seed: Int) async throws {
        var random = PlanRandom(seed: UInt64(seed))
        let folder = try PreviewFolder(Self.schema + random.rows())
        let statements = (0..<random.below(40)).map { _ in random.statement() }
        let script = statements.map { "pcall(db.execute, db, [==[\($0)]==])" }.joined(separator: "\n")

        let recorded = try await folder.preview(script) { $0.rowLimit = 3 }
        let compared = try await folder.preview(script) { ($0.rowLimit, $0.recordingLimitInBytes) = (3, 0) }
        #expect(recorded.report == compared.report)
        #expect((recorded.plan == nil) == (compared.plan == nil))
        guard let first = recorded.plan, let second = compared.plan else { return }
        #expect(try contents(first, folder) == contents(second, folder))

        let (before, after) = (try dump(folder.database), try dumpAfter(statements, folder))
        for plan in [first, second, try reread(second, folder)] {
            try await plan.apply(to: folder.database)
            #expect(try dump(folder.database) == after)
            try await plan.revert(in: folder.database)
            #expect(try dump(folder.database) == before)
        }
    }

    /// Returns the rows of the changeset and the rows of the plan in a fixed order.
    private func contents(_ plan: PreviewPlan, _ folder: PreviewFolder) throws -> [String] {
        let path = folder.path + "/contents.plan"
        try plan.write(to: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path))) as? [String: Any]
        return try ["changeset", "seen"].flatMap { key in
            let bytes = try #require(Data(base64Encoded: object?[key] as? String ?? ""))
            return try Changeset(bytes: bytes).rows().map { "\(key) \($0)" }.sorted()
        }
    }

    private func reread(_ plan: PreviewPlan, _ folder: PreviewFolder) throws -> PreviewPlan {
        let path = folder.path + "/reread.plan"
        try plan.write(to: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try PreviewPlan(contentsOf: path)
    }

    private func dumpAfter(_ statements: [String], _ folder: PreviewFolder) throws -> [String] {
        let path = folder.path + "/after.sqlite"
        try FileManager.default.copyItem(atPath: folder.database, toPath: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let queue = try DatabaseQueue(path: path)
        for sql in statements { try? queue.writeWithoutTransaction { db in try db.execute(sql: sql) } }
        try queue.close()
        return try dump(path)
    }

    private func dump(_ path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        return try queue.read { db in
            try Self.tables.flatMap { table, columns in
                let quoted = columns.map { "typeof(\($0)) || quote(\($0))" }.joined(separator: " || ' ' || ")
                return try String.fetchAll(db, sql: "SELECT '\(table) ' || \(quoted) AS row FROM \(table) ORDER BY row")
            }
        }
    }

    static let tables = [
        ("a", ["id", "name", "n", "r", "b"]), ("w", ["x", "y", "z"]), ("k", ["code", "v"]), ("child", ["id", "a_id", "note"]),
        ("log", ["id", "what"]), ("c", ["id", "n"]), ("bare", ["p", "v"]), ("m", ["q", "v"]),
    ]

    static let schema = """
        CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT UNIQUE, n, r REAL, b BLOB);
        CREATE INDEX some ON a (n) WHERE n > 3;
        CREATE TABLE w (x TEXT, y INTEGER, z, PRIMARY KEY (y, x)) WITHOUT ROWID;
        CREATE TABLE k (code TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, v UNIQUE);
        CREATE TABLE child (id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a ON DELETE CASCADE ON UPDATE CASCADE, note);
        CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT);
        CREATE TABLE c (id INTEGER PRIMARY KEY, n CHECK (n IS NULL OR typeof(n) = 'integer'));
        CREATE TABLE bare (p PRIMARY KEY NOT NULL, v) WITHOUT ROWID;
        CREATE TABLE m (q REAL PRIMARY KEY NOT NULL, v);
        CREATE TRIGGER changed AFTER UPDATE ON w BEGIN INSERT INTO log (what) VALUES (old.x || ' ' || new.z); END;

        """
}

/// Generates random rows and statements.
private struct PlanRandom {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
    }

    mutating func below(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % count
    }

    private mutating func one(of choices: [String]) -> String { choices[below(choices.count)] }

    private mutating func value() -> String {
        let number = below(12)
        return one(of: [
            "NULL", "\(number)", "\(number)", "-\(number)", "\(number).0", "\(number).5", "'t\(number)'", "'T\(number)'", "''",
            "x'00\(number % 10)1'", "x''",
            "9223372036854775807", "1e300", "'ü\(number)'", "CAST(x'FF4\(number % 8)' AS TEXT)",
            "printf('%.*c', 20\(number), 'x')",
        ])
    }

    /// A table, its key, and its other columns.
    private mutating func table() -> (name: String, key: [String], others: [String]) {
        [
            ("a", ["id"], ["name", "n", "r", "b"]), ("a", ["id"], ["name", "n", "r", "b"]), ("w", ["x", "y"], ["z"]),
            ("k", ["code"], ["v"]),
            ("child", ["id"], ["a_id", "note"]), ("c", ["id"], ["n"]), ("bare", ["p"], ["v"]),
            ("m", ["q"], ["v"]),
        ][below(8)]
    }

    private mutating func keyValue(_ column: String) -> String {
        switch column {
        case "id", "y": "\(below(30))"
        case "x", "code": one(of: ["'t\(below(12))'", "'t\(below(12))'", "'T\(below(12))'", "''"])
        default: below(8) == 0 ? "\(below(12)).0" : "\(below(12))"
        }
    }

    private mutating func insert(_ conflict: String) -> String {
        let table = table()
        var values = table.key.map { column in keyValue(column) }
        values += table.others.map { column in column == "a_id" ? one(of: ["NULL", "\(below(30))"]) : value() }
        return
            "INSERT OR \(conflict) INTO \(table.name) (\((table.key + table.others).joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
    }

    mutating func rows() -> String {
        "PRAGMA foreign_keys = OFF;" + (0..<below(120)).map { _ in insert("IGNORE") + ";\n" }.joined()
            + "DELETE FROM child WHERE a_id NOT IN (SELECT id FROM a);"
    }

    mutating func statement() -> String {
        if below(3) == 0 { return insert(one(of: ["IGNORE", "REPLACE"])) }
        let table = table()
        let column = below(6) == 0 ? table.key[below(table.key.count)] : table.others[below(table.others.count)]
        let place = one(of: ["\(table.key[0]) = \(keyValue(table.key[0]))", "\(table.key[0]) > \(keyValue(table.key[0]))", "1"])
        if below(4) == 0 { return "DELETE FROM \(table.name) WHERE \(place)" }
        let text =
            below(3) == 0 ? column + one(of: [" + 1", " || 'z'", ""]) : table.key.contains(column) ? keyValue(column) : value()
        return "UPDATE OR \(one(of: ["IGNORE", "REPLACE", "ABORT"])) \(table.name) SET \(column) = \(text) WHERE \(place)"
    }
}
