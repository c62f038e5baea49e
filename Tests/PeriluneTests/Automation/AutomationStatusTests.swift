import Perilune
import Testing

@Suite struct AutomationStatusTests {
    private static func status(after source: String, _ place: ScriptPlace) async throws -> [AutomationStatus] {
        let host = try await place.host()
        try await host.run(source: source)
        return try await host.automationStatus(runsAreStuckAfter: .seconds(60))
    }

    @Test(arguments: ScriptPlace.allCases) func `an automation that has run successfully is ready and has no problem`(
        _ place: ScriptPlace
    )
        async throws
    {
        let states = try await Self.status(
            after: """
                perilune.automation{ name = "a", on = { event = "e" }, run = function() end }
                perilune.automation{ name = "b", on = { schedule = "@daily" }, run = function() end }:disable()
                perilune.emit("e")
                perilune.sleep(1)
                """, place)
        #expect(states.map(\.name) == ["a", "b"])
        #expect(states.map(\.state) == [.ready, .disabled])
        #expect(states.map(\.problem) == [nil, nil])
        #expect(states[0].lastSuccess == DateSource.year2000() && states[0].lastFailure == nil)
        #expect(states[0].trigger == "event e")
    }

    @Test(arguments: ScriptPlace.allCases) func `a failed run is a problem until the next success`(_ place: ScriptPlace)
        async throws
    {
        let source = """
            perilune.automation{ name = "a", on = { event = "e" }, run = function(context)
              if context.event == "bad" then error("no\\nsecond line", 0) end
            end }
            perilune.emit("e", "bad")
            perilune.sleep(1)
            """
        #expect(try await Self.status(after: source, place).map(\.problem) == ["the last run failed: no"])
        #expect(try await Self.status(after: source + "\nperilune.emit('e') perilune.sleep(1)", place).map(\.problem) == [nil])
    }

    @Test(arguments: ScriptPlace.allCases) func `an overlong run, a run without a process and a missed due time are problems`(
        _ place: ScriptPlace
    ) async throws {
        // The clock of tests advances while a run sleeps. Short sleeps keep the runs active until the status is read.
        let states = try await Self.status(
            after: """
                local function sleep_long() for _ = 1, 80000 do perilune.sleep(1) end end
                perilune.automation{ name = "dead", on = { event = "e" }, run = sleep_long }
                perilune.automation{ name = "late", on = { schedule = "@daily" }, run = function() end }
                perilune.automation{ name = "stopped", on = { event = "none" }, run = function() end }
                perilune.automation{ name = "stuck", on = { event = "e" }, run = sleep_long }
                perilune.emit("e")
                perilune.sleep("5m")
                local function dead(owner)
                  local parts = {}
                  for part in owner:gmatch("%S+") do parts[#parts + 1] = part end
                  parts[5] = "1"
                  return table.concat(parts, " ")
                end
                local owner = dead(db:fetch_value("SELECT owner FROM perilune_schedule"))
                db:execute("UPDATE perilune_automation_run SET owner = ? WHERE automation = 'dead'", owner)
                db:execute("UPDATE perilune_schedule SET owner = ? WHERE automation = 'stopped'", owner)
                db:execute("UPDATE perilune_schedule SET next_due_at = '1999-12-31 23:59:00.000' WHERE automation = 'late'")
                """, place)
        #expect(states.map(\.name) == ["dead", "late", "stopped", "stuck"])
        #expect(
            states.dropLast().map(\.problem) == [
                "run 1 is dead: its process has ended", "it is late: it was due at 1999-12-31 23:59:00.000", "no process runs it",
            ])
        #expect(states[3].problem?.wholeMatch(of: /run 2 has been running for [0-9]+ s/) != nil, "\(states[3])")
        #expect(states[3].runningSince == DateSource.year2000())
    }

    @Test(arguments: ScriptPlace.allCases) func `dead jobs and jobs without a handler are problems`(_ place: ScriptPlace)
        async throws
    {
        let states = try await Self.status(
            after: """
                local handler = perilune.jobs("good"):handle(function() end)
                local bad = perilune.jobs("bad", { attempts = 1 })
                local failing = bad:handle(function() error("no", 0) end)
                bad:enqueue(1)
                perilune.jobs("good"):enqueue(1)
                perilune.jobs("waits"):enqueue(1)
                perilune.sleep(1)
                handler:cancel()
                failing:cancel()
                """, place)
        #expect(states.map(\.name) == ["jobs \"bad\"", "jobs \"good\"", "jobs \"waits\""])
        #expect(states.map(\.problem) == ["1 job is dead", nil, "1 job waits, and no process handles it"])
    }

    @Test(arguments: ScriptPlace.allCases) func `jobs whose process was killed and overlong jobs are problems`(
        _ place: ScriptPlace
    ) async throws {
        let states = try await Self.status(
            after: """
                local function sleep_long() for _ = 1, 80000 do perilune.sleep(1) end end
                local handlers = {}
                for _, name in ipairs{ "both", "killed", "long" } do
                  local queue = perilune.jobs(name)
                  queue:enqueue(1)
                  handlers[name] = queue:handle(sleep_long)
                end
                perilune.sleep("5m")
                handlers.both:cancel()
                handlers.killed:cancel()
                local parts = {}
                for part in db:fetch_value("SELECT owner FROM perilune_job"):gmatch("%S+") do parts[#parts + 1] = part end
                parts[5] = "1"
                local owner = table.concat(parts, " ")
                db:execute("UPDATE perilune_job SET owner = ? WHERE queue <> 'long'", owner)
                perilune.jobs("both"):enqueue(2)
                """, place)
        #expect(states.map(\.name) == ["jobs \"both\"", "jobs \"killed\"", "jobs \"long\""])
        #expect(
            states.dropLast().map(\.problem) == [
                "2 jobs wait, 1 of them interrupted, and no process handles them",
                "1 job was interrupted, and no process handles it",
            ])
        #expect(states[2].problem?.wholeMatch(of: /a job has been running for [0-9]+ s/) != nil, "\(states[2])")
        #expect(states[2].runningSince != nil)
    }
}
