import Foundation
import Testing

@testable import PeriluneScenarios

@Suite struct BadInputTests {
    @Test func `a scenario file with a syntax error is one errored case, and other files run`() async throws {
        let project = try ScenarioProject([
            "scenarios/a_scenario.lua": "scenario('x' function() end)",
            "scenarios/b_scenario.lua": "scenario('good', function(t) end)",
        ])
        let run = try await project.run(.pretty)
        let broken = try run.result("the file does not load")
        #expect(broken.outcome == .errored)
        #expect(broken.failures[0].line == 1 && broken.failures[0].kind == "syntax")
        #expect(try run.outcome("good") == .passed)
        #expect(run[.pretty].contains("ERROR  scenarios/a_scenario.lua:1  the file does not load"))
        #expect(run.summary.exitStatus == 1)
    }

    @Test func `a scenario file that loops while it is loaded is ended`() async throws {
        let project = try ScenarioProject([
            "scenarios/a_scenario.lua": "while true do end",
            "scenarios/b_scenario.lua": "scenario('good', function(t) end)",
        ])
        let run = try await project.run { $0.timeout = .seconds(2) }
        let broken = try run.result("the file does not load")
        #expect(broken.failures[0].kind == "timeout")
        #expect(broken.failures[0].message.hasSuffix("the main chunk may contain only definitions"))
        #expect(try run.outcome("good") == .passed)
    }

    @Test func `an error in support.lua names that file`() async throws {
        let project = try ScenarioProject([
            "scenarios/support.lua": "\nerror('not so')",
            "scenarios/a_scenario.lua": "scenario('x', function() end)",
        ])
        let run = try await project.run()
        let failure = try run.result("the file does not load").failures[0]
        #expect(failure.file?.hasSuffix("scenarios/support.lua") == true && failure.line == 2)
    }

    @Test func `of two scenarios with the same name, the first runs and the second is reported`() async throws {
        let project = try ScenarioProject(
            """
            scenario("twin", function(t) end)
            scenario("twin", function(t) end)
            """)
        let run = try await project.run()
        #expect(run.summary.results.map(\.outcome).sorted { $0.rawValue < $1.rawValue } == [.errored, .passed])
        let failure = try #require(run.summary.failures.first?.failures.first)
        #expect(failure.message.contains("twin") || failure.message.contains("another scenario has the same name"))
        #expect(failure.line == 2)
    }

    @Test func `scenario.only restricts the run and makes it fail`() async throws {
        let project = try ScenarioProject(
            """
            scenario("one", function(t) end)
            scenario.only("two", function(t) check(true) end)
            """)
        let run = try await project.run(.pretty)
        #expect(run.summary.results.map(\.scenario.name) == ["two"])
        #expect(
            run[.pretty] == """
                1 passed, 0 failed, 0 skipped
                scenario.only was left in at scenarios/a_scenario.lua:2, so the run fails

                """)
        #expect(run.summary.exitStatus == 1)
    }

    @Test func `in CI, scenario.only is an error, and all scenarios run`() async throws {
        let project = try ScenarioProject(
            """
            scenario("one", function(t) end)
            scenario.only("two", function(t) end)
            """)
        let run = try await project.run { $0.isCI = true }
        #expect(run.summary.count(.passed) == 2)
        #expect(run.summary.results[0].failures[0].kind == "only")
        #expect(run.summary.exitStatus == 1)
    }

    @Test func `a run that matches nothing exits with 4 and a message`() async throws {
        let project = try ScenarioProject("scenario('one', function(t) end)")
        let run = try await project.run(.pretty) { $0.selection.filters = [.text("nothing like it")] }
        #expect(run[.pretty] == "none of the 1 scenarios matched\n")
        #expect(run.summary.exitStatus == 4)
    }

    @Test func `a scenario path that does not exist is a usage error`() async throws {
        let project = try ScenarioProject("")
        await #expect(throws: ScenarioUsageError.self) {
            try await project.run { $0.paths = [ScenarioPath("/no/such/folder")] }
        }
    }

    @Test func `a path with a line that contains no scenario is a usage error`() async throws {
        let project = try ScenarioProject("\nscenario('one', function(t) end)\n\n")
        func run(_ line: Int) async throws -> Int {
            try await project.run { $0.paths = [ScenarioPath("\(project.path)/scenarios/a_scenario.lua:\(line)")] }.summary
                .results.count
        }
        #expect(try await run(2) == 1)
        #expect(try await run(3) == 1)
        let before = await #expect(throws: ScenarioUsageError.self) { try await run(1) }
        #expect(before?.description.hasSuffix("a_scenario.lua:1; the first one of the file is at line 2") == true)
        let behind = await #expect(throws: ScenarioUsageError.self) { try await run(99) }
        #expect(
            behind?.description.hasSuffix("a_scenario.lua:99, behind the end of the file; its last scenario is at line 2") == true
        )
    }

    @Test func `a missing migration folder is reported in plain words`() async throws {
        let project = try ScenarioProject("scenario('one', function(t) end)")
        let run = try await project.run { $0.migrations = "nofolder" }
        #expect(
            try run.result("one").failures.first?.message == "cannot read the folder of migrations nofolder: it does not exist")
    }

    @Test func `a transaction that is left open is reported and rolled back`() async throws {
        let project = try ScenarioProject(
            """
            scenario("leak", function(t)
              coroutine.wrap(function() t.db:write(function() coroutine.yield() end) end)()
            end)
            scenario("sql", function(t) t.db:execute("BEGIN") end)
            scenario("good", function(t) end)
            """)
        let run = try await project.run()
        #expect(try run.outcome("leak") == .failed)
        #expect(try run.outcome("sql") == .failed)
        #expect(try run.outcome("good") == .passed)
    }

    @Test func `a step in a suspended coroutine fails and does not contain later steps`() async throws {
        let project = try ScenarioProject(
            """
            scenario("it", function(t)
              local half = coroutine.create(function()
                t.step("half", function() coroutine.yield() end)
              end)
              coroutine.resume(half)
              t.step("other", function() end)
            end)
            """)
        let result = try await project.run().result("it")
        #expect(result.outcome == .failed)
        #expect(result.failures.map(\.message) == ["this step did not finish: its coroutine is still suspended"])
        #expect(result.failures.first?.line == 3)
        #expect(result.steps.map(\.name) == ["half", "other"])
        #expect(result.steps.map(\.hasPassed) == [false, true])
    }

    @Test func `an open cursor at the end of a scenario is reported only if its rows can still be read`() async throws {
        let project = try ScenarioProject(
            """
            local function ids(db)
              return coroutine.create(function()
                for row in db:rows("SELECT 1 AS id UNION SELECT 2") do coroutine.yield(row.id) end
              end)
            end
            scenario("kept", function(t)
              kept = ids(t.db)
              coroutine.resume(kept)
            end)
            scenario("given up", function(t) coroutine.resume(ids(t.db)) end)
            scenario("read", function(t) for _ in t.db:rows("SELECT 1") do end end)
            scenario("left", function(t) for _ in t.db:rows("SELECT 1 UNION SELECT 2") do break end end)
            """)
        let run = try await project.run()
        #expect(
            try run.result("kept").failures.map(\.message) == [
                "rows were not read to the end, by a suspended coroutine or an iterator: SELECT 1 AS id UNION SELECT 2"
            ])
        #expect(try run.outcome("given up") == .passed)
        #expect(try run.outcome("read") == .passed)
        #expect(try run.outcome("left") == .passed)
    }

    @Test func `each searched location of a missing fixture is reported once`() async throws {
        let project = try ScenarioProject("scenario('it', { database = 'fixture:none.sqlite' }, function(t) end)")
        let message = try await project.run().result("it").failures.first?.message
        #expect(
            message?.replacing(project.path + "/", with: "")
                == "fixture `none.sqlite` not found; looked for scenarios/none.sqlite, scenarios/fixtures/none.sqlite")
    }

    @Test func `the rerun command for a file with a syntax error names the file`() async throws {
        let project = try ScenarioProject("scenario(")
        let text = try await project.run(.pretty)[.pretty]
        #expect(text.contains("rerun     perilune test scenarios/a_scenario.lua --seed 7f3a\n"), "\(text)")
    }

    @Test func `global variables that a scenario sets are reported`() async throws {
        let project = try ScenarioProject("scenario('global', function(t) accident = 1 end)")
        let run = try await project.run()
        let result = try run.result("global")
        #expect((result.notes + result.failures.map(\.message)).contains { $0.contains("accident") })
    }

    @Test func `the beginning and the end of a scenario's very long output are kept`() async throws {
        let project = try ScenarioProject(
            """
            scenario("loud", function(t)
              print("first")
              for i = 1, 20000 do io.write(("x"):rep(50), "\\n") end
              io.stdout:write("last\\n")
              error("enough")
            end)
            """)
        let run = try await project.run(.junit)
        let output = try run.result("loud").output
        #expect(output.utf8.count < 80_000)
        #expect(output.hasPrefix("first\n") && output.hasSuffix("last\n"))
        #expect(output.contains("bytes omitted"))
        #expect(run[.junit].utf8.count < 200_000)
    }

    @Test func `a scenario that exhausts its memory fails, and the others pass`() async throws {
        let project = try ScenarioProject(
            """
            scenario("greedy", function(t) local list = {} while true do list[#list + 1] = ("x"):rep(100000) .. #list end end)
            scenario("exit", function(t) os.exit(3) end)
            scenario("good", function(t) end)
            """)
        let run = try await project.run { $0.memoryInBytes = 32 << 20 }
        #expect(try run.result("greedy").failures[0].kind == "memory")
        #expect(try run.result("exit").failures[0].message == "os.exit ended the scenario")
        #expect(try run.outcome("good") == .passed)
    }

    @Test func `a worker that does not return is abandoned and replaced`() async throws {
        let project = try ScenarioProject(
            """
            scenario("stuck", { timeout = "3s" }, function(t) os.execute("sleep 20") end)
            scenario("after", function(t) end)
            """)
        let run = try await project.run { $0.grace = .milliseconds(300) }
        #expect(try run.outcome("stuck") == .timedOut)
        #expect(try run.result("stuck").failures[0].kind == "lost_worker")
        #expect(try run.outcome("after") == .passed)
    }

    @Test func `a snapshot that is not UTF-8 is reported`() async throws {
        let project = try ScenarioProject("scenario('s', function(t) expect('x'):snapshot('odd') end)")
        try project.write(Data([0xFF, 0xFE]), to: "scenarios/__snapshots__/a/odd.snap")
        let run = try await project.run()
        #expect(try run.result("s").failures[0].message.contains("is not UTF-8"))
    }

    @Test func `a report that cannot be written does not affect the others`() async throws {
        let project = try ScenarioProject("scenario('one', function(t) end)")
        let good = project.path + "/report.xml"
        let reports = ReportSet(
            [.init(.junit, path: "/dev/full"), .init(.tap, path: "/dev/null/report.tap"), .init(.junit, path: good)],
            style: ScenarioReportStyle()
        ) { _ in }
        var options = ScenarioOptions()
        options.paths = [ScenarioPath(project.path + "/scenarios")]
        _ = try await ScenarioRun(options) { reports.receive($0) }.perform()
        #expect(
            reports.failures == [
                "the report /dev/full cannot be written: No space left on device",
                "the report /dev/null/report.tap cannot be written: Not a directory",
            ])
        #expect(project.read("report.xml")?.hasSuffix("</testsuites>\n") == true)
    }
}
