import Foundation
import GRDB
import Perilune
import PeriluneLua
import PeriluneTestTools
import Synchronization
import Testing

/// Counts the runs by their outcomes.
private final class Endings: Sendable {
    private let state = Mutex([LuaError.Code?: Int]())

    var counts: [LuaError.Code?: Int] { state.withLock { $0 } }

    func add(_ code: LuaError.Code?) { state.withLock { $0[code, default: 0] += 1 } }
}

/// Hosts that a program uses at the wrong time or from a thousand tasks at once. Each call must return a value or throw an error.
@Suite(.patience) struct HostStormTests {
    private static let pairs = """
        db:execute("CREATE TABLE IF NOT EXISTS t (n)")
        function double(n) return 2 * n end
        function pair(n)
          db:write(function(db)
            db:execute("INSERT INTO t VALUES (?)", n)
            for i = 1, 2000 do end
            db:execute("INSERT INTO t VALUES (?)", -n)
          end)
          return n
        end
        function waiting(n)
          pair(n)
          require("m").wait()
          pair(n)
          return n
        end
        """

    private func makeHost(_ place: ScriptPlace) async throws -> ScriptHost {
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configuration.limits = LuaLimits(isCancellable: true)
        configuration.output = .discarded
        let host = try await place.host(configuration)
        try await host.register(module: "m") { m in
            m.function("wait") { () async throws in for _ in 0..<10 { await Task.yield() } }
        }
        try await host.run(source: Self.pairs)
        return host
    }

    /// Expects that no change is half done and that the host still works.
    private func expectWhole(_ host: ScriptHost) async throws {
        let sum: [Int] = try await host.run(
            source: "return { db:fetch_value('SELECT COALESCE(SUM(n), 0) FROM t'), db:fetch_value('SELECT COUNT(*) % 2 FROM t') }"
        )
        #expect(sum == [0, 0])
        #expect(try await host.call("pair", 1) == 1)
    }

    @Test(arguments: ScriptPlace.allCases) func `a thousand concurrent calls all return`(_ place: ScriptPlace) async throws {
        let host = try await makeHost(place)
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...1000 { group.addTask { try await host.call("double", number) } }
            return try await group.reduce(0, +)
        }
        #expect(sum == 1_001_000)
        let waiting = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...200 { group.addTask { try await host.call("waiting", number) } }
            return try await group.reduce(0, +)
        }
        #expect(waiting == 20_100)
        try await expectWhole(host)
    }

    @Test(arguments: ScriptPlace.allCases) func `after many cancellations, the host works and no transaction is half done`(
        _ place: ScriptPlace
    ) async throws {
        let host = try await makeHost(place)
        let endings = Endings()
        for round in 0..<10 {
            await withTaskGroup(of: Void.self) { group in
                for number in 1...100 {
                    group.addTask {
                        let task = Task<Int, any Error> {
                            try await host.call(number.isMultiple(of: 2) ? "waiting" : "pair", number)
                        }
                        for _ in 0..<(number * 7 + round * 31) % 200 { await Task.yield() }
                        task.cancel()
                        do {
                            let value = try await task.value
                            #expect(value == number)
                            endings.add(nil)
                        } catch let error as LuaError {
                            #expect(error.code == .cancelled, "\(error)")
                            endings.add(error.code)
                        } catch {
                            #expect(error is CancellationError, "\(error)")
                            endings.add(.cancelled)
                        }
                    }
                }
            }
            try await expectWhole(host)
        }
        let counts = endings.counts
        #expect(counts.values.reduce(0, +) == 1000)
        #expect(counts[.cancelled, default: 0] > 0, "\(counts)")
    }

    @Test(arguments: ScriptPlace.allCases) func `cancelling a host from many threads ends only the current runs`(
        _ place: ScriptPlace
    ) async throws {
        let host = try await makeHost(place)
        let isOver = Atomic(false)
        let storm = Task.detached {
            while !isOver.load(ordering: .acquiring) {
                host.cancel()
                await Task.yield()
            }
        }
        var ended = 0
        for number in 1...200 {
            do {
                let _: Int = try await host.call("waiting", number)
            } catch let error as LuaError where error.code == .cancelled {
                ended += 1
            } catch is CancellationError {
                ended += 1
            }
        }
        isOver.store(true, ordering: .releasing)
        await storm.value
        #expect(ended > 0)
        // The last cancellation may arrive late.
        #expect(await eventually { (try? await host.call("pair", 1) as Int) == 1 })
        try await expectWhole(host)
    }

    @Test(arguments: ScriptPlace.allCases) func `a host that loses its last reference during a run finishes the run`(
        _ place: ScriptPlace
    ) async throws {
        for round in 0..<10 {
            weak var former: ScriptHost?
            let task: Task<Int, any Error>
            do {
                let host = try await makeHost(place)
                former = host
                task = Task { try await host.call("waiting", round) }
            }
            #expect(try await task.value == round)
            #expect(await eventually { former == nil })
        }
    }

    @Test(arguments: ScriptPlace.allCases) func `a host that is discarded immediately leaves nothing behind`(
        _ place: ScriptPlace
    ) async throws {
        let processes = try await withThrowingTaskGroup(of: Int32?.self) { group in
            for number in 1...20 {
                group.addTask {
                    let host = try await place.host(ScriptHost.Configuration(database: .inMemory()))
                    if number.isMultiple(of: 2) { try await host.run(source: "perilune.every(0.001, function() end)") }
                    return host.workerProcessID
                }
            }
            return try await group.reduce(into: [Int32]()) { ids, id in if let id { ids.append(id) } }
        }
        #expect(processes.count == (place == .isolated ? 20 : 0))
        #expect(await eventually { processes.allSatisfy { kill($0, 0) != 0 } })
    }

    @Test func `functions that call their waiting host from many tasks do not deadlock`() async throws {
        for place in ScriptPlace.allCases {
            let host = try await makeHost(place)
            try await host.register(module: "again") { again in
                again.function("call") { [unowned host] (n: Int) async throws -> Int in
                    try await withThrowingTaskGroup(of: Int.self) { group in
                        for number in 0..<5 { group.addTask { try await host.call("double", n + number) } }
                        return try await group.reduce(0, +)
                    }
                }
            }
            let sum: Int = try await host.run(source: "return require('again').call(10) + require('again').call(20)")
            #expect(sum == 2 * (10 + 11 + 12 + 13 + 14) + 2 * (20 + 21 + 22 + 23 + 24))
        }
    }
}
