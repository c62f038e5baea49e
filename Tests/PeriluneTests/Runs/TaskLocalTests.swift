import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Synchronization
import Testing

/// Task-local values in functions that tasks and timers call.
@Suite struct TaskLocalTests {
    @TaskLocal private static var request = "none"

    private final class Seen: Sendable {
        private let values = Mutex<[String]>([])
        let tally = Tally()

        func add(_ value: String) {
            values.withLock { $0.append(value) }
            tally.add()
        }

        var all: [String] { values.withLock { $0 } }
    }

    @Test(.patience) func `tasks and timers see the task-local values of the run that started them`() async throws {
        let seen = Seen()
        let host = try await ScriptHost(ScriptHost.Configuration(database: .inMemory()))
        try await host.register(module: "m") { m in
            m.function("note") { (name: String) in seen.add("\(name) \(Self.request)") }
            m.function("note_later") { (name: String) async in seen.add("\(name) \(Self.request)") }
        }
        for request in ["a", "b"] {
            try await Self.$request.withValue(request) {
                try await host.run(
                    source: """
                        local m = require "m"
                        perilune.spawn(function()
                          m.note("task")
                          perilune.sleep(0.001)
                          m.note_later("slept")
                          perilune.spawn(function() m.note("inner") end)
                        end)
                        local count = 0
                        local timer
                        timer = perilune.every(0.001, function()
                          count = count + 1
                          m.note("timer")
                          if count == 2 then timer:cancel() end
                        end)
                        """)
            }
        }
        try await host.waitUntilIdle()
        #expect(
            seen.all.sorted()
                == ["a", "b"].flatMap { r in ["inner", "slept", "task", "timer", "timer"].map { "\($0) \(r)" } }.sorted())
        #expect(Self.request == "none")
    }

    @Test(.patience) func `a host with timers is released together with their task-local values`() async throws {
        final class Value: Sendable {}
        enum Local { @TaskLocal static var value: Value? }
        weak var value: Value?
        weak var host: ScriptHost?
        do {
            let kept = Value()
            value = kept
            let made = try await ScriptHost(ScriptHost.Configuration(database: .inMemory()))
            host = made
            try await Local.$value.withValue(kept) {
                try await made.run(
                    source: "perilune.every('1h', function() end) perilune.spawn(function() perilune.sleep('1h') end)")
            }
        }
        #expect(await eventually { host == nil && value == nil })
    }

    @Test(.patience) func `a host of a pool is released with the pool while its timers wait`() async throws {
        weak var host: ScriptHost?
        do {
            let pool = try await ScriptPool(size: 1, database: .inMemory())
            host = try await pool.withHost { host in
                try await host.run(source: "perilune.every('1h', function() end)")
                return host
            }
        }
        #expect(await eventually { host == nil })
    }
}
