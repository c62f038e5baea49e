import GRDB
import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Synchronization
import Testing

@Suite struct PoolTests {
    @Test(
        .defaultDatabase(.pool("x.sqlite", migrations: library, usesFilesInTests: true)), .patience,
        arguments: ScriptPlace.allCases)
    func `concurrent calls are served by separate hosts`(_ place: ScriptPlace) async throws {
        let rendezvous = Rendezvous()
        let pool = try await ScriptPool(size: 2, configuration: place.configuration()) { host in
            try await host.register(module: "m") { m in m.function("meet") { () async in await rendezvous.meet() } }
            try await host.run(
                source: """
                    function meet() require("m").meet() return "met" end
                    function count() return db:fetch_value("SELECT COUNT(*) FROM author") end
                    """)
        }
        // Neither call returns before both are running.
        async let first: String = pool.call("meet")
        async let second: String = pool.call("meet")
        #expect(try await [first, second] == ["met", "met"])
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<40 { group.addTask { try await pool.call("count") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 0, count: 40))
    }

    @Test(.defaultDatabase(.pool("x.sqlite", migrations: library, usesFilesInTests: true)), arguments: ScriptPlace.allCases)
    func `a pool creates hosts on demand, up to its maximum`(_ place: ScriptPlace) async throws {
        let made = Mutex(0)
        let pool = try await ScriptPool(size: 3, configuration: place.configuration()) { host in
            made.withLock { $0 += 1 }
            try await host.run(source: "function one() return 1 end")
        }
        for _ in 0..<5 { let _: Int = try await pool.call("one") }
        #expect(made.withLock { $0 } == 1)
        try await withThrowingTaskGroup { group in
            for _ in 0..<60 { group.addTask { let _: Int = try await pool.call("one") } }
            try await group.waitForAll()
        }
        #expect(made.withLock { $0 } <= 3)
    }

    @Test(
        .defaultDatabase(.pool("x.sqlite", migrations: library, usesFilesInTests: true)), .patience,
        arguments: ScriptPlace.allCases)
    func `a function that calls its pool again gets the host that is waiting for it`(_ place: ScriptPlace) async throws {
        let holder = PoolHolder()
        let pool = try await ScriptPool(size: 1, configuration: place.configuration()) { host in
            try await host.register(module: "m") { m in
                m.function("again") { (n: Int) async throws -> Int in try await #require(holder.pool).call("factorial", n) }
            }
            try await host.run(source: "function factorial(n) return n == 0 and 1 or n * require('m').again(n - 1) end")
        }
        holder.pool = pool
        let result: Int = try await pool.call("factorial", 5)
        #expect(result == 120)
    }

    @Test(
        .defaultDatabase(.pool("x.sqlite", migrations: library, usesFilesInTests: true)), .patience,
        arguments: ScriptPlace.allCases)
    func `a host is replaced if an inner call exceeded a limit, even if a function caught the error`(_ place: ScriptPlace)
        async throws
    {
        let holder = PoolHolder(), made = Mutex(0)
        var configuration = place.configuration()
        configuration.limits.instructions = 100_000
        let pool = try await ScriptPool(size: 1, configuration: configuration) { host in
            made.withLock { $0 += 1 }
            try await host.register(module: "m") { m in
                m.function("try") { () async throws -> Bool in
                    let pool = try #require(holder.pool)
                    return (try? await pool.call("loop")) != nil
                }
            }
            try await host.run(
                source: "local m = require 'm' function loop() while true do end end function try() return m.try() end")
        }
        holder.pool = pool
        _ = try? await pool.call("try")
        #expect(try await pool.withHost { host in try await host.defines("loop") })
        #expect(made.withLock { $0 } == 2)
    }

    @Test(
        .defaultDatabase(.pool("x.sqlite", migrations: library, usesFilesInTests: true)), .patience,
        arguments: ScriptPlace.allCases)
    func `a host is replaced after a script exceeded a limit, but not after a failure`(_ place: ScriptPlace) async throws {
        let made = Mutex(0)
        var configuration = place.configuration()
        configuration.limits.instructions = 100_000
        let pool = try await ScriptPool(size: 1, configuration: configuration) { host in
            made.withLock { $0 += 1 }
            try await host.run(
                source: "function loop() while true do end end function fail() error('x') end function one() return 1 end")
        }
        await #expect(throws: LuaError.self) { try await pool.call("fail") }
        let one: Int = try await pool.call("one")
        #expect(one == 1)
        #expect(made.withLock { $0 } == 1)
        let error = await #expect(throws: LuaError.self) { try await pool.call("loop") }
        #expect(error?.code == .budget)
        let again: Int = try await pool.call("one")
        #expect(again == 1)
        #expect(made.withLock { $0 } == 2)
    }

    @Test(
        .defaultDatabase(.pool("x.sqlite", migrations: library, usesFilesInTests: true)), .patience,
        arguments: ScriptPlace.allCases)
    func `a task that is cancelled stops waiting for a host`(_ place: ScriptPlace) async throws {
        let rendezvous = Rendezvous()
        let pool = try await ScriptPool(size: 1, configuration: place.configuration())
        let holder = Task {
            try await pool.withHost { _ in
                await rendezvous.meet()
                await rendezvous.meet()
            }
        }
        await rendezvous.meet()
        let begun = Tally()
        let waiting = Task {
            begun.add()
            try await pool.withHost { _ in }
        }
        await begun.wait()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await rendezvous.meet()
        try await holder.value
        try await pool.withHost { _ in }
    }

    @Test(arguments: ScriptPlace.allCases)
    func `a failed preparation of a host fails the pool or the call, and can be retried`(_ place: ScriptPlace) async throws {
        await #expect(throws: Refused.self) {
            _ = try await ScriptPool(size: 1, configuration: place.configuration(ScriptHost.Configuration(database: .inMemory())))
            { _ in throw Refused(reason: "no") }
        }
    }

    @Test func `all hosts of a pool share one database in memory`() async throws {
        let rendezvous = Rendezvous()
        let pool = try await ScriptPool(size: 2, database: .inMemory())
        try await pool.withHost { try await $0.run(source: "db:execute('CREATE TABLE t (a)')") }
        @Sendable func insert(_ host: ScriptHost) async throws {
            await rendezvous.meet()
            try await host.run(source: "db:execute('INSERT INTO t VALUES (1)')")
        }
        async let first: Void = pool.withHost(insert)
        async let second: Void = pool.withHost(insert)
        _ = try await (first, second)
        let count: Int = try await pool.withHost { try await $0.run(source: "return db:fetch_value('SELECT COUNT(*) FROM t')") }
        #expect(count == 2)
    }

    @Test func `a database in memory is refused for several isolated hosts, but allowed for one`() async throws {
        let configuration = ScriptPlace.isolated.configuration(ScriptHost.Configuration(database: .inMemory()))
        for (size, spares) in [(2, 0), (1, 1)] {
            let error = await #expect(throws: LuaError.self) {
                _ = try await ScriptPool(size: size, spares: spares, configuration: configuration)
            }
            #expect(
                error?.message == "hosts whose scripts run in processes of their own share a database only if it is in a file")
        }
        let pool = try await ScriptPool(size: 1, configuration: configuration)
        try await pool.withHost { try await $0.run(source: "db:execute('CREATE TABLE t (a)')") }
        #expect(try await pool.withHost { try await $0.run(source: "return db:fetch_value('SELECT COUNT(*) FROM t')") } == 0)
    }
}

/// Gives functions access to the pool that runs them.
private final class PoolHolder: Sendable {
    private let held = Mutex<ScriptPool?>(nil)

    var pool: ScriptPool? {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }
}

extension PoolTests {
    /// A value that belongs to one task.
    private final class Sum {
        var value = 0
    }

    @Test func `the operation of a pool runs on the caller's actor and may use values that are not Sendable`() async throws {
        let pool = try await ScriptPool(size: 1, database: .inMemory())
        let sum = Sum()
        for number in 1...3 {
            try await pool.withHost { host in sum.value += try await host.run(source: "return ...", arguments: number) }
        }
        #expect(sum.value == 6)
        await pool.close()
    }
}
