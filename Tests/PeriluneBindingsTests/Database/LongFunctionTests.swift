import GRDB
import Perilune
import PeriluneLua
import PeriluneLuaFileTools
import Testing

/// The functions that stand in the place of SQLite's under limits: they do the same, and can be ended.
@Suite struct LongFunctionTests {
    /// Texts out of few characters, so that they match often, and of all lengths of UTF-8.
    private struct Texts {
        var random = SystemRandomNumberGenerator()
        static let characters = ["a", "b", "A", "B", "%", "_", "*", "?", "[", "]", "^", "-", " ", "é", "É", "€", "😀", "\\"]

        mutating func text(upTo count: Int) -> String {
            (0..<Int.random(in: 0...count, using: &random)).map { _ in Self.characters.randomElement(using: &random)! }.joined()
        }
    }

    @Test func `functions under limits return what SQLite's return`() async throws {
        let host = try testHost { $0.limits.time = .seconds(60) }
        let reference = try DatabaseQueue()
        let calls = [
            "instr(?1, ?2)", "instr(CAST(?1 AS BLOB), CAST(?2 AS BLOB))", "instr(CAST(?1 AS BLOB), ?2)", "replace(?1, ?2, ?3)",
            "trim(?1)", "trim(?1, ?2)", "ltrim(?1)", "ltrim(?1, ?2)", "rtrim(?1)", "rtrim(?1, ?2)", "?1 LIKE ?2", "?1 NOT LIKE ?2",
            "?1 LIKE ?2 ESCAPE '\\'", "?1 LIKE ?2 ESCAPE '%'", "?1 LIKE ?2 ESCAPE '_'", "?1 GLOB ?2", "?1 LIKE '%' || ?2 || '%'",
            "?1 GLOB '*' || ?2 || '*'", "CAST(?1 AS BLOB) LIKE ?2", "instr(12345, 34)", "replace(12345, 3, NULL)", "trim(NULL)",
            "instr('a', NULL)", "instr('', '')", "instr('a', '')", "replace('abc', '', 'x')", "trim('abc', '')",
        ]
        let sql = "SELECT " + calls.map { "quote(\($0))" }.joined(separator: ", ")
        var texts = Texts()
        let cases = (0..<3000).map { _ in [texts.text(upTo: 12), texts.text(upTo: 5), texts.text(upTo: 3)] }
        let expected = try await reference.read { db in
            try cases.map { try Row.fetchOne(db, sql: sql, arguments: StatementArguments($0))!.map { $0.1.storage.value as? String } }
        }
        try await host.run(source: "function one(...) return { db:tuples(...)() } end")
        for (values, expected) in zip(cases, expected) {
            let found: [String] = try await host.call("one", sql, values[0], values[1], values[2])
            for (call, (one, other)) in zip(calls, zip(found, expected)) { #expect(one == other, "\(call) of \(values)") }
        }
    }

    @Test func `errors of LIKE are SQLite's`() async throws {
        try await script("""
            matches(fails("sql", db.fetch_value, db, "SELECT 'a' LIKE 'a' ESCAPE 'xx'"), "ESCAPE expression must be a single character")
            matches(fails("sql", db.fetch_value, db, "SELECT 'a' LIKE ?", ("a"):rep(60000)), "LIKE or GLOB pattern too complex")
            """) { $0.limits = LuaLimits(memoryInBytes: 64 << 20, time: .seconds(60)) }
    }

    @Test(arguments: [
        "SELECT instr(?1, ?2) FROM (SELECT ?3)", "SELECT replace(?1, ?2, 'x') FROM (SELECT ?3)", "SELECT trim(?1, ?3)", "SELECT rtrim(?1, ?3)",
        "SELECT ?1 LIKE '%' || substr(?2, 1, 40000) FROM (SELECT ?3)",
        "SELECT ?1 GLOB '*' || substr(?2, 1, 40000) FROM (SELECT ?3)",
    ]) func `a call that would take minutes ends with the time`(_ sql: String) async throws {
        let error = await failure(of: """
            local set = {}
            for i = 0x4E00, 0x9000 do set[#set + 1] = utf8.char(i) end
            local text = ("a"):rep(2000000)
            db:fetch_value("\(sql)", text, ("a"):rep(1000000) .. "b", table.concat(set) .. "a")
            """) { $0.limits.time = .milliseconds(100) }
        #expect(error?.code == .timeout)
    }
}
