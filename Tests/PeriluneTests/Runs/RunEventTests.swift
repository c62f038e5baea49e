import Foundation
import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Synchronization
import Testing

/// The events at the start and end of runs, with their statistics.
@Suite(.defaultDatabase()) struct RunEventTests {
    /// Collects events.
    private final class Collector: Sendable {
        private let events = Mutex<[ScriptRunEvent]>([])

        func add(_ event: ScriptRunEvent) { events.withLock { $0.append(event) } }

        var all: [ScriptRunEvent] { events.withLock { $0 } }
        var ended: [ScriptRunEvent] { all.filter { $0.end != nil } }

        /// Waits for the end of runs of a kind.
        func ended(_ kind: ScriptRunEvent.Kind, count: Int = 1) async -> [ScriptRunEvent] {
            _ = await eventually { self.ended.count { $0.kind == kind } >= count }
            return ended.filter { $0.kind == kind }
        }
    }

    private static func host(
        _ place: ScriptPlace, _ collector: Collector, _ configure: (inout ScriptHost.Configuration) -> Void = { _ in }
    ) async throws -> ScriptHost {
        var configuration = place.configuration(ScriptHost.Configuration(database: .inMemory()))
        configuration.runObserver = { collector.add($0) }
        configure(&configuration)
        return try await ScriptHost(configuration)
    }

    @Test(.patience, arguments: ScriptPlace.allCases)
    func `the start and the end of scripts and calls are reported`(_ place: ScriptPlace) async throws {
        let collector = Collector()
        let host = try await Self.host(place, collector) { $0.runTag = "tenant" }
        try await host.run(source: "orders = { total = function(n) return n end }", named: "orders.lua")
        #expect(try await host.call("orders.total", 3) == 3)
        let events = collector.all
        #expect(events.map(\.name) == ["orders.lua", "orders.lua", "orders.total", "orders.total"])
        #expect(events.map(\.kind) == [.script, .script, .call, .call])
        #expect(events.map { $0.end?.outcome } == [nil, .succeeded, nil, .succeeded])
        #expect(events.allSatisfy { $0.tag == "tenant" })
        #expect(events[0].id == events[1].id && events[1].id != events[2].id)
        #expect(try #require(events[1].end).duration > .zero)
    }

    @Test(.patience, arguments: ScriptPlace.allCases)
    func `run statistics count statements, rows and changes`(_ place: ScriptPlace) async throws {
        let collector = Collector()
        let host = try await Self.host(place, collector)
        try await host.run(
            source: """
                db:execute("CREATE TABLE t (a)")
                db:execute("INSERT INTO t VALUES (1), (2), (3)")
                db:execute("UPDATE t SET a = a + 1 WHERE a > 1")
                local n = 0
                for _ in db:rows("SELECT a FROM t") do n = n + 1 end
                assert(#db:fetch_all("SELECT a FROM t") == 3 and n == 3)
                """)
        try await host.run(source: "local x = 1")
        let figures = collector.ended.compactMap(\.end?.figures)
        try #require(figures.count == 2)
        #expect((figures[0].statementCount, figures[0].readRowCount, figures[0].changedRowCount) == (5, 6, 5))
        #expect((figures[1].statementCount, figures[1].readRowCount, figures[1].changedRowCount) == (0, 0, 0))
        let stored = try JSONEncoder().encode(figures[0])
        #expect(try JSONDecoder().decode(RunFigures.self, from: stored) == figures[0])
    }

    @Test(
        .patience, .defaultDatabase(.pool("x.sqlite", migrations: library, usesFilesInTests: true)),
        arguments: ScriptPlace.allCases)
    func `run statistics count written bytes, memory and instructions`(_ place: ScriptPlace) async throws {
        let collector = Collector()
        let host = try await Self.host(place, collector) { configuration in
            configuration.database = nil
            configuration.limits.instructions = 100_000_000
        }
        try await host.run(source: "db:execute('INSERT INTO author (name) VALUES (?)', ('x'):rep(100000))")
        try await host.run(source: "local t = {} for i = 1, 200000 do t[i] = i end")
        try await host.run(source: "local x = 1")
        let figures = collector.ended.compactMap(\.end?.figures)
        try #require(figures.count == 3)
        #expect(figures[0].writtenByteCount >= 100_000 && figures[1].writtenByteCount == 0)
        #expect(figures[1].peakMemoryInBytes > 2_000_000)
        #expect(try #require(figures[1].instructionCount) > 200_000)
        #expect(try #require(figures[2].instructionCount) < 100_000)
    }

    @Test(.patience, arguments: ScriptPlace.allCases)
    func `failures, limits and cancellations have different outcomes`(_ place: ScriptPlace) async throws {
        let collector = Collector()
        let host = try await Self.host(place, collector) { $0.limits.instructions = 100_000 }
        await #expect(throws: LuaError.self) { try await host.run(source: "error('x')") }
        await #expect(throws: LuaError.self) { try await host.run(source: "while true do end") }
        let begun = Tally()
        try await host.register(module: "m") {
            $0.function("wait") {
                begun.add()
                try await Task.sleep(for: .seconds(3600))
            }
        }
        let task = Task { try await host.run(source: "require('m').wait()") }
        await begun.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(collector.ended.map { $0.end?.outcome } == [.failed, .limited, .cancelled])
        #expect((collector.ended[0].end?.error as? LuaError)?.message == "x")
    }

    @Test(.patience, arguments: ScriptPlace.allCases)
    func `runs of timers, tasks and signals are reported`(_ place: ScriptPlace) async throws {
        let collector = Collector()
        let host = try await Self.host(place, collector) { $0.callbackErrors = .handle { _ in } }
        try await host.run(
            source: """
                db:execute("CREATE TABLE t (a)")
                perilune.spawn(function() db:execute("INSERT INTO t VALUES (1)") end)
                perilune.after(0, function() error("late") end)
                """)
        // The clock of a test moves only when a script sleeps.
        try await host.run(source: "perilune.sleep(1)")
        let task = try #require(await collector.ended(.task).first?.end)
        #expect((task.outcome, task.figures.statementCount, task.figures.changedRowCount) == (.succeeded, 1, 1))
        let timer = try #require(await collector.ended(.timer).first?.end)
        #expect(timer.outcome == .failed)
        #expect((timer.error as? LuaError)?.message == "late")
        #expect(collector.all.count { $0.kind == .task } == 2)
    }

    @Test(.patience) func `runs of automations are reported by name`() async throws {
        let collector = Collector()
        let host = try await Self.host(.here, collector)
        try await withTemporaryFolder { folder in
            let file = "\(folder)/a.lua"
            try Data(
                """
                perilune.automation{ name = "greet", on = { event = "e" }, run = function() db:fetch_value("SELECT 1") end }
                """.utf8
            ).write(to: URL(filePath: file))
            try await host.loadAutomations(file: file)
            try await host.runAutomation("greet")
            let runs = await collector.ended(.automation)
            #expect(runs.map(\.name) == ["greet"])
            #expect(try #require(runs.first?.end).figures.readRowCount >= 1)
            try await host.stopAutomations()
        }
    }

    @Test(.patience) func `a run whose process crashes is reported as crashed`() async throws {
        let collector = Collector()
        let host = try await Self.host(.isolated, collector)
        let reached = Tally()
        try await host.register(module: "m") {
            $0.function("wait") {
                reached.add()
                try await Task.sleep(for: .seconds(3600))
            }
        }
        try await host.run(source: "perilune.spawn(function() require('m').wait() end)")
        let task = Task { try await host.run(source: "require('m').wait()") }
        await reached.wait(for: 2)
        kill(try #require(host.workerProcessID), SIGKILL)
        await #expect(throws: LuaError.self) { try await task.value }
        #expect(await collector.ended(.script, count: 2).last?.end?.outcome == .crashed)
        #expect(await collector.ended(.task).first?.end?.outcome == .crashed)
    }

    @Test(.patience, arguments: ScriptPlace.allCases)
    func `a pool's sequence has the events of all its hosts and ends with the pool`(_ place: ScriptPlace) async throws {
        let pool = try await ScriptPool(
            size: 1, configuration: place.configuration(ScriptHost.Configuration(database: .inMemory()))
        ) { host in
            try await host.run(source: "function one() return 1 end")
        }
        let events = pool.runEvents
        for _ in 0..<3 { let _: Int = try await pool.call("one") }
        await pool.close()
        var ends: [ScriptRunEvent.End] = []
        for await event in events { if let end = event.end { ends.append(end) } }
        #expect(ends.map(\.outcome) == [.succeeded, .succeeded, .succeeded])
    }

    @Test(.patience) func `nested runs are reported separately`() async throws {
        let collector = Collector()
        let host = try await Self.host(.here, collector)
        try await host.register(module: "m") { m in
            m.function("inner") { [unowned host] () async throws -> Int in try await host.call("inner", as: Int.self) }
        }
        try await host.run(
            source: """
                function inner() return db:fetch_value("SELECT 1") end
                function outer() return db:fetch_value("SELECT 2") + require("m").inner() end
                """)
        #expect(try await host.call("outer") == 3)
        let ends = collector.ended.filter { $0.kind == .call }
        #expect(ends.map(\.name) == ["inner", "outer"])
        #expect(ends.map { $0.end?.figures.statementCount } == [1, 1])
    }
}
