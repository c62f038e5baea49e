import Foundation
import Testing

@testable import PeriluneScenarios

@Suite struct DatabaseTests {
    private static let migration = ["migrations/1_thing.sql": "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT)"]

    private func run(_ text: String, _ files: [String: String] = [:]) async throws -> ScenarioProject.Outcome {
        let files = files.merging(Self.migration) { $1 }.merging(["scenarios/a_scenario.lua": text]) { $1 }
        return try await ScenarioProject(files).run()
    }

    @Test func `nested templates are each created once and copied`() async throws {
        let run = try await run(
            """
            template("one", function(db) db:execute("INSERT INTO thing (name) VALUES ('one')") end)
            template("two", { on = "one" }, function(db) db:execute("INSERT INTO thing (name) VALUES ('two')") end)
            for i, name in ipairs{ "two", "one", "two" } do
              scenario("with " .. name .. " " .. i, { template = name }, function(t)
                local names = table.concat(t.db:fetch_values("SELECT name FROM thing ORDER BY id"), ",")
                check(names == (name == "one" and "one" or "one,two"))
                t.db:execute("DELETE FROM thing")
              end)
            end
            scenario("without", function(t) check(t.db:fetch_value("SELECT COUNT(*) FROM thing") == 0) end)
            """)
        #expect(run.summary.count(.passed) == 4, "\(run.summary.failures.map(\.failures))")
    }

    @Test func `a changed row is reported with its stored key, even if SQLite considers another key equal`() async throws {
        let run = try await run(
            """
            scenario("a", function(t)
              t.db:execute[[
                CREATE TABLE word (k TEXT PRIMARY KEY COLLATE NOCASE, v); INSERT INTO word VALUES ('abc', 1), ('def', 2);
                CREATE TABLE size (k REAL PRIMARY KEY, v); INSERT INTO size VALUES (1, 'a');
              ]]
              local function changes(sql) return t.changes(function() t.db:execute(sql) end) end
              expect(changes "UPDATE word SET k = 'ABC' WHERE v = 1"):rows_any_order [[
                | op     | table | key |
                | delete | word  | abc |
                | insert | word  | ABC |
              ]]
              expect(changes "UPDATE word SET k = 'DEF' WHERE v = 2; UPDATE word SET k = 'def' WHERE v = 2"):is_empty()
              expect(changes "UPDATE size SET k = 2; DELETE FROM size; INSERT INTO size VALUES (1, 'b'), (2, 'c')"):rows_any_order [[
                | op     | key | v      |
                | update | 1.0 | a -> b |
                | insert | 2.0 | c      |
              ]]
              local bytes = changes "INSERT INTO word VALUES ('x', x'61'), ('y', 'a')"
              expect(bytes):rows_any_order [[
                | key | v     |
                | x   | x'61' |
                | y   | "a"   |
              ]]
              expect.no(bytes):has_rows [[
                | key | v   |
                | x   | "a" |
              ]]
              expect.no(bytes):has_rows [[
                | key | v     |
                | y   | x'61' |
              ]]
            end)
            """)
        #expect(run.summary.count(.passed) == 1, "\(run.summary.failures.map(\.failures))")
    }

    @Test func `a failing template fails the scenarios that use it`() async throws {
        let run = try await run(
            """
            template("bad", function(db) db:execute("INSERT INTO thign VALUES (1)") end)
            scenario("a", { template = "bad" }, function(t) end)
            scenario("b", { template = "bad" }, function(t) end)
            scenario("c", function(t) end)
            """)
        #expect(try run.outcome("a") == .errored)
        #expect(try run.outcome("b") == .errored)
        #expect(try run.outcome("c") == .passed)
        #expect(try run.result("a").failures[0].message.contains("thign"))
    }

    @Test func `a template that takes too long is ended, and its time limit can be raised`() async throws {
        let project = try ScenarioProject(
            """
            template("endless", { timeout = "100ms" }, function() while true do end end)
            scenario("it", { template = "endless" }, function(t) end)
            """)
        let message = try await project.run().result("it").failures.first?.message
        #expect(
            message == "the script ran longer than its limit of 0.1 seconds; the option `timeout` of the template sets this limit"
        )
        try project.write("template('x', { timeout = 'soon' }, function() end)", to: "scenarios/a_scenario.lua")
        let mistake = try await project.run().summary.results.first?.failures.first?.message
        #expect(
            mistake
                == "template \"x\": option `timeout`: expected a duration (\"2m\", a number of seconds), got the string \"soon\"")
    }

    @Test func `a failing migration of a scenario is reported with its file`() async throws {
        let run = try await run("scenario('a', function(t) end)", ["migrations/2_bad.sql": "CREATE TABEL x"])
        let failure = try run.result("a").failures[0]
        #expect(failure.file?.hasSuffix("migrations/2_bad.sql") == true, "\(failure)")
    }

    @Test func `databases of scenarios can be empty, files, or copies of fixtures`() async throws {
        let project = try ScenarioProject(
            Self.migration.merging([
                "scenarios/a_scenario.lua": """
                scenario("empty", { database = "empty" }, function(t) check(#t.db:tables() == 0) end)
                scenario("file", { database = "file" }, function(t)
                  t.db:execute("INSERT INTO thing (name) VALUES ('x')")
                  check(t.db:fetch_value("PRAGMA journal_mode") == "wal")
                  local path = t.db:fetch_value("SELECT file FROM pragma_database_list")
                  local other = perilune.queue(path)
                  check(other:fetch_value("SELECT COUNT(*) FROM thing") == 1)
                  other:close()
                end)
                scenario("fixture", { database = "fixture:old.sqlite" }, function(t)
                  check(t.db:fetch_value("SELECT COUNT(*) FROM old") == 1)
                  t.db:execute("DELETE FROM old")
                end)
                scenario("fixture again", { database = "fixture:old.sqlite" }, function(t)
                  check(t.db:fetch_value("SELECT COUNT(*) FROM old") == 1)
                end)
                scenario("missing", { database = "fixture:new.sqlite" }, function(t) end)
                """
            ]) { $1 })
        try project.write(Self.fixture(), to: "scenarios/fixtures/old.sqlite")
        let run = try await project.run()
        #expect(run.summary.count(.passed) == 4, "\(run.summary.failures.map(\.failures))")
        #expect(try run.result("missing").failures[0].message.hasPrefix("fixture `new.sqlite` not found; looked for"))
    }

    private static func fixture() throws -> Data {
        let path = NSTemporaryDirectory() + "/perilune-fixture-\(UUID().uuidString).sqlite"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let stage = try ScenarioStage(.memory, image: nil, seed: 0)
        defer { stage.close() }
        try stage.writer.write { db in
            try db.execute(sql: "CREATE TABLE old (id INTEGER PRIMARY KEY); INSERT INTO old VALUES (1)")
        }
        return try Data(stage.image().bytes)
    }

    @Test func `an empty database of a scenario can be migrated`() async throws {
        let run = try await run(
            """
            scenario("up", { database = "empty" }, function(t)
              t.migrate{ to = "1_thing" }
              check(#t.db:columns("thing") == 2)
              t.migrate()
              check(#t.db:columns("thing") == 3)
            end)
            scenario("by how the name begins", { database = "empty" }, function(t)
              t.migrate{ to = "1" }
              check(#t.db:columns("thing") == 2)
              expect_error(function() t.migrate{ to = "3" } end, { kind = "unknown_migration" })
              local err = expect_error(function() t.migrate{ to = "2" } end, { kind = "argument" })
              expect(err.message):equals("`2` is ambiguous: 2_least, 2_more")
            end)
            """,
            [
                "migrations/2_more.sql": "ALTER TABLE thing ADD COLUMN more TEXT",
                "migrations/2_least.sql": "CREATE TABLE least (id INTEGER PRIMARY KEY)",
            ])
        #expect(run.summary.count(.passed) == 2, "\(run.summary.failures.map(\.failures))")
    }

    @Test func `a scenario's clock is frozen, can be moved, and can advance with each reading, in Lua and in SQL`() async throws {
        let run = try await run(
            """
            scenario("clock", function(t)
              check(t.db:fetch_value("SELECT CURRENT_TIMESTAMP") == "2000-01-01 00:00:00")
              t.clock:set("2026-03-31T18:00:00Z")
              t.clock:advance{ hours = 2 }
              check(t.db:fetch_value("SELECT datetime('now')") == "2026-03-31 20:00:00")
              check(tostring(perilune.now()):sub(1, 19) == "2026-03-31 20:00:00")
              t.clock:tick("1s")
              t.db:execute("INSERT INTO thing (name) VALUES ('takes no time')")
              local first = t.db:fetch_value("SELECT datetime('now')")
              local second = t.db:fetch_value("SELECT datetime('now')")
              check(first == "2026-03-31 20:00:00")
              check(second == "2026-03-31 20:00:01")
            end)
            """)
        #expect(run.summary.count(.passed) == 1, "\(run.summary.failures.map(\.failures))")
    }

    @Test func `databases of failed scenarios can be kept`() async throws {
        let project = try ScenarioProject(
            Self.migration.merging([
                "scenarios/a_scenario.lua": """
                scenario("bad", function(t) t.db:execute("INSERT INTO thing (name) VALUES ('x')") error("no") end)
                scenario("good", function(t) end)
                """
            ]) { $1 })
        let run = try await project.run { $0.keepsFailedDatabases = true }
        let path = try #require(run.result("bad").database)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(FileManager.default.contents(atPath: path)?.starts(with: Data("SQLite format 3".utf8)) == true)
        #expect(try run.result("good").database == nil)
    }

    @Test func `the path of a kept database begins with the file of its scenario, even if the name is long`() async throws {
        let name = String(repeating: "long ", count: 30)
        let project = try ScenarioProject(["scenarios/a_scenario.lua": "scenario('\(name)', function(t) error('no') end)"])
        let run = try await project.run { $0.keepsFailedDatabases = true }
        let path = try #require(run.summary.results.first?.database)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(path.contains("a_scenario_lua___long_long"), "\(path)")
    }
}
