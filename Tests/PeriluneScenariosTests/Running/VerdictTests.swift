import Testing

@testable import PeriluneScenarios

/// Scenarios that would pass although they check nothing.
@Suite struct VerdictTests {
    @Test func `a scenario without a check passes with a warning, and the summary names it`() async throws {
        let project = try ScenarioProject(
            """
            scenario("nothing", function(t) end)
            scenario("something", function(t) check(true) end)
            scenario("not reached", function(t) if t.case then check(true) end end)
            """)
        let run = try await project.run(.pretty, .jsonl)
        #expect(
            run[.pretty] == """
                3 passed, 0 failed, 0 skipped
                2 without a check
                  scenarios/a_scenario.lua:1  nothing
                  scenarios/a_scenario.lua:3  not reached

                """)
        #expect(run.summary.exitStatus == 0)
        #expect(run[.jsonl].contains(#""checks":0,"warnings":["the scenario checks nothing: "#))
    }

    @Test func `the summary lists five scenarios without a check, and the number of the others`() async throws {
        let project = try ScenarioProject("for n = 1, 7 do scenario(\"nothing \" .. n, function(t) end) end")
        let run = try await project.run(.pretty)
        #expect(run[.pretty].contains("7 without a check\n"), "\(run[.pretty])")
        #expect(run[.pretty].hasSuffix("\n  ... and 2 more\n"), "\(run[.pretty])")
    }

    @Test func `the option no_checks determines the outcome of scenarios without a check, for all or for one`() async throws {
        let project = try ScenarioProject(
            """
            scenario("plain", function(t) end)
            scenario("smoke", { no_checks = "allow" }, function(t) end)
            group("strict", { no_checks = "fail" }, function() scenario("inner", function(t) end) end)
            scenario("skipped", function(t) t.skip("why") end)
            """)
        let run = try await project.run()
        #expect(try run.outcome("plain") == .passed && !run.result("plain").warnings.isEmpty)
        #expect(try run.outcome("smoke") == .passed && run.result("smoke").warnings.isEmpty)
        #expect(try run.result("inner").failures.map(\.kind) == ["no_checks"])
        let strict = try await project.run { $0.noChecks = .fail }
        #expect(
            try strict.outcome("plain") == .failed && strict.outcome("smoke") == .passed && strict.outcome("skipped") == .skipped)
        let lax = try await project.run { $0.noChecks = .allow }
        #expect(try lax.result("plain").warnings.isEmpty && lax.outcome("inner") == .failed)
    }

    @Test func `expectations on queries, stub counts and errors count as checks`() async throws {
        let project = try ScenarioProject(
            """
            scenario("a", { max_queries = 1 }, function(t) end)
            scenario("b", function(t) t.effects.mail:stub("send", 1):never() end)
            scenario("c", function(t) expect_error(function() error("x") end, "x") end)
            scenario("d", function(t) expect(1):equals(1) end)
            """)
        let run = try await project.run { $0.noChecks = .fail }
        #expect(run.summary.count(.passed) == 4, "\(run.summary.failures.flatMap(\.failures))")
    }

    @Test func `a stub that must be called once fails the scenario if the script does not call it`() async throws {
        let project = try ScenarioProject([
            "scripts/send.lua": "if arg[1] == 'yes' then require('mail').send('a letter') end",
            "scenarios/a_scenario.lua": """
            for _, answer in ipairs{ "yes", "no" } do
              scenario(answer, function(t)
                t.effects.mail:stub("send", true):once()
                t.run("scripts/send.lua", { answer })
              end)
            end
            """,
        ])
        let run = try await project.run()
        #expect(try run.outcome("yes") == .passed)
        let failure = try #require(try run.result("no").failures.first)
        #expect(failure.message == #"t.effects.mail:stub("send"):once()"# && failure.line == 3)
        #expect(failure.details == ["expected 1 time, got 0 times"])
    }

    @Test func `an uncalled stub is not reported in addition to an earlier error`() async throws {
        let project = try ScenarioProject(
            """
            scenario("ends early", function(t)
              t.effects.mail:stub("send", true):once()
              error("no")
            end)
            """)
        let failures = try await project.run().result("ends early").failures
        #expect(failures.map(\.message) == ["no"])
    }

    @Test func `tasks that fail, or that have not started when the scenario ends, fail the scenario`() async throws {
        let project = try ScenarioProject(
            """
            scenario("not begun", function(t)
              check(true)
              perilune.spawn(function() error("never seen") end)
            end)
            scenario("failed", function(t)
              check(true)
              perilune.spawn(function() error("boom") end)
              t.wait_until_idle()
            end)
            scenario("failed check", function(t)
              local task = perilune.spawn(function() check(1 == 2) end)
              pcall(task.wait, task)
              check(true)
            end)
            scenario("waits", function(t)
              local task = perilune.spawn(function() perilune.sleep(1) return 7 end)
              t.clock:advance(1)
              check(task:wait() == 7)
            end)
            scenario("still running", function(t)
              perilune.spawn(function() perilune.sleep(1) end)
              t.wait_until_idle()
              check(true)
            end)
            """)
        let run = try await project.run()
        #expect(try run.result("not begun").failures.map(\.kind) == ["unstarted_task"])
        #expect(try run.result("not begun").failures.map(\.line) == [3])
        #expect(try run.result("failed").failures.map(\.message) == ["boom"])
        #expect(try run.result("failed check").failures.map(\.message) == ["check(1 == 2)"])
        #expect(try run.outcome("waits") == .passed && run.outcome("still running") == .passed)
    }

    @Test func `a scenario with an expected error fails with any other error`() async throws {
        let project = try ScenarioProject(
            """
            scenario("as said", { fails = { reason = "#12", kind = "expectation" } }, function(t) check(1 == 2) end)
            scenario("otherwise", { fails = { reason = "#12", kind = "expectation" } }, function(t) error("a misspelt name") end)
            scenario("late", { fails = { kind = "timeout" }, timeout = "50ms" }, function(t) while true do end end)
            scenario("too late", { fails = { kind = "expectation" }, timeout = "50ms" }, function(t) while true do end end)
            """)
        let run = try await project.run(.pretty)
        #expect(try run.outcome("as said") == .passed && run.outcome("late") == .passed)
        #expect(try run.result("as said").reason == "failed as expected: #12")
        #expect(try run.result("as said").notes.contains { $0.contains("scenarios/a_scenario.lua:1: check(1 == 2)") })
        let other = try run.result("otherwise")
        #expect(other.outcome == .failed && other.failures.map(\.message) == ["a misspelt name"])
        #expect(
            other.failures[0].details == [#"the option fails: expected an error of kind "expectation", got one without a kind"#])
        #expect(other.notes == ["it failed, but not as expected: #12"])
        #expect(try run.outcome("too late") == .timedOut)
    }
}
