import Foundation
import Testing

@testable import PeriluneScenarios

@Suite struct ReportTests {
    /// One of each kind of result.
    private static let files = [
        "migrations/1_book.sql": "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)",
        "scenarios/a_scenario.lua": """
            scenario("passes & prints <this>", function(t)
              print("a \\27[31mred\\27[0m word, and a \\0")
              t.step("first # step", function() end)
            end)
            scenario("fails", function(t)
              t.db:execute("INSERT INTO book (title) VALUES (?)", "Typee")
              t.step("counting", function()
                check(t.db:fetch_value("SELECT COUNT(*) FROM book WHERE title = ?", "Typee") == 2)
              end)
            end)
            scenario.skip("not # now", "skipped", function(t) end)
            scenario("late", { timeout = "200ms" }, function(t) while true do end end)
            """,
        "scenarios/b_scenario.lua": "scenario('x' function() end)",
    ]

    private func run(_ format: ScenarioReportFormat) async throws -> String {
        try await ScenarioProject(Self.files).run(format)[format]
    }

    @Test func `failures tell the step, the operands, the last SQL with its plan, and how to run them again`() async throws {
        let text = try await run(.pretty)
        #expect(text.contains("""
            FAIL  scenarios/a_scenario.lua:5  fails   (0 ms, seed 7f3a)
              step      counting      scenarios/a_scenario.lua:8
            """), "\(text)")
        #expect(text.contains("""
              last SQL  scenarios/a_scenario.lua:8   SELECT COUNT(*) FROM book WHERE title = ?
                        args 'Typee'      1 row
                        plan SCAN book
              rerun     perilune test scenarios/a_scenario.lua:5 --seed 7f3a
            """), "\(text)")
        #expect(text.contains("TIMEOUT  scenarios/a_scenario.lua:12  late"))
        #expect(text.hasSuffix("1 passed, 1 failed, 1 timed out, 1 errored, 1 skipped\n"), "\(text)")
    }

    @Test func `a sign for each, and the failures at the end`() async throws {
        let text = try await run(.dots)
        #expect(text.hasPrefix("E.FsT\n\nERROR  scenarios/b_scenario.lua:1"), "\(text)")
    }

    @Test func `TAP is read by prove`() async throws {
        #expect(try await run(.tap).hasPrefix("TAP version 14\n"))
        let text = try await run(.tap13)
        #expect(text.hasPrefix("TAP version 13\nnot ok 1 - scenarios/b_scenario.lua:1 the file does not load\n"))
        #expect(text.contains("    ok 1 - first \\# step\n    1..1\nok 2 - scenarios/a_scenario.lua:1"))
        #expect(text.contains("ok 4 - scenarios/a_scenario.lua:11 skipped # SKIP not # now\n"))
        #expect(text.hasSuffix("\n1..5\n"))
        let failing = try Tool.run("prove", input: text, named: "report.t", ["--exec", "cat", "-"])
        #expect(failing.output.contains("Failed tests:  1, 3, 5") || failing.output.contains("Failed 3/5 subtests"), "\(failing.output)")
        #expect(!failing.output.contains("Parse errors"), "\(failing.output)")
    }

    @Test func `TAP 14 is as its grammar says`() async throws {
        try TAPGrammar.check(try await run(.tap), version: 14)
        try TAPGrammar.check(try await run(.tap13), version: 13)
        let empty = try await ScenarioProject("").run(.tap)[.tap]
        #expect(empty == "TAP version 14\n1..0 # SKIP there are no scenarios\n")
        try TAPGrammar.check(empty, version: 14)
    }

    @Test func `the grammar of TAP refuses what is none`() {
        for text in [
            "1..1\nok 1\n", "TAP version 14\nok 1\n", "TAP version 14\n1..2\nok 1\n", "TAP version 14\n1..1\nok 2\n",
            "TAP version 14\n1..1\nok 1\n  ---\n  a: 1\n", "TAP version 14\n1..1\nwhat\nok 1\n",
            "TAP version 14\n1..1\n# Subtest: a\n    ok 1\n    1..1\nok 1 - b\n", "TAP version 14\n1..1\nok 1 - a # b\n",
        ] {
            #expect(throws: (any Error).self, "\(text)") { try TAPGrammar.check(text, version: 14) }
        }
    }

    @Test func `TAP of a run that has passed is a success for prove`() async throws {
        let project = try ScenarioProject("scenario('one', function(t) t.step('a', function() end) end)")
        let text = try await project.run(.tap13)[.tap13]
        let passing = try Tool.run("prove", input: text, named: "report.t", ["--exec", "cat", "-"])
        #expect(passing.status == 0, "\(passing.output)")
    }

    @Test func `names and expressions of several lines are TAP too`() async throws {
        let project = try ScenarioProject("""
            scenario("one\\nname", function(t)
              t.step("one\\nstep", function() check("a" == [[
            b

            c]]) end)
            end)
            """)
        let text = try await project.run(.tap13)[.tap13]
        let failing = try Tool.run("prove", input: text, named: "report.t", ["--exec", "cat", "-"])
        #expect(failing.output.contains("Failed 1/1 subtests"), "\(failing.output)")
        #expect(!failing.output.contains("Parse errors"), "\(failing.output)\n\(text)")
        let pretty = try await project.run(.pretty)[.pretty]
        #expect(pretty.contains("FAIL  scenarios/a_scenario.lua:1  one\\nname  "), "\(pretty)")
        #expect(pretty.contains("  step      one\\nstep      "), "\(pretty)")
    }

    @Test func `JUnit is valid by its schema`() async throws {
        let text = try await run(.junit)
        let schema = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "junit.xsd").path
        let result = try Tool.run("xmllint", input: text, named: "report.xml", ["--noout", "--schema", schema, "-"])
        #expect(result.status == 0, "\(result.output)")
        #expect(text.contains(#"<testsuites name="perilune" tests="5" failures="2" errors="1" skipped="1" time="0">"#), "\(text)")
        #expect(text.contains(#"<testcase name="passes &amp; prints &lt;this&gt;" classname="scenarios/a_scenario.lua" file="scenarios/a_scenario.lua" line="1" time="0">"#))
        #expect(text.contains("<system-out>step ok: first # step\na \u{FFFD}[31mred"))
        #expect(text.contains(#"<error message="#))
    }

    @Test func `JUnit tells what is flaky`() async throws {
        let project = try ScenarioProject("")
        let marker = project.path + "/marker"
        try project.write("""
            scenario("flaky", { retry = 1 }, function(t)
              local file = io.open("\(marker)")
              if not file then io.open("\(marker)", "w"):close() error("not yet") end
              file:close()
            end)
            """, to: "scenarios/a_scenario.lua")
        let text = try await project.run(.junit)[.junit]
        #expect(text.contains(#"<flakyFailure message="not yet""#), "\(text)")
        #expect(text.contains(#"tests="1" failures="0""#))
    }

    @Test func `events are lines of JSON with a version`() async throws {
        let text = try await run(.jsonl)
        let lines = text.split(separator: "\n")
        let events = try lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
        #expect(events.allSatisfy { $0["version"] as? Int == 1 })
        #expect(events.first?["event"] as? String == "run_started")
        #expect(events.last?["event"] as? String == "run_ended")
        #expect(events.last?["exit_status"] as? Int == 1)
        let failed = try #require(events.first { $0["name"] as? String == "fails" })
        #expect(failed["outcome"] as? String == "failed")
        let failure = try #require((failed["failures"] as? [[String: Any]])?.first)
        #expect(failure["line"] as? Int == 8)
        #expect((failure["statement"] as? [String: Any])?["plan"] as? [String] == ["SCAN book"])
    }

    @Test func `a verbose report shows what has passed, too`() async throws {
        let project = try ScenarioProject(Self.files)
        let text = try await project.run(.pretty, isVerbose: true)[.pretty]
        #expect(text.contains("""
            PASS  scenarios/a_scenario.lua:1  passes & prints <this>   (0 ms)
              step      first # step   (0 ms)
              output    a \\u{1b}[31mred\\u{1b}[0m word, and a \\u{0}
            """), "\(text)")
        #expect(text.contains("SKIP  scenarios/a_scenario.lua:11  skipped  not # now\n"))
    }
}

/// A program that checks what we write.
enum Tool {
    struct Result {
        let status: Int32
        let output: String
    }

    /// Runs a program on a file.
    ///
    /// - Parameters:
    ///   - input: The text of the file.
    ///   - arguments: `-` stands for the file.
    /// - Throws: If the program is not there: scripts/setup says which are needed.
    static func run(_ program: String, input: String, named name: String, _ arguments: [String]) throws -> Result {
        let folder = NSTemporaryDirectory() + "/perilune-tool-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = "\(folder)/\(name)"
        try Data(input.utf8).write(to: URL(filePath: file))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments.map { $0 == "-" ? file : $0 }
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus != 127, "\(program) is missing; scripts/setup installs it")
        return Result(status: process.terminationStatus, output: output)
    }
}
