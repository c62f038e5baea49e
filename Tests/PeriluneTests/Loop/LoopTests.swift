import Foundation
import Perilune
import PeriluneDependencies
import PeriluneLua
import PeriluneTestTools
import Synchronization
import Testing

@Suite struct LoopTests {
    private static func makeHost(
        _ place: ScriptPlace, _ configure: (inout ScriptHost.Configuration) -> Void = { _ in }
    ) async throws -> ScriptHost {
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configure(&configuration)
        return try await place.host(configuration)
    }

    @Test(arguments: ScriptPlace.allCases) func `callbacks of a script are called after its main chunk has ended`(
        _ place: ScriptPlace
    ) async throws {
        let host = try await Self.makeHost(place)
        try await host.run(
            source: """
                calls = 0
                local timer
                timer = perilune.every(1, function() calls = calls + 1; if calls == 3 then timer:cancel() end end)
                function get() return calls end
                """)
        #expect(await !host.isIdle)
        try await host.waitUntilIdle()
        #expect(await host.isIdle)
        #expect(try await host.call("get") == 3)
    }

    @Test(arguments: ScriptPlace.allCases) func `the error of a task reaches its handler as the same object`(_ place: ScriptPlace)
        async throws
    {
        let host = try await Self.makeHost(place) { $0.limits = LuaLimits(memoryInBytes: 36 << 20) }
        // The message has 20 MB; two copies exceed the limit.
        try await host.run(
            source: """
                local half = ("x"):rep(10 << 20)
                local message = half .. half
                half = nil
                collectgarbage()
                perilune.on_error(function(e) size = #e end)
                perilune.spawn(function() error(message, 0) end)
                function get() return size end
                """)
        try await host.waitUntilIdle()
        #expect(try await host.call("get") == 20 << 20)
    }

    // MARK: - Time of tests

    @Test(arguments: ScriptPlace.allCases) func `in tests, time advances only while scripts wait, and without delay`(
        _ place: ScriptPlace
    ) async throws {
        let host = try await Self.makeHost(place)
        let start = ContinuousClock.now
        let times: [String] = try await host.run(
            source: """
                local times = { tostring(perilune.now()) }
                perilune.after("10m", function() times[#times + 1] = "timer " .. tostring(perilune.now()) end)
                perilune.sleep("1h")
                times[#times + 1] = tostring(perilune.now())
                times[#times + 1] = db:fetch_value("SELECT datetime('now')")
                return times
                """)
        #expect(
            times == [
                "2000-01-01 00:00:00.000", "timer 2000-01-01 00:10:00.000", "2000-01-01 01:00:00.000", "2000-01-01 01:00:00",
            ])
        #expect(ContinuousClock.now - start < .seconds(1800))
    }

    @Test(arguments: ScriptPlace.allCases) func `advancing a manual clock calls the timers that are due`(_ place: ScriptPlace)
        async throws
    {
        let clock = ManualClock()
        try await DependencyContainer.with {
            $0.date = .manual(clock)
        } operation: {
            let host = try await Self.makeHost(place)
            try await host.run(
                source: """
                    calls = {}
                    perilune.after("1h", function() calls[#calls + 1] = "hour" end)
                    perilune.after("2h", function() calls[#calls + 1] = "two hours" end)
                    function get() return table.concat(calls, ", ") end
                    """)
            #expect(try await host.call("get") == "")
            clock.advance(by: 3599)
            #expect(try await host.call("get") == "")
            clock.advance(by: 1)
            // The callback is queued on the host before this call.
            #expect(try await eventually { try await host.call("get") == "hour" })
            clock.set(clock.now - 86_400)
            clock.advance(by: 86_400 + 3600)
            #expect(try await eventually { try await host.call("get") == "hour, two hours" })
        }
    }

    @Test(arguments: ScriptPlace.allCases) func `after an advance of a clock, sleep(0) waits for the functions that are due`(
        _ place: ScriptPlace
    ) async throws {
        let clock = ManualClock()
        try await DependencyContainer.with {
            $0.date = .manual(clock)
        } operation: {
            let host = try await Self.makeHost(place)
            try await host.run(
                source: """
                    calls = {}
                    perilune.every("1h", function()
                      calls[#calls + 1] = "begun"
                      perilune.spawn(function() calls[#calls + 1] = "task" end):wait()
                    end)
                    """)
            clock.advance(by: 3600)
            try await host.run(source: "perilune.sleep(0)")
            #expect(try await host.run(source: "return table.concat(calls, ', ')") == "begun, task")
        }
    }

    @Test(
        arguments: ScriptPlace.allCases,
        [
            ("0 9 * * mon", "21d", "2000-01-03 09:00, 2000-01-10 09:00, 2000-01-17 09:00"),
            (
                "*/20 8-9,17 2 1 *", "3d",
                "2000-01-02 08:00, 2000-01-02 08:20, 2000-01-02 08:40, 2000-01-02 09:00, 2000-01-02 09:20, "
                    + "2000-01-02 09:40, 2000-01-02 17:00, 2000-01-02 17:20, 2000-01-02 17:40"
            ),
            ("0 0 13 * fri", "14d", "2000-01-07 00:00, 2000-01-13 00:00, 2000-01-14 00:00"),
            ("@monthly", "100d", "2000-02-01 00:00, 2000-03-01 00:00, 2000-04-01 00:00"),
            ("0 12 29 feb *", "1600d", "2000-02-29 12:00, 2004-02-29 12:00"),
            (
                "15/20 3 * * 7", "10d",
                "2000-01-02 03:15, 2000-01-02 03:35, 2000-01-02 03:55, 2000-01-09 03:15, 2000-01-09 03:35, "
                    + "2000-01-09 03:55"
            ),
        ])
    func `schedules fire at their due times`(_ place: ScriptPlace, _ values: (String, String, String)) async throws {
        let (schedule, duration, times) = values
        let host = try await Self.makeHost(place)
        let found: String = try await host.run(
            source: """
                local schedule, duration = ...
                local times = {}
                perilune.schedule(schedule, function(due) times[#times + 1] = os.date("%Y-%m-%d %H:%M", math.floor(due.unix)) end)
                perilune.sleep(duration)
                return table.concat(times, ", ")
                """, arguments: schedule, duration)
        #expect(found == times)
    }

    @Test(arguments: ScriptPlace.allCases) func `after a clock jumps, no schedule fires twice, and missed times fire once`(
        _ place: ScriptPlace
    ) async throws {
        let clock = ManualClock()
        try await DependencyContainer.with {
            $0.date = .manual(clock)
        } operation: {
            let host = try await Self.makeHost(place)
            try await host.run(
                source: """
                    calls = 0
                    perilune.schedule("@hourly", function() calls = calls + 1 end)
                    function get() return calls end
                    """)
            clock.advance(by: 10 * 3600 + 30)
            #expect(try await eventually { try await host.call("get") == 1 })
            clock.advance(by: -600)
            clock.advance(by: 600)
            // If the backward jump repeated calls, they would precede these.
            clock.advance(by: 3600)
            #expect(try await eventually { try await host.call("get") >= 2 })
            clock.advance(by: 3600)
            #expect(try await eventually { try await host.call("get") >= 3 })
            #expect(try await host.call("get") == 3)
        }
    }

    @Test(
        .patience, arguments: ScriptPlace.allCases, ["perilune.sleep('1s')", "pcall(perilune.sleep, '1s')", "perilune.sleep(0)"])
    func `a script that sleeps forever in virtual time does not block other calls of the host`(
        _ place: ScriptPlace, sleep: String
    ) async throws {
        let (started, start) = AsyncStream<Void>.makeStream()
        let host = try await Self.makeHost(place) { $0.output = .closure { _ in start.yield() } }
        let script = Task { try await host.run(source: "print('it has begun') while true do \(sleep) end") }
        for await _ in started { break }
        // Each of these calls needs the thread.
        for _ in 1...100 { #expect(await !host.isIdle) }
        host.cancel()
        await #expect(throws: LuaError.self) { try await script.value }
    }

    // MARK: - Errors

    @Test(arguments: ScriptPlace.allCases) func `errors in callbacks are reported to the program`(_ place: ScriptPlace)
        async throws
    {
        let errors = Mutex<[String]>([])
        let host = try await Self.makeHost(place) { configuration in
            configuration.callbackErrors = .handle { error in errors.withLock { $0.append("\(error.message)") } }
        }
        try await host.run(
            source: """
                perilune.after(1, function() error("one", 0) end)
                perilune.after(2, function() error("two", 0) end)
                """)
        try await host.waitUntilIdle()
        #expect(errors.withLock { $0 } == ["one", "two"])
    }

    @Test(arguments: ScriptPlace.allCases) func `errors in callbacks can end the wait for callbacks`(_ place: ScriptPlace)
        async throws
    {
        let host = try await Self.makeHost(place) { $0.callbackErrors = .fail }
        try await host.run(source: "perilune.after(1, function() error('one', 0) end) perilune.every(5, function() end)")
        let error = await #expect(throws: LuaError.self) { try await host.waitUntilIdle() }
        #expect(error?.message == "one")
        await host.endCallbacks()
        try await host.waitUntilIdle()
    }

    // MARK: - Limits

    @Test(arguments: ScriptPlace.allCases) func `each callback has separate limits`(_ place: ScriptPlace) async throws {
        let errors = Mutex<[LuaError.Code]>([])
        let host = try await Self.makeHost(place) { configuration in
            configuration.limits = LuaLimits(instructions: 200_000)
            configuration.callbackErrors = .handle { error in errors.withLock { $0.append(error.code) } }
        }
        let sum: Int = try await host.run(
            source: """
                local calls = 0
                local function work() for i = 1, 50000 do end calls = calls + 1 end
                for i = 1, 10 do perilune.after(i, work) end
                perilune.after(3.5, function() while true do end end)
                perilune.sleep(20)
                return calls
                """)
        #expect(sum == 10)
        #expect(errors.withLock { $0 } == [.budget])
    }

    @Test(arguments: ScriptPlace.allCases) func `the time limit of a run includes its waits`(_ place: ScriptPlace) async throws {
        try await DependencyContainer.inProcess(.live) {
            let host = try await Self.makeHost(place) { $0.limits = LuaLimits(time: .seconds(2)) }
            let start = ContinuousClock.now
            let error = await #expect(throws: LuaError.self) {
                try await host.run(source: "pcall(perilune.sleep, 600) pcall(perilune.sleep, 600)")
            }
            #expect(error?.code == .timeout)
            #expect(ContinuousClock.now - start < .seconds(500), "it does not wait for the sleep to end")
            await host.limitTime(to: .seconds(600))
            #expect(try await host.run(source: "return 1") == 1)
        }
    }

    @Test(arguments: ScriptPlace.allCases) func `signals are refused if the program does not deliver them`(_ place: ScriptPlace)
        async throws
    {
        let host = try await Self.makeHost(place)
        let error = await #expect(throws: LuaError.self) { try await host.run(source: "perilune.on_signal('TERM', print)") }
        #expect(error?.kind == "forbidden")
        #expect(error?.message.contains("does not deliver signals") == true)
    }

    // MARK: - Ending

    /// A value that a script can reach while its host exists.
    private final class Token: Sendable {}

    private struct Weak: Sendable {
        weak let host: ScriptHost?
        weak let token: Token?
    }

    /// Runs a script in a host that has no references afterwards.
    private func leave(_ source: String, in place: ScriptPlace) async throws -> Weak {
        let host = try await Self.makeHost(place) { $0.limits = LuaLimits(isCancellable: true) }
        let token = Token()
        let begun = Mutex(false)
        try await host.register(module: "token") { module in
            module.function("begun") { () -> Void in
                withExtendedLifetime(token) { begun.withLock { $0 = true } }
            }
            module.function("wait") { () async throws -> Void in
                begun.withLock { $0 = true }
                try await Task.sleep(for: .seconds(1_000_000))
            }
        }
        try await host.run(source: "token = require 'token'\n" + source)
        #expect(await eventually { begun.withLock { $0 } })
        return Weak(host: host, token: token)
    }

    @Test(
        arguments: ScriptPlace.allCases,
        [
            "perilune.spawn(function() token.begun() perilune.sleep(1e6) end)",
            "perilune.spawn(function() token.begun() while true do pcall(perilune.sleep, 1e6) end end)",
            "perilune.spawn(function() token.begun() while true do pcall(function() while true do end end) end end)",
            "perilune.spawn(function() token.begun() db:write(function() while true do end end) end)",
            "local t = perilune.spawn(perilune.sleep, 1e6) perilune.spawn(function() token.begun() t:wait() end)",
            "for i = 1, 100 do perilune.spawn(perilune.sleep, 1e6) end perilune.every(0.001, token.begun)",
            """
            perilune.spawn(function()
              local closed <close> = setmetatable({}, { __close = function()
                require "perilune" require "token" token.begun()
                perilune.spawn(perilune.sleep, 1e6) perilune.after(0, token.begun) pcall(require, "nothing")
                db:execute("CREATE TABLE IF NOT EXISTS t (a)")
              end })
              token.begun()
              perilune.sleep(1e6)
            end)
            """,
        ])
    func `a host without references is released even if scripts run or wait`(_ place: ScriptPlace, _ source: String)
        async throws
    {
        try await DependencyContainer.inProcess(.live) {
            let left = try await leave(source, in: place)
            #expect(await eventually { left.host == nil && left.token == nil })
        }
    }

    @Test func `a host without references stops waiting for a Swift function`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let left = try await leave("perilune.spawn(function() while true do pcall(token.wait) end end)", in: .here)
            #expect(await eventually { left.host == nil && left.token == nil })
        }
    }

    @Test(arguments: ScriptPlace.allCases) func `a cancelled task ends only its own run`(_ place: ScriptPlace) async throws {
        try await DependencyContainer.inProcess(.live) {
            let host = try await Self.makeHost(place), begun = Tally()
            try await host.register(module: "test") { $0.function("begin") { () in begun.add() } }
            try await host.run(
                source: """
                    done = 0
                    perilune.spawn(function() perilune.sleep(0.2) done = done + 1 end)
                    """)
            let run = Task { try await host.run(source: "require('test').begin() perilune.sleep(60)") }
            await begun.wait()
            run.cancel()
            await #expect(throws: CancellationError.self) { try await run.value }
            try await host.waitUntilIdle()
            #expect(try await host.run(source: "return done") == 1)
        }
    }

    @Test(arguments: ScriptPlace.allCases) func `cancelling the host ends the current run and the wait for callbacks`(
        _ place: ScriptPlace
    ) async throws {
        try await DependencyContainer.inProcess(.live) {
            let host = try await Self.makeHost(place)
            try await host.run(source: "perilune.every(0.01, function() perilune.sleep(60) end)")
            let isOver = Atomic(false)
            let wait = Task {
                defer { isOver.store(true, ordering: .releasing) }
                try await host.waitUntilIdle()
            }
            // The start of the wait cannot be observed.
            #expect(
                await eventually {
                    host.cancel()
                    return isOver.load(ordering: .acquiring)
                })
            let error = await #expect(throws: LuaError.self) { try await wait.value }
            #expect(error?.code == .cancelled)
        }
    }

    @Test(arguments: ScriptPlace.allCases) func `a host without references ends with its timers`(_ place: ScriptPlace)
        async throws
    {
        try await DependencyContainer.inProcess(.live) {
            let calls = Mutex(0)
            weak var former: ScriptHost?
            do {
                let host = try await Self.makeHost(place) { $0.output = .closure { _ in calls.withLock { $0 += 1 } } }
                try await host.run(source: "perilune.every(0.005, function() print('tick') end)")
                #expect(try await eventually { calls.withLock { $0 } > 0 })
                former = host
            }
            #expect(try await eventually { former == nil })
            let count = calls.withLock { $0 }
            // Waits for as many callbacks of another host as the released host would have made.
            let other = try await Self.makeHost(place)
            try await other.run(source: "n = 0 perilune.every(0.005, function() n = n + 1 end) function get() return n end")
            #expect(try await eventually { try await other.call("get") >= 3 })
            // A callback that was in progress may have finished.
            #expect(calls.withLock { $0 } <= count + 1)
        }
    }

    @Test(arguments: ScriptPlace.allCases) func `many concurrent timers and tasks are all called`(_ place: ScriptPlace)
        async throws
    {
        let host = try await Self.makeHost(place)
        let count: Int = try await host.run(
            source: """
                local count, tasks = 0, {}
                for i = 1, 2000 do perilune.after(i % 7, function() count = count + 1 end) end
                for i = 1, 500 do tasks[i] = perilune.spawn(function() perilune.sleep(i % 5) count = count + 1 end) end
                for _, task in ipairs(tasks) do task:wait() end
                perilune.sleep(10)
                return count
                """)
        #expect(count == 2500)
    }
}
