import Testing

@testable import PeriluneScenarios

/// Callbacks of scenarios and their scripts. They run in the virtual time of the scenario.
@Suite struct WaitingTests {
    /// Runs the body of one scenario in a project with the script `script.lua`.
    private func result(
        _ body: String, script: String = "", timeout: Duration = .seconds(60)
    ) async throws -> ScenarioResult {
        let project = try ScenarioProject([
            "migrations/1_tables.sql": """
            CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE log (id INTEGER PRIMARY KEY, text TEXT);
            """,
            "scenarios/a_scenario.lua": "scenario(\"it\", function(t)\n\(body)\nend)",
            "script.lua": script,
        ])
        let run = try await project.run { $0.timeout = timeout }
        return try run.result("it")
    }

    private func passes(_ body: String, script: String = "") async throws {
        let result = try await result(body, script: script)
        #expect(result.outcome == .passed, "\(result.failures.map(\.message)) \(result.failures.flatMap(\.details))")
    }

    @Test func `a scenario can sleep for an hour of virtual time, which advances the clocks of Lua and SQL`() async throws {
        try await passes(
            """
            local seen = {}
            perilune.after("10m", function() seen[#seen + 1] = "timer " .. tostring(perilune.now()) end)
            t.step("in a step", function() perilune.sleep("1h") end)
            seen[#seen + 1] = tostring(t.clock:now())
            seen[#seen + 1] = t.db:fetch_value("SELECT datetime('now')")
            expect(seen):equals { "timer 2000-01-01 00:10:00.000", "2000-01-01 01:00:00.000", "2000-01-01 01:00:00" }
            """)
    }

    @Test func `hooks, fixtures and deferred functions can wait`() async throws {
        let project = try ScenarioProject(
            """
            before_each(function() perilune.sleep(60) end)
            after_each(function() perilune.sleep(60) print("after", perilune.now()) end)
            fixture("slow", function() perilune.sleep(60) return 7 end)
            scenario("it", function(t)
              t.defer(function() perilune.sleep(60) print("deferred", perilune.now()) end)
              check(t.fixtures.slow == 7)
              print("body", perilune.now())
            end)
            """)
        let result = try await project.run().result("it")
        #expect(result.outcome == .passed)
        #expect(
            result.output == """
                body\t2000-01-01 00:02:00.000
                after\t2000-01-01 00:03:00.000
                deferred\t2000-01-01 00:04:00.000

                """)
    }

    @Test func `t.run returns while a script has pending callbacks, and its automations continue during the scenario`()
        async throws
    {
        try await passes(
            """
            local shop = t.run("script.lua")
            check(shop.value == "ready")
            t.given.thing { id = 1, name = "one" }
            t.wait_until_idle()
            expect(t.db.log):is_empty()
            t.clock:advance("10s")
            expect(t.db.log):rows "| text |\\n| 1 things |"
            t.clock:advance { hours = 2 }
            expect(t.db.log:order("id")):rows "| text |\\n| 1 things |\\n| hour |\\n| hour |"
            expect(t.db:fetch_all("SELECT outcome FROM perilune_automation_run ORDER BY id")):rows "| outcome |\\n| succeeded |"
            """,
            script: """
                perilune.automation{
                  name = "counts", on = { change = perilune.record("thing"):all() },
                  run = function(context)
                    perilune.sleep("10s")
                    db:execute("INSERT INTO log (text) VALUES (?)", #context.value .. " things")
                  end,
                }
                perilune.every("1h", function() db:execute("INSERT INTO log (text) VALUES ('hour')") end)
                return "ready"
                """)
    }

    @Test func `callbacks of scripts and the scenario run in the order of their times`() async throws {
        let result = try await result(
            """
            perilune.every(2, function() print("scenario", perilune.now().second) end)
            t.run("script.lua", { 3 })
            t.run("script.lua", { 4 })
            t.clock:advance(8)
            """,
            script: "local period = ... perilune.every(period, function() print(period, perilune.now().second) end)")
        #expect(
            result.output == """
                scenario\t2
                3\t3
                scenario\t4
                4\t4
                scenario\t6
                3\t6
                scenario\t8
                4\t8

                """)
    }

    @Test func `a script may sleep in its main chunk, which advances the time of the scenario`() async throws {
        let result = try await result(
            """
            perilune.after(5, function() print("scenario", perilune.now().second) end)
            local run = t.run("script.lua")
            print("back", perilune.now().second, run.value)
            """, script: "perilune.sleep(10) print('script', perilune.now().second) return 1")
        #expect(result.output == "scenario\t5\nscript\t10\nback\t10\t1\n")
    }

    @Test func `the values of an observation can be iterated`() async throws {
        try await passes(
            """
            local seen = {}
            local counts = t.db:observe(function(db) return db:fetch_value("SELECT COUNT(*) FROM thing") end)
            perilune.spawn(function() for count in counts:values() do seen[#seen + 1] = count end end)
            for id = 1, 2 do
              t.wait_until_idle()
              t.given.thing { id = id }
            end
            t.wait_until_idle()
            expect(seen):equals { 0, 1, 2 }
            """)
    }

    @Test func `changes and queries are recorded during waits`() async throws {
        try await passes(
            """
            local queries
            local changes = t.changes(function()
              queries = t.queries(function() t.run("script.lua") perilune.sleep(61) end)
            end)
            expect(changes):rows "| op | table |\\n| insert | log |\\n| insert | log |"
            expect(queries):exactly(2)
            """,
            script: """
                db:execute("INSERT INTO log (text) VALUES ('at once')")
                perilune.after(60, function() db:execute("INSERT INTO log (text) VALUES ('later')") end)
                """)
    }

    @Test func `an error in a callback fails the scenario at its line and ends the wait`() async throws {
        let result = try await result(
            """
            t.defer(function() print("deferred") end)
            perilune.after(1, function()
              error("boom")
            end)
            perilune.sleep(60)
            print("not reached")
            """)
        #expect(result.outcome == .failed)
        #expect(result.failures.map(\.message) == ["boom"])
        #expect(result.failures.first?.line == 4)
        #expect(result.output == "deferred\n")
    }

    @Test func `an error in a script's callback fails the scenario at the script's line`() async throws {
        let result = try await result(
            "t.run('script.lua')\nt.clock:advance(10)\nprint('not reached')",
            script: "perilune.after(5, function()\n  local nothing = nil\n  return nothing.field\nend)")
        #expect(result.outcome == .failed)
        #expect(result.failures.count == 1)
        #expect(result.failures.first?.file?.hasSuffix("script.lua") == true)
        #expect(result.failures.first?.line == 3)
        #expect(result.output == "")
    }

    @Test func `an error in a callback while the script sleeps is the script's error`() async throws {
        try await passes(
            """
            local result = t.run_protected("script.lua")
            expect(result.error.message):contains("boom")
            """, script: "perilune.after(1, function() error('boom') end) perilune.sleep(60)")
    }

    @Test func `a scenario that waits forever is ended at its time limit, and the failure has the waiting line`() async throws {
        let result = try await result(
            """
            t.step("waits", function()
              t.db:observe(function(db) return 1 end):next()
              perilune.every(1, function() end)
              local task = perilune.spawn(function() while true do perilune.sleep(3600) end end)
              task:wait()
            end)
            """, timeout: .seconds(15))
        #expect(result.outcome == .timedOut)
        // The limit may be exceeded while the timer or the task runs for a moment, in line 4 or 5.
        #expect([4, 5, 6].contains(result.failures.first?.line))
        #expect(result.failures.first?.step == "waits")
        #expect(result.failures.first?.message == "timed out: still running after 15.0 s")
    }

    @Test func `a callback that never returns is ended with the scenario, and the failure has its line`() async throws {
        let result = try await result(
            "perilune.after(1, function()\nwhile true do end end)\nperilune.sleep(3600)", timeout: .seconds(2))
        #expect(result.outcome == .timedOut)
        #expect(result.failures.first?.line == 3)
        // The run does not wait until the sleep ends. Its duration includes the time for loading.
        #expect(result.duration < .seconds(1800))
    }

    @Test func `pending callbacks end with the scenario`() async throws {
        let result = try await result(
            """
            t.run("script.lua")
            perilune.every(1, function() print("never") end)
            perilune.spawn(function() pcall(perilune.sleep, 60) print("never") end)
            perilune.spawn(function() while true do pcall(perilune.sleep, 60) end end)
            t.db:observe(function(db) return db:fetch_value("SELECT COUNT(*) FROM thing") end, function() print("seen") end)
            t.wait_until_idle()
            t.given.thing { id = 1 }
            """, script: "perilune.every(1, function() print('never') end)")
        #expect(result.outcome == .passed)
        #expect(!result.output.contains("never"))
        #expect(result.output == "seen\n")
    }

    @Test(arguments: [
        (
            "t.db:write(function() perilune.sleep(1) end)",
            "an asynchronous function cannot be called inside `write`, which does not wait"
        ),
        ("t.db:write(function() t.run('script.lua') end)", "t.run: cannot be called inside a block of the database"),
        ("t.db:write(function() t.wait_until_idle() end)", "t.wait_until_idle: cannot be called inside a block of the database"),
    ])
    func `waiting where a scenario cannot wait is an error`(body: String, message: String) async throws {
        let result = try await result(body)
        #expect(result.failures.first?.message.contains(message) == true)
    }

    @Test func `if the clock is moved inside a block, due callbacks run after the block`() async throws {
        try await passes(
            """
            local seen = {}
            perilune.after(60, function() seen[#seen + 1] = "late" end)
            t.db:write(function()
              t.clock:advance(60)
              expect(seen):equals {}
            end)
            t.wait_until_idle()
            expect(seen):equals { "late" }
            """)
    }
}
