import Foundation
import Testing

@testable import PeriluneScenarios

/// The reports of runs with many scenarios, and of runs that fail.
@Suite struct RunnerTests {
    @Test func `a timeout inside a script shows the lines of the script`() async throws {
        let project = try ScenarioProject([
            "loop.lua": """
            local function inner()
              while true do end
            end
            local function outer() inner() return 1 end
            outer()
            """,
            "scenarios/a_scenario.lua": """
            scenario("spins", { timeout = "200ms" }, function(t)
              t.run("loop.lua")
            end)
            """,
        ])
        let run = try await project.run(.pretty)
        let failure = try #require(try run.result("spins").failures.last)
        #expect(failure.frames.first == "\(project.path)/scenarios/a_scenario.lua:2", "\(failure)")
        #expect(
            failure.frames.dropFirst().map { $0.split(separator: "/").last ?? "" } == ["loop.lua:5", "loop.lua:4", "loop.lua:2"],
            "\(failure)")
    }

    @Test func `a failing migration is reported once, with the number of other affected scenarios`() async throws {
        let scenarios = (1...5).map { "scenario('s\($0)', function(t) check(true) end)" }.joined(separator: "\n")
        let project = try ScenarioProject(["migrations/1.sql": "CREATE TABEL x;", "scenarios/a_scenario.lua": scenarios])
        let text = try await project.run(.pretty)[.pretty]
        #expect(text.matches(of: #/ERROR  scenarios/a_scenario.lua:\d  s\d   \(/#).count == 1, "\(text)")
        #expect(
            text.contains("ERROR  4 more scenarios could not be run, with the same error: migrations/1.sql:1: near \"TABEL\""))
        #expect(
            text.contains("5 failures\n  ERROR  scenarios/a_scenario.lua:")
                && text.matches(of: /syntax error   and 4 more\n/).count == 1, "\(text)")
        let verbose = try await project.run(.pretty, isVerbose: true)[.pretty]
        #expect(verbose.matches(of: #/ERROR  scenarios/a_scenario.lua:\d  s\d   \(/#).count == 5)
    }

    @Test func `several failures are listed again at the end, and a single one is not`() async throws {
        let project = try ScenarioProject(
            """
            scenario("first", function(t) check(1 == 2) end)
            scenario("fine", function(t) check(true) end)
            scenario("second", function(t) error("boom") end)
            """)
        let text = try await project.run(.pretty)[.pretty]
        #expect(
            text.hasSuffix(
                """
                2 failures
                  FAIL  scenarios/a_scenario.lua:1  first   check(1 == 2)
                  FAIL  scenarios/a_scenario.lua:3  second   boom

                1 passed, 2 failed, 0 skipped

                """), "\(text)")
        let one = try await ScenarioProject("scenario('a', function(t) check(false) end)").run(.pretty)[.pretty]
        #expect(!one.contains("failures"))
    }

    @Test func `results are reported in file order, not in the order in which workers finish`() async throws {
        let project = try ScenarioProject(
            """
            scenario("slow", function(t) local n = 0 for i = 1, 3000000 do n = n + i end check(n > 0) end)
            scenario("quick", function(t) check(true) end)
            scenario("quicker", function(t) check(true) end)
            """)
        for _ in 0..<3 {
            let run = try await project.run { $0.workers = 3 }
            #expect(run.summary.results.map(\.scenario.name) == ["slow", "quick", "quicker"])
        }
    }

    @Test func `each attempt of a scenario has a separate seed, which reproduces the attempt`() async throws {
        let project = try ScenarioProject(
            """
            scenario("random", { retry = 30 }, function(t)
              check(t.db:fetch_value("SELECT abs(random() % 6)") == 0)
            end)
            """)
        let result = try await project.run().result("random")
        #expect(result.outcome == .passed && !result.earlierAttempts.isEmpty)
        let seeds = result.earlierAttempts.map(\.seed) + [result.seed]
        #expect(seeds.map(\.value) == (0..<UInt64(seeds.count)).map { 0x7f3a + $0 })
        let again = try await project.run { $0.seed = result.seed }.result("random")
        #expect(again.outcome == .passed && again.attempts == 1)
    }

    @Test func `line coverage counts a module of the current folder once`() {
        let collector = CoverageCollector()
        collector.add(["./lib/a.lua": [1: 1], "lib/a.lua": [1: 2, 3: 1]])
        #expect(collector.take() == ["lib/a.lua": [1: 3, 3: 1]])
    }

    @Test func `line coverage includes files that were never loaded`() async throws {
        let project = try ScenarioProject([
            "used.lua": "return 1", "lib/never.lua": "local a = 1\nreturn a", ".hidden/x.lua": "return 1",
            "scenarios/support.lua": "",
            "scenarios/a_scenario.lua": "scenario('a', function(t) check(t.run('used.lua').value == 1) end)",
        ])
        let coverage = try await project.run { $0.coversLines = true }.summary.coverage
        let names = Set(coverage.files.keys.map { $0.replacing(project.path + "/", with: "") })
        #expect(names == ["used.lua", "lib/never.lua"])
        let table = coverage.table.replacing(project.path + "/", with: "")
        #expect(table.contains("      2      0    0 %  lib/never.lua\n"), "\(table)")
        #expect(table.hasSuffix("      3      1   33 %  in 2 files\n"))
    }

    @Test func `errors for unknown tables and missing modules suggest existing names`() async throws {
        let project = try ScenarioProject([
            "migrations/1.sql": "CREATE TABLE task (id INTEGER PRIMARY KEY);", "mail.lua": "local mail = require 'mailer'",
            "scenarios/a_scenario.lua": """
            scenario("table", { max_queries = 1 }, function(t) t.db:fetch_all("SELECT * FROM tsk") end)
            scenario("in a block", function(t) t.db:write(function(db) db:execute("DELETE FROM main.tasks") end) end)
            scenario("script", function(t) t.run("mail.lua") end)
            """,
        ])
        let run = try await project.run()
        #expect(try run.result("table").failures.map(\.kind) == ["sql"])
        for name in ["table", "in a block"] {
            #expect(try run.result(name).failures[0].details.contains("help  did you mean `task`?"), "\(name)")
        }
        let failure = try run.result("script").failures[0]
        #expect(failure.message.hasSuffix("mail.lua:1: module 'mailer' not found"), "\(failure.message)")
        #expect(
            failure.details.contains(
                "t.effects[\"mailer\"]:stub(\"function\", value) replaces a module that only the host provides"))
    }
}
