import GRDB
import Perilune
import PeriluneLua
import PeriluneLuaFileTools
import Testing

/// The interruptible replacements for SQLite functions in hosts with limits.
@Suite struct LongFunctionTests {
    /// Texts made of few characters with UTF-8 sequences of all lengths, so that they match often.
    private struct Texts {
        var random = SystemRandomNumberGenerator()
        static let characters = ["a", "b", "A", "B", "%", "_", "*", "?", "[", "]", "^", "-", " ", "é", "É", "€", "😀", "\\"]

        mutating func text(upTo count: Int) -> String {
            (0..<Int.random(in: 0...count, using: &random)).map { _ in Self.characters.randomElement(using: &random)! }.joined()
        }
    }

    @Test func `SQL functions that check limits have the same results as SQLite's own`() async throws {
        let host = try testHost { $0.limits.time = .seconds(60) }
        let reference = try DatabaseQueue()
        let calls = [
            "instr(?1, ?2)", "instr(CAST(?1 AS BLOB), CAST(?2 AS BLOB))", "instr(CAST(?1 AS BLOB), ?2)", "replace(?1, ?2, ?3)",
            "trim(?1)", "trim(?1, ?2)", "ltrim(?1)", "ltrim(?1, ?2)", "rtrim(?1)", "rtrim(?1, ?2)", "?1 LIKE ?2",
            "?1 NOT LIKE ?2",
            "?1 LIKE ?2 ESCAPE '\\'", "?1 LIKE ?2 ESCAPE '%'", "?1 LIKE ?2 ESCAPE '_'", "?1 GLOB ?2", "?1 LIKE '%' || ?2 || '%'",
            "?1 GLOB '*' || ?2 || '*'", "CAST(?1 AS BLOB) LIKE ?2", "instr(12345, 34)", "replace(12345, 3, NULL)", "trim(NULL)",
            "instr('a', NULL)", "instr('', '')", "instr('a', '')", "replace('abc', '', 'x')", "trim('abc', '')",
        ]
        let sql = "SELECT " + calls.map { "quote(\($0))" }.joined(separator: ", ")
        var texts = Texts()
        let cases = (0..<3000).map { _ in [texts.text(upTo: 12), texts.text(upTo: 5), texts.text(upTo: 3)] }
        let expected = try await reference.read { db in
            try cases.map {
                try Row.fetchOne(db, sql: sql, arguments: StatementArguments($0))!.map { $0.1.storage.value as? String }
            }
        }
        try await host.run(source: "function one(...) return { db:tuples(...)() } end")
        for (values, expected) in zip(cases, expected) {
            let found: [String] = try await host.call("one", sql, values[0], values[1], values[2])
            guard !found.elementsEqual(expected, by: ==) else { continue }
            for (call, (one, other)) in zip(calls, zip(found, expected)) { #expect(one == other, "\(call) of \(values)") }
        }
    }

    @Test func `LIKE under limits has the same errors as SQLite's own`() async throws {
        try await script(
            """
            matches(fails("sql", db.fetch_value, db, "SELECT 'a' LIKE 'a' ESCAPE 'xx'"), "ESCAPE expression must be a single character")
            matches(fails("sql", db.fetch_value, db, "SELECT 'a' LIKE ?", ("a"):rep(60000)), "LIKE or GLOB pattern too complex")
            """
        ) { $0.limits = LuaLimits(memoryInBytes: 64 << 20, time: .seconds(60)) }
    }

    @Test(arguments: [
        "SELECT instr(?1, ?2) FROM (SELECT ?3)", "SELECT replace(?1, ?2, 'x') FROM (SELECT ?3)", "SELECT trim(?1, ?3)",
        "SELECT rtrim(?1, ?3)",
        "SELECT ?1 LIKE '%' || substr(?2, 1, 40000) FROM (SELECT ?3)",
        "SELECT ?1 GLOB '*' || substr(?2, 1, 40000) FROM (SELECT ?3)",
    ]) func `an SQL function call that would take minutes ends at the time limit`(_ sql: String) async throws {
        let error = await failure(
            of: """
                local set = {}
                for i = 0x4E00, 0x9000 do set[#set + 1] = utf8.char(i) end
                local text = ("a"):rep(2000000)
                db:fetch_value("\(sql)", text, ("a"):rep(1000000) .. "b", table.concat(set) .. "a")
                """
        ) { $0.limits.time = .milliseconds(100) }
        #expect(error?.code == .timeout)
    }

    // MARK: - PRAGMA case_sensitive_like

    @Test func `LIKE under limits respects the program's case_sensitive_like setting`() async throws {
        for (setting, result) in [("ON", 0), ("OFF", 1)] {
            let queue = try DatabaseQueue()
            try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA case_sensitive_like = \(setting)") }
            let host = try testHost {
                $0.database = .existing(queue)
                $0.limits.time = .seconds(60)
            }
            try await host.run(source: "assert(db:fetch_value(\"SELECT 'a' LIKE 'A'\") == \(result))")
            try await host.run(source: "assert(db:fetch_value(\"SELECT 'ab' LIKE 'a%' AND 'a%' LIKE 'a!%' ESCAPE '!'\") == 1)")
        }
    }

    @Test func `a script with limits cannot restore SQLite's own LIKE`() async throws {
        let source = """
            for _, sql in ipairs{ "PRAGMA case_sensitive_like = 1", "PRAGMA case_sensitive_like(0)", "EXPLAIN PRAGMA case_sensitive_like = 1" } do
              matches(fails("forbidden", db.execute, db, sql), "case_sensitive_like cannot be set by scripts with limits")
            end
            """
        try await script(source) { $0.limits.time = .seconds(60) }
        try await script("db:execute('PRAGMA case_sensitive_like = 1') equal(db:fetch_value(\"SELECT 'a' LIKE 'A'\"), 0)") {
            $0.limits = .none
        }
    }

    // MARK: - Full text

    /// Sentences with a small vocabulary, so that phrases match often and next to each other.
    private static func document(upTo count: Int) -> String {
        (0..<Int.random(in: 0...count)).map { _ in ["a", "b", "c", "dé", "Ab", "x.", "y:", ",", "\n", "e"].randomElement()! }
            .joined(separator: [" ", "  ", "-"].randomElement()!)
    }

    @Test func `highlight and snippet under limits have the same results as FTS5's own`() async throws {
        let queue = try DatabaseQueue(), copy = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(sql: "CREATE VIRTUAL TABLE f USING fts5(one, two)")
            for i in 0..<300 {
                let values = [Self.document(upTo: i % 7 == 0 ? 200 : 25), i % 11 == 0 ? nil : Self.document(upTo: 12)]
                try db.execute(sql: "INSERT INTO f VALUES (?, ?)", arguments: StatementArguments(values))
            }
        }
        try queue.backup(to: copy)
        let calls = [
            "highlight(f, 0, '<', '>')", "highlight(f, 1, '[', ']')", "highlight(f, 2, '<', '>')", "highlight(f, 0, NULL, '')",
            "snippet(f, 0, '<', '>', '...', 5)", "snippet(f, 1, '<', '>', '...', 3)", "snippet(f, -1, '<', '>', '...', 10)",
            "snippet(f, -1, '<', '>', '', 64)", "snippet(f, 0, NULL, NULL, NULL, 1)", "snippet(f, -1, '<', '>', '...', 0)",
            "snippet(f, 0, '<', '>', '...', -3)", "snippet(f, 0, '<', '>', '...', 100000)",
        ]
        let sql = "SELECT " + calls.map { "quote(\($0))" }.joined(separator: ", ") + " FROM f WHERE f MATCH ? ORDER BY rowid"
        let queries = [
            "a", "a OR b", "\"a b\"", "\"a b\" OR \"b c\" OR b", "a AND c", "NEAR(a c, 3)", "one : b", "\"a a\" OR a", "ab",
            "e NOT a", "d*",
            "\"a b a\" OR \"b a b\"",
        ]
        let host = try testHost {
            $0.database = .existing(queue)
            $0.limits.time = .seconds(60)
        }
        try await host.run(
            source: """
                function all(...)
                  local list, next_row = {}, db:tuples(...)
                  local row = { next_row() }
                  while row[1] do list[#list + 1], row = row, { next_row() } end
                  return list
                end
                """)
        for query in queries {
            let expected = try await copy.read { db in
                try Row.fetchAll(db, sql: sql, arguments: [query]).map { row in
                    row.databaseValues.map { String.fromDatabaseValue($0) ?? "NULL" }
                }
            }
            let found: [[String]] = try await host.call("all", sql, query)
            #expect(found.count == expected.count)
            for (found, expected) in zip(found, expected) {
                for (call, (one, other)) in zip(calls, zip(found, expected)) { #expect(one == other, "\(call) for \(query)") }
            }
        }
    }

    @Test(arguments: [
        "highlight(f, 0, '<', '>')", "snippet(f, 0, '<', '>', '...', 64)", "snippet(f, -1, '<', '>', '...', 1000000)",
    ])
    func `an FTS5 function call on a document of a million words ends at the time limit`(_ call: String) async throws {
        let error = await failure(
            of: """
                db:execute("CREATE VIRTUAL TABLE f USING fts5(a)")
                db:execute("INSERT INTO f VALUES (?)", ("a b. "):rep(500000))
                while true do db:fetch_value("SELECT length(\(call)) FROM f WHERE f MATCH 'a'") end
                """
        ) { $0.limits.time = .seconds(3) }
        #expect(error?.code == .timeout)
    }

    @Test func `a wrong number of arguments raises FTS5's own error`() async throws {
        try await script(
            """
            db:execute("CREATE VIRTUAL TABLE f USING fts5(a)")
            db:execute("INSERT INTO f VALUES ('a')")
            matches(fails("sql", db.fetch_value, db, "SELECT highlight(f, 0) FROM f"), "wrong number of arguments to function highlight")
            matches(fails("sql", db.fetch_value, db, "SELECT snippet(f) FROM f"), "wrong number of arguments to function snippet")
            """
        ) { $0.limits.time = .seconds(60) }
    }
}
