import Foundation
import Testing

@testable import PeriluneScenarios

@Suite struct ReportTests {
    /// A project with one scenario for each kind of result.
    private static let files = [
        "migrations/1_book.sql": "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)",
        "scenarios/a_scenario.lua": """
        scenario("passes & prints <this>", function(t)
          print("a \\27[31mred\\27[0m word, and a \\0")
          t.step("first # step", function() check(true) end)
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

    @Test func `failures show the step, the operands, the last SQL with its plan, and the rerun command`() async throws {
        let text = try await run(.pretty)
        #expect(
            text.contains(
                """
                FAIL  scenarios/a_scenario.lua:5  fails   (0 ms, seed 7f3a)
                  step      counting      scenarios/a_scenario.lua:8
                """), "\(text)")
        #expect(
            text.contains(
                """
                  last SQL  scenarios/a_scenario.lua:8   SELECT COUNT(*) FROM book WHERE title = ?
                            args 'Typee'      1 row
                            plan SCAN book
                  rerun     perilune test scenarios/a_scenario.lua:5 --seed 7f3a
                """), "\(text)")
        #expect(text.contains("TIMEOUT  scenarios/a_scenario.lua:12  late"))
        #expect(text.hasSuffix("1 passed, 1 failed, 1 timed out, 1 errored, 1 skipped\n"), "\(text)")
    }

    @Test func `statements that prepare a pool are not shown as the last SQL`() async throws {
        let project = try ScenarioProject("scenario('one', { database = 'file' }, function(t) check(false) end)")
        let text = try await project.run(.pretty)[.pretty]
        #expect(text.contains("FAIL") && !text.contains("last SQL"), "\(text)")
    }

    @Test func `the dots report shows one character per scenario, and failures at the end`() async throws {
        let text = try await run(.dots)
        #expect(text.hasPrefix("E.FsT\n\nERROR  scenarios/b_scenario.lua:1"), "\(text)")
    }

    @Test func `the tool prove can read TAP reports`() async throws {
        #expect(try await run(.tap14).hasPrefix("TAP version 14\n"))
        let text = try await run(.tap)
        #expect(text.hasPrefix("TAP version 13\nnot ok 1 - scenarios/b_scenario.lua:1 the file does not load\n"))
        #expect(text.contains("    ok 1 - first \\# step\n    1..1\nok 2 - scenarios/a_scenario.lua:1"))
        #expect(text.contains("ok 4 - scenarios/a_scenario.lua:11 skipped # SKIP not # now\n"))
        #expect(text.hasSuffix("\n1..5\n"))
        let failing = try Tool.run("prove", input: text, named: "report.t", ["--exec", "cat", "-"])
        #expect(
            failing.output.contains("Failed tests:  1, 3, 5") || failing.output.contains("Failed 3/5 subtests"),
            "\(failing.output)")
        #expect(!failing.output.contains("Parse errors"), "\(failing.output)")
    }

    @Test func `TAP reports mark placeholders and expected failures as to do`() async throws {
        let project = try ScenarioProject(
            """
            scenario.todo('refunds')
            scenario('rounding', { fails = '#12' }, function(t) check(false) end)
            """)
        let text = try await project.run(.tap14)[.tap14]
        #expect(text.contains("not ok 1 - scenarios/a_scenario.lua:1 refunds # TODO\n"), "\(text)")
        #expect(text.contains("not ok 2 - scenarios/a_scenario.lua:2 rounding # TODO failed as expected: #12\n"), "\(text)")
        try TAPGrammar.check(text, version: 14)
        let plain = try await project.run(.tap)[.tap]
        let proved = try Tool.run("prove", input: plain, named: "report.t", ["--exec", "cat", "-"])
        #expect(proved.output.contains("Result: PASS"), "\(proved.output)")
    }

    @Test func `TAP 14 reports follow the TAP grammar`() async throws {
        try TAPGrammar.check(try await run(.tap14), version: 14)
        try TAPGrammar.check(try await run(.tap), version: 13)
        let empty = try await ScenarioProject("").run(.tap14)[.tap14]
        #expect(empty == "TAP version 14\n1..0 # SKIP no scenarios found\n")
        try TAPGrammar.check(empty, version: 14)
    }

    @Test func `the TAP grammar of the tests refuses malformed reports`() {
        for text in [
            "1..1\nok 1\n", "TAP version 14\nok 1\n", "TAP version 14\n1..2\nok 1\n", "TAP version 14\n1..1\nok 2\n",
            "TAP version 14\n1..1\nok 1\n  ---\n  a: 1\n", "TAP version 14\n1..1\nwhat\nok 1\n",
            "TAP version 14\n1..1\n# Subtest: a\n    ok 1\n    1..1\nok 1 - b\n", "TAP version 14\n1..1\nok 1 - a # b\n",
        ] {
            #expect(throws: (any Error).self, "\(text)") { try TAPGrammar.check(text, version: 14) }
        }
    }

    @Test func `the tool prove accepts the TAP report of a passed run`() async throws {
        let project = try ScenarioProject("scenario('one', function(t) t.step('a', function() end) end)")
        let text = try await project.run(.tap)[.tap]
        let passing = try Tool.run("prove", input: text, named: "report.t", ["--exec", "cat", "-"])
        #expect(passing.status == 0, "\(passing.output)")
    }

    @Test func `multiline names and expressions are valid in TAP reports`() async throws {
        let project = try ScenarioProject(
            """
            scenario("one\\nname", function(t)
              t.step("one\\nstep", function() check("a" == [[
            b

            c]]) end)
            end)
            """)
        let text = try await project.run(.tap)[.tap]
        let failing = try Tool.run("prove", input: text, named: "report.t", ["--exec", "cat", "-"])
        #expect(failing.output.contains("Failed 1/1 subtests"), "\(failing.output)")
        #expect(!failing.output.contains("Parse errors"), "\(failing.output)\n\(text)")
        let pretty = try await project.run(.pretty)[.pretty]
        #expect(pretty.contains("FAIL  scenarios/a_scenario.lua:1  one\\nname  "), "\(pretty)")
        #expect(pretty.contains("  step      one\\nstep      "), "\(pretty)")
    }

    private func checkSchema(_ name: String, _ text: String) throws {
        let schema = URL(filePath: #filePath).deletingLastPathComponent().appending(path: name).path
        let result = try Tool.run("xmllint", input: text, named: "report.xml", ["--noout", "--schema", schema, "-"])
        #expect(result.status == 0, "\(result.output)\n\(text)")
    }

    @Test func `JUnit reports conform to the Ant and Jenkins schemas`() async throws {
        let text = try await run(.junit)
        try checkSchema("junit.xsd", text)
        #expect(text.contains("<testsuites>\n"))
        #expect(
            text.contains(
                #/<testsuite name="scenarios/a_scenario.lua" package="scenarios" id="0" timestamp="[0-9-]{10}T[0-9:]{8}" hostname="[^"]+" tests="4" /#
            ))
        #expect(
            text.contains(#"<testcase name="passes &amp; prints &lt;this&gt;" classname="scenarios/a_scenario.lua" time="0"/>"#),
            "\(text)")
        #expect(
            text.contains(
                """
                    <system-out>scenarios/a_scenario.lua:1 passes &amp; prints &lt;this&gt;
                step ok: first # step
                a \u{FFFD}[31mred
                """), "\(text)")
        try checkSchema("junit.xsd", try await ScenarioProject("").run(.junit)[.junit])
    }

    @Test func `JUnit reports with attempts, rounds and odd characters conform to the schema`() async throws {
        let project = try ScenarioProject(
            """
            scenario("one\\nname\\0", { retry = 2 }, function(t)
              t.note("a note")
              check("<a>" == "]]>")
            end)
            scenario(" spaces  in  names ", function(t) check(true) end)
            """)
        for (format, schema) in [(ScenarioReportFormat.junit, "junit.xsd"), (.extendedJUnit, "junit_extended.xsd")] {
            try checkSchema(schema, try await project.run(format) { $0.rounds = 2 }[format])
        }
    }

    @Test func `an extended JUnit report has the location and output of each scenario`() async throws {
        let text = try await run(.extendedJUnit)
        try checkSchema("junit_extended.xsd", text)
        #expect(text.contains(#"<testsuites name="perilune" tests="5" failures="2" errors="1" skipped="1" time="0">"#), "\(text)")
        #expect(
            text.contains(
                #"<testcase name="passes &amp; prints &lt;this&gt;" classname="scenarios/a_scenario.lua" file="scenarios/a_scenario.lua" line="1" time="0">"#
            ))
        #expect(text.contains("<system-out>step ok: first # step\na \u{FFFD}[31mred"))
        #expect(text.contains(#"<error message="#))
    }

    @Test func `an extended JUnit report has the attachments of a scenario`() async throws {
        let project = try ScenarioProject("scenario('s', function(t) t.attach('rows', 'a < b') check(true) end)")
        let text = try await project.run(.extendedJUnit)[.extendedJUnit]
        #expect(text.contains("<system-out>attachment rows:\na &lt; b</system-out>"), "\(text)")
    }

    /// A scenario whose first attempts fail, each in a different way. With `passes`, the third attempt succeeds.
    private func retried(passes: Int) throws -> ScenarioProject {
        let project = try ScenarioProject("")
        try project.write(
            """
            scenario("unsteady", { retry = 2 }, function(t)
              local path = "\(project.path)/attempts"
              local file = io.open(path)
              local number = file and #file:read("a") + 1 or 1
              if file then file:close() end
              file = io.open(path, "a")
              file:write("x")
              file:close()
              print("this is attempt " .. number)
              check(number >= \(passes), "attempt " .. number)
            end)
            """, to: "scenarios/a_scenario.lua")
        return project
    }

    @Test func `every report keeps all attempts of a scenario that passes in the end`() async throws {
        let formats: [ScenarioReportFormat] = [.pretty, .tap, .jsonl, .junit, .extendedJUnit]
        for format in formats {
            let text = try await retried(passes: 3).run(format)[format]
            for number in 1...2 { #expect(text.contains("attempt \(number): check(number"), "\(format): \(text)") }
            #expect(!text.contains("attempt 3: check"))
        }
        let run = try await retried(passes: 3).run(.extendedJUnit, .pretty)
        #expect(
            run[.extendedJUnit].matches(of: #/<flakyFailure message="attempt [12]: check/#).count == 2, "\(run[.extendedJUnit])")
        #expect(run[.extendedJUnit].contains(#"tests="1" failures="0""#))
        #expect(
            run[.pretty].contains(
                """
                  attempt   2 of 3   (failed, 0 ms, seed 7f3b)
                  at        scenarios/a_scenario.lua:10
                  attempt 2: check(number >= 3)
                    number is 2
                """), "\(run[.pretty])")
        #expect(run[.pretty].contains("  output    this is attempt 1\n"))
    }

    @Test func `every report keeps all attempts of a scenario that fails`() async throws {
        let formats: [ScenarioReportFormat] = [.pretty, .dots, .tap, .jsonl, .junit, .extendedJUnit]
        for format in formats {
            let text = try await retried(passes: 9).run(format)[format]
            for number in 1...3 { #expect(text.contains("attempt \(number): check(number"), "\(format): \(text)") }
        }
        let text = try await retried(passes: 9).run(.extendedJUnit)[.extendedJUnit]
        #expect(text.matches(of: #/<rerunFailure message="attempt [12]: check/#).count == 2, "\(text)")
        #expect(text.contains(#"<failure message="attempt 3: check"#), "\(text)")
    }

    @Test func `the events report consists of JSON lines with a version`() async throws {
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

    @Test func `a verbose report also shows passed scenarios`() async throws {
        let project = try ScenarioProject(Self.files)
        let text = try await project.run(.pretty, isVerbose: true)[.pretty]
        #expect(
            text.contains(
                """
                PASS  scenarios/a_scenario.lua:1  passes & prints <this>   (0 ms)
                  step      first # step   (0 ms)
                  output    a \\u{1b}[31mred\\u{1b}[0m word, and a \\u{0}
                """), "\(text)")
        #expect(text.contains("SKIP  scenarios/a_scenario.lua:11  skipped  not # now\n"))
    }
}

/// A program that checks our reports.
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
    /// - Throws: If the program is missing. scripts/setup lists the required programs.
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
