import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Synchronization
import Testing

/// Statistics, bounds, idle hosts, closing and reloading of pools.
@Suite(.defaultDatabase()) struct PoolOperationTests {
    /// A call that occupies a host of a pool until `end` is called.
    private struct Holder: Sendable {
        private let rendezvous = Rendezvous()
        private let task: Task<Void, any Error>

        init(_ pool: ScriptPool, _ operation: @escaping @Sendable (ScriptHost) async throws -> Void = { _ in }) async {
            task = Task { [rendezvous] in
                try await pool.withHost { host in
                    await rendezvous.meet()
                    await rendezvous.meet()
                    try await operation(host)
                }
            }
            await rendezvous.meet()
        }

        func end() async throws {
            await rendezvous.meet()
            try await task.value
        }
    }

    /// The version of the scripts that was installed last.
    private final class Version: Sendable {
        private let value = Mutex(0)

        var number: Int {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    private static func functions(_ version: Int) -> @Sendable (ScriptHost) async throws -> Void {
        { host in try await host.run(source: "function version() return \(version) end function loop() while true do end end") }
    }

    @Test(.patience) func `pool statistics count busy hosts, idle hosts and waiting calls`() async throws {
        let pool = try await ScriptPool(size: 2)
        #expect(await pool.statistics.idle == 1)
        let first = await Holder(pool), second = await Holder(pool)
        let waiting = Task { try await pool.withHost { _ in } }
        #expect(await eventually { await pool.statistics.waiting == 1 })
        let busy = await pool.statistics
        #expect((busy.busy, busy.idle, busy.served, busy.made) == (2, 0, 2, 2))
        try await first.end()
        try await waiting.value
        try await second.end()
        let idle = await pool.statistics
        #expect((idle.busy, idle.idle, idle.waiting, idle.served) == (0, 2, 0, 3))
        #expect(idle.longestWait > .zero)
        #expect(idle.discarded.isEmpty)
    }

    @Test(.patience) func `a call that exceeds the maximum of waiting calls is refused immediately`() async throws {
        let pool = try await ScriptPool(size: 1, maximumWaiting: 1)
        let holder = await Holder(pool)
        let waiting = Task { try await pool.withHost { _ in 1 } }
        #expect(await eventually { await pool.statistics.waiting == 1 })
        let error = await #expect(throws: ScriptPoolError.self) { try await pool.call("f") }
        #expect(error?.code == .tooManyWaiting)
        #expect(error?.message == "all hosts of the pool are busy, and 1 calls wait for one already")
        #expect(await pool.statistics.refused == [.tooManyWaiting: 1])
        try await holder.end()
        #expect(try await waiting.value == 1)
    }

    @Test(.patience) func `a call that must not wait is refused while all hosts are busy`() async throws {
        let pool = try await ScriptPool(size: 1, maximumWaiting: 0)
        let holder = await Holder(pool)
        await #expect(throws: ScriptPoolError.self) { try await pool.withHost { _ in } }
        try await holder.end()
        try await pool.withHost { _ in }
    }

    @Test(.patience) func `a call waits for a host no longer than its limit`() async throws {
        let pool = try await ScriptPool(size: 1, waitLimit: .milliseconds(1))
        let holder = await Holder(pool)
        let error = await #expect(throws: ScriptPoolError.self) { try await pool.withHost { _ in } }
        #expect(error?.code == .waitedTooLong)
        let statistics = await pool.statistics
        #expect((statistics.waiting, statistics.refused) == (0, [.waitedTooLong: 1]))
        try await holder.end()
        try await pool.withHost { _ in }
    }

    @Test(.patience) func `unused hosts are closed and created again for the next call`() async throws {
        let made = Mutex(0)
        let pool = try await ScriptPool(size: 2, idleLimit: .milliseconds(1)) { _ in made.withLock { $0 += 1 } }
        #expect(await eventually { await pool.statistics.idle == 0 })
        try await pool.withHost { try await $0.run(source: "x = 1") }
        #expect(await eventually { await pool.statistics.discarded[.idle] == 2 })
        #expect(made.withLock { $0 } == 2)
    }

    @Test(.patience, arguments: ScriptPlace.allCases)
    func `pool statistics contain the reason why a host was discarded`(_ place: ScriptPlace) async throws {
        var configuration = place.configuration(ScriptHost.Configuration(database: .inMemory()))
        configuration.limits.instructions = 100_000
        let pool = try await ScriptPool(size: 1, configuration: configuration, prepare: Self.functions(1))
        await #expect(throws: LuaError.self) { try await pool.call("loop") }
        let statistics = await pool.statistics
        #expect(statistics.discarded == [.limit: 1])
        #expect(statistics.lastDiscard?.reason == .limit)
        #expect((statistics.lastDiscard?.error as? LuaError)?.code == .budget)
    }

    @Test(.patience) func `a closed pool refuses waiting and later calls`() async throws {
        let pool = try await ScriptPool(size: 1)
        let holder = await Holder(pool)
        let waiting = Task { try await pool.withHost { _ in } }
        #expect(await eventually { await pool.statistics.waiting == 1 })
        let closing = Task { await pool.close(within: .seconds(3600)) }
        let error = await #expect(throws: ScriptPoolError.self) { try await waiting.value }
        #expect(error?.code == .closed)
        try await holder.end()
        await closing.value
        await #expect(throws: ScriptPoolError.self) { try await pool.withHost { _ in } }
    }

    @Test(.patience) func `closing a pool cancels calls that do not end in time`() async throws {
        var configuration = ScriptHost.Configuration()
        configuration.limits.isCancellable = true
        let pool = try await ScriptPool(size: 1, configuration: configuration, prepare: Self.functions(1))
        let holder = await Holder(pool) { host in try await host.call("loop") }
        let end = Task { try await holder.end() }
        await pool.close(within: .zero)
        await #expect(throws: LuaError.self) { try await end.value }
    }

    // MARK: - Reloading

    @Test(.patience, arguments: ScriptPlace.allCases)
    func `after a reload, calls get the new version and a new Lua state`(_ place: ScriptPlace) async throws {
        let pool = try await ScriptPool(
            size: 1, configuration: place.configuration(ScriptHost.Configuration(database: .inMemory())),
            prepare: Self.functions(1))
        try await pool.withHost { try await $0.run(source: "kept = 1") }
        try await pool.reload(prepare: Self.functions(2))
        #expect(try await pool.call("version") == 2)
        #expect(try await pool.withHost { try await $0.run(source: "return kept == nil") } == true)
        #expect(await pool.statistics.discarded == [.reloaded: 1])
    }

    @Test(.patience) func `a reload that fails keeps the previous version`() async throws {
        let pool = try await ScriptPool(size: 1, prepare: Self.functions(1))
        await #expect(throws: LuaError.self) { try await pool.reload { host in try await host.run(source: "syntax error") } }
        #expect(try await pool.call("version") == 1)
        #expect(await pool.statistics.discarded.isEmpty)
    }

    @Test(.patience) func `calls finish in the version in which they started`() async throws {
        let pool = try await ScriptPool(size: 1, prepare: Self.functions(1))
        let version = Mutex(0)
        let holder = await Holder(pool) { host in
            let found: Int = try await host.call("version")
            version.withLock { $0 = found }
        }
        let reload = Task { try await pool.reload(prepare: Self.functions(2)) }
        #expect(await eventually { await pool.statistics.spares == 1 })
        // The host of the new version replaces the busy one as soon as the call returns it.
        let waiting = Task { try await pool.call("version", as: Int.self) }
        try await holder.end()
        try await reload.value
        #expect(version.withLock { $0 } == 1)
        #expect(try await waiting.value == 2)
    }

    @Test(.patience) func `a reload cancels calls that do not end in time`() async throws {
        var configuration = ScriptHost.Configuration()
        configuration.limits.isCancellable = true
        let pool = try await ScriptPool(size: 1, configuration: configuration, prepare: Self.functions(1))
        let holder = await Holder(pool) { host in try await host.call("loop") }
        let end = Task { try await holder.end() }
        try await pool.reload(endingCallsWithin: .zero, prepare: Self.functions(2))
        await #expect(throws: LuaError.self) { try await end.value }
        #expect(try await pool.call("version") == 2)
    }

    @Test(.patience) func `reloads under load lose no call, and later calls never get an earlier version`() async throws {
        let pool = try await ScriptPool(size: 3, spares: 1, prepare: Self.functions(0))
        let current = Version()
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<50 {
                        let installed = current.number
                        let version: Int = try await pool.call("version")
                        #expect(version >= installed)
                    }
                }
            }
            group.addTask {
                for version in 1...20 {
                    try await pool.reload(prepare: Self.functions(version))
                    current.number = version
                }
            }
            try await group.waitForAll()
        }
        #expect(
            await eventually {
                let s = await pool.statistics; return s.busy == 0 && s.idle + s.spares <= 4
            })
        #expect(try await pool.call("version") == 20)
    }

    @Test func `a closed pool cannot be reloaded`() async throws {
        let pool = try await ScriptPool(size: 1)
        await pool.close()
        let error = await #expect(throws: ScriptPoolError.self) { try await pool.reload { _ in } }
        #expect(error?.code == .closed)
    }
}
