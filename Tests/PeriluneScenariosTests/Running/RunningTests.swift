import Testing

@testable import PeriluneScenarios
import PeriluneTestTools

@Suite struct RunningTests {
    @Test func `scenarios pass, fail and are skipped`() async throws {
        let project = try ScenarioProject(
            """
            scenario("good", function(t) check(1 + 1 == 2) end)
            scenario("bad", function(t) check(1 + 1 == 3) end)
            scenario.skip("no time", "left out", function(t) check(false) end)
            scenario.todo("later")
            """)
        let run = try await project.run()
        #expect(try run.outcome("good") == .passed)
        #expect(try run.outcome("bad") == .failed)
        #expect(run.summary.count(.skipped) == 2)
        #expect(run.summary.exitStatus == 1)
    }

    @Test func `each scenario has a separate Lua state and a separate database`() async throws {
        let project = try ScenarioProject([
            "migrations/1_thing.sql": "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT)",
            "scenarios/a_scenario.lua": """
            for _, name in ipairs{ "one", "two" } do
              scenario(name, function(t)
                check(leftover == nil)
                rawset(_G, "leftover", true)
                t.db:execute("INSERT INTO thing (name) VALUES (?)", name)
                check(t.db:fetch_value("SELECT COUNT(*) FROM thing") == 1)
              end)
            end
            """,
        ])
        let run = try await project.run { $0.workers = 2 }
        #expect(run.summary.count(.passed) == 2)
    }

    @Test func `a scenario that exceeds its time limit is ended, in Lua and in SQL`() async throws {
        let project = try ScenarioProject(
            """
            scenario("lua", { timeout = "100ms" }, function(t) while true do pcall(function() while true do end end) end end)
            scenario("sql", { timeout = "100ms" }, function(t)
              t.db:fetch_value("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n")
            end)
            scenario("in time", function(t) end)
            """)
        let run = try await project.run()
        #expect(try run.outcome("lua") == .timedOut)
        #expect(try run.outcome("sql") == .timedOut)
        #expect(try run.outcome("in time") == .passed)
        #expect(run.summary.exitStatus == 5)
    }

    @Test func `internal statements of full-text tables do not count as queries`() async throws {
        let project = try ScenarioProject(
            """
            scenario("counted", function(t)
              local db = t.db
              db:execute "CREATE TABLE task (id INTEGER PRIMARY KEY, title TEXT)"
              db:create_fts5("task_text", { synchronize_with = "task", columns = { "title" } })
              local function counts(f) expect(t.queries(f)):exactly(1) end
              counts(function() db:execute("INSERT INTO task (title) VALUES ('one two')") end)
              -- The tables are connected again after a change of the schema, while the statement is compiled.
              db:execute "ALTER TABLE task ADD COLUMN note"
              counts(function() db:fetch_all("SELECT * FROM task_text WHERE task_text MATCH 'two'") end)
              counts(function() db:fetch_value("-- a comment\\nSELECT 1") end)
              expect(t.queries(function()
                for row in db:rows("SELECT id FROM task") do db:execute("UPDATE task SET title = 'x' WHERE id = ?", row.id) end
              end)):exactly(2)
              db:execute("UPDATE task SET title = 'last'")
              check(false)
            end)
            """)
        let run = try await project.run()
        let failures = try run.result("counted").failures
        #expect(failures.count == 1 && failures.first?.message == "check(false)", "\(failures)")
        #expect(failures.first?.statement?.sql == "UPDATE task SET title = 'last'")
    }

    @Test func `a scenario that passes on its second attempt is flaky`() async throws {
        let project = try ScenarioProject("")
        let marker = project.path + "/marker"
        try project.write(
            """
            scenario("flaky", { retry = 2 }, function(t)
              local file = io.open("\(marker)", "r")
              if not file then
                io.open("\(marker)", "w"):close()
                error("not yet")
              end
              file:close()
            end)
            """, to: "scenarios/a_scenario.lua")
        let run = try await project.run(.pretty)
        let result = try run.result("flaky")
        #expect(result.outcome == .passed && result.isFlaky && result.attempts == 2)
        #expect(run[.pretty].contains("FLAKY  scenarios/a_scenario.lua:1  flaky"))
        #expect(run[.pretty].contains("1 passed, 0 failed, 0 skipped\n1 flaky\n"))
        #expect(run.summary.exitStatus == 0)
    }

    @Test func `a scenario that is expected to fail passes by failing`() async throws {
        let project = try ScenarioProject(
            """
            scenario("known", { fails = "bug 12" }, function(t) error("boom") end)
            scenario("corrected", { fails = "bug 13" }, function(t) end)
            """)
        let run = try await project.run()
        #expect(try run.outcome("known") == .passed)
        #expect(try run.result("known").reason == "failed as expected: bug 12")
        #expect(try run.outcome("corrected") == .failed)
        #expect(
            try run.result("corrected").failures[0].message
                == "it passed, but was expected to fail (bug 13); remove the option `fails`")
    }

    @Test func `scenarios with the same lock never run at once`() async throws {
        let project = try ScenarioProject(
            """
            for i = 1, 6 do
              scenario("locked " .. i, { lock = "file" }, function(t)
                local path = t.tmp_dir:match("^(.*)/[^/]*$") .. "/lock-of-a-test"
                check(io.open(path, "r") == nil)
                io.open(path, "w"):close()
                local start = os.clock()
                while os.clock() - start < 0.02 do end
                os.remove(path)
              end)
            end
            """)
        let run = try await project.run { $0.workers = 3 }
        #expect(run.summary.count(.passed) == 6)
    }

    @Test func `random values depend on the seed and on the scenario`() async throws {
        let project = try ScenarioProject(
            """
            for i = 1, 3 do
              scenario("random " .. i, function(t)
                print(math.random(1000000), t.db:fetch_value("SELECT random()"), perilune.uuid())
              end)
            end
            """)
        let first = try await project.run { $0.workers = 2 }
        let second = try await project.run { $0.order = .random }
        let other = try await project.run { $0.seed = 1 }
        let alone = try await project.run { $0.selection.filters = [.text("random 2")] }
        for name in ["random 1", "random 2", "random 3"] {
            #expect(try first.result(name).output == second.result(name).output)
            #expect(try first.result(name).output != other.result(name).output)
        }
        #expect(try first.result("random 2").output == alone.result("random 2").output)
        #expect(try first.result("random 1").output != first.result("random 2").output)
    }

    @Test func `the order of scenarios depends on the seed`() async throws {
        let project = try ScenarioProject("for i = 1, 20 do scenario('s' .. i, function(t) end) end")
        let names = { (run: ScenarioProject.Outcome) in run.summary.results.map(\.scenario.name) }
        let first = try await names(project.run { $0.order = .random })
        let again = try await names(project.run { $0.order = .random })
        let other = try await names(
            project.run {
                $0.order = .random
                $0.seed = RunSeed(2)
            })
        #expect(first == again)
        #expect(first != other)
        #expect(Set(first) == Set(other))
    }

    @Test func `a test run and a single scenario can be repeated`() async throws {
        let project = try ScenarioProject("scenario('one', function(t) print(math.random()) end)")
        let rounds = try await project.run { $0.rounds = 3 }
        #expect(rounds.summary.results.map(\.round) == [1, 2, 3])
        let stressed = try await project.run { $0.stress = 5 }
        #expect(stressed.summary.results.count == 1)
        #expect(stressed.summary.results[0].attempts == 1)
        #expect(stressed.summary.results[0].notes == ["passed 5 times"])
    }

    @Test func `the duration of a step is its real time`() async throws {
        let project = try ScenarioProject(
            """
            scenario("steps", function(t)
              t.step("work", function()
                local sum = 0
                for number = 1, 3000000 do sum = sum + number end
              end)
            end)
            """)
        let result = try await project.run().result("steps")
        let duration = try #require(result.steps.first?.duration)
        #expect(duration > .milliseconds(1) && duration <= result.duration)
    }

    @Test func `a scenario that passes a repetition only after a failed attempt is flaky`() async throws {
        let project = try ScenarioProject("")
        // The second of all attempts fails: the first attempt of the second repetition.
        try project.write(
            """
            scenario("sometimes", { retry = 2 }, function(t)
              local path = "\(project.path)/attempts"
              local file = io.open(path, "a")
              file:write("x")
              file:close()
              local count = #io.open(path):read("a")
              if count == 2 then error("the second attempt") end
              print(t.seed)
            end)
            """, to: "scenarios/a_scenario.lua")
        let run = try await project.run(.pretty) { $0.stress = 4 }
        let result = try run.result("sometimes")
        #expect(result.outcome == .passed && result.isFlaky)
        #expect(result.attempts == 2 && result.earlierAttempts.count == 1)
        #expect(result.notes == ["repetition 2 of 4", "passed 4 times", "1 repetition passed only after a failed attempt"])
        #expect(run[.pretty].contains("attempt   1 of 2   (failed, "), "\(run[.pretty])")
        #expect(run[.pretty].contains("note      repetition 2 of 4\n"), "\(run[.pretty])")
        #expect(run[.pretty].contains("1 passed, 0 failed, 0 skipped\n1 flaky\n"), "\(run[.pretty])")
    }

    @Test func `no scenario starts after the maximum number of failures`() async throws {
        let project = try ScenarioProject("for i = 1, 9 do scenario('s' .. i, function(t) error('no') end) end")
        let run = try await project.run { $0.bail = 2 }
        #expect(run.summary.count(.failed) == 2)
        #expect(run.summary.notRun == 7)
        #expect(try run.result("s9").reason == "the maximum number of failures was reached")
        #expect(run.summary.exitStatus == 1)
    }

    @Test func `an interrupted run ends its current scenarios and reports the rest as not run`() async throws {
        let project = try ScenarioProject(
            """
            scenario("endless", { timeout = "15m" }, function(t) while true do end end)
            scenario("after", function(t) end)
            """)
        let run = try await project.run(
            .junit,
            started: { run in
                Task {
                    _ = await eventually { !run.status.isEmpty }
                    run.interrupt()
                }
            })
        #expect(try run.outcome("endless") == .interrupted)
        #expect(run.summary.notRun == 1)
        #expect(run.summary.exitStatus == 130)
        #expect(run[.junit].hasSuffix("</testsuites>\n"))
    }

    @Test func `reports list the scenarios that an interrupted run did not start`() async throws {
        let project = try ScenarioProject(
            """
            scenario("endless", { timeout = "15m" }, function(t) while true do end end)
            scenario("after", function(t) end)
            """)
        let run = try await project.run(
            .tap, .junit, .jsonl,
            started: { run in
                Task {
                    _ = await eventually { !run.status.isEmpty }
                    run.interrupt()
                }
            })
        #expect(run[.tap].contains("ok 2 - scenarios/a_scenario.lua:2 after # SKIP not run: the run was interrupted\n1..2\n"))
        #expect(run[.junit].contains("<skipped message=\"not run: the run was interrupted\"/>"))
        #expect(run[.jsonl].contains("\"outcome\":\"not_run\",\"reason\":\"the run was interrupted\""))
    }

    @Test(arguments: [("5", "5"), ("-7", "-7"), ("\"five\"", nil)])
    func `a scenario that defines a seed uses it unchanged in every run`(seed: String, shown: String?) async throws {
        let project = try ScenarioProject(
            """
            scenario("its own", { seed = \(seed) }, function(t)
              print(t.seed, math.random(1000000), t.db:fetch_value("SELECT random()"), perilune.uuid())
            end)
            scenario("another", function(t) print(t.seed) error("no") end)
            """)
        let first = try await project.run(.pretty)
        let second = try await project.run { $0.seed = RunSeed(1) }
        #expect(try first.result("its own").output == second.result("its own").output)
        if let shown { #expect(try first.result("its own").output.hasPrefix(shown + "\t")) }
        #expect(try first.result("another").output != second.result("another").output)
    }

    @Test func `a failure shows both seeds, and its command reproduces them`() async throws {
        let project = try ScenarioProject("scenario('it', { seed = 5 }, function(t) check(t.seed == 6) end)")
        let text = try await project.run(.pretty)[.pretty]
        #expect(text.contains("seed 7f3a, its own seed 5)"), "\(text)")
        #expect(text.contains("rerun     perilune test scenarios/a_scenario.lua:1 --seed 7f3a\n"), "\(text)")
    }

    @Test func `the running scenarios can be queried`() async throws {
        let project = try ScenarioProject("scenario('endless', { timeout = '15m' }, function(t) while true do end end)")
        _ = try await project.run(started: { run in
            Task {
                _ = await eventually { !run.status.isEmpty }
                #expect(run.status.map(\.scenario.name) == ["endless"])
                run.interrupt()
            }
        })
    }
}
