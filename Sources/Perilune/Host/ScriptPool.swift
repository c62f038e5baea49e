internal import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua
internal import Synchronization

/// Several hosts over one database, which serve calls in parallel.
///
/// ```swift
/// let pool = try await ScriptPool(size: 4, database: .pool("shop.sqlite")) { host in try await host.run(file: "orders.lua") }
/// let total: Double = try await pool.call("orders.total", 42)
/// ```
///
/// Each call has exclusive use of a host. Scripts share only the database, which allows parallel reads if it is a pool. A global variable
/// is visible only to calls that happen to get the same host. A host whose script has passed a limit, or whose process has ended, is
/// replaced by a new one. If a script calls a Swift function that calls the pool again, that call gets the script's host, which waits for
/// it.
public actor ScriptPool {
    /// A host that a call has for itself.
    private final class Loan: Sendable {
        let host: ScriptHost
        let use = OngoingUse()
        private let limit = Atomic(false)

        init(host: ScriptHost) {
            self.host = host
        }

        /// Whether the call, or one inside it, has passed a limit. The host's state is then unreliable.
        var hasPassedLimit: Bool { limit.load(ordering: .acquiring) }

        nonisolated(nonsending) func perform<Result>(
            _ operation: nonisolated(nonsending) (ScriptHost) async throws -> Result
        ) async throws -> Result {
            do {
                return try await operation(host)
            } catch {
                let code = (error as? LuaError)?.code
                if error is CancellationError || code?.isLimit == true || code == .crashed { limit.store(true, ordering: .releasing) }
                throw error
            }
        }
    }

    /// The hosts of the calls that the current task is part of, by pool.
    @TaskLocal private static var loans: [ObjectIdentifier: Loan] = [:]

    private let makeHost: @Sendable () async throws -> ScriptHost
    private var free: [ScriptHost] = []
    /// Hosts that are ready to take the place of one that is missing.
    private var spares: [ScriptHost] = []
    private let spareCount: Int
    private var isMakingSpare = false
    /// How many may still be made.
    private var missing: Int
    private var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    private var count = 0
    private var isClosed = false
    /// The hosts that calls have.
    private var lent: [ObjectIdentifier: ScriptHost] = [:]

    /// Makes a pool, and its first host; the others are made when they are needed.
    ///
    /// - Parameters:
    ///   - size: How many hosts serve calls.
    ///   - spares: How many more are made beforehand, in the background: a call that needs a new host, as one was thrown away for
    ///     example, gets one of these at once.
    ///   - configuration: The configuration of each host. All hosts share the database, even one in memory.
    ///   - prepare: Makes a host ready: registers functions, runs files.
    /// - Throws: What making the first host throws, and what `prepare` throws for it.
    public init(
        size: Int, spares: Int = 0, configuration: ScriptHost.Configuration = ScriptHost.Configuration(),
        prepare: @escaping @Sendable (ScriptHost) async throws -> Void = { _ in }
    ) async throws {
        precondition(size >= 1, "a pool needs at least one host")
        precondition(spares >= 0, "a pool cannot have fewer than no spares")
        let container = DependencyContainer.current
        let environment = try await ScriptEnvironment.resolve(in: container)
        let makeEmptyHost: @Sendable () async throws -> ScriptHost
        if let isolation = configuration.isolation.process {
            let database = try await configuration.isolatedDatabase(in: container)
            guard size + spares == 1 || database.path != nil else {
                throw LuaError(.usage, "hosts whose scripts run in processes of their own share a database only if it is in a file")
            }
            makeEmptyHost = { try await ScriptHost(isolation, configuration, database: database, environment: environment) }
        } else {
            let database = try await configuration.openDatabase(in: container)
            makeEmptyHost = { try ScriptHost(configuration, database: database, environment: environment) }
        }
        makeHost = {
            let host = try await makeEmptyHost()
            try await prepare(host)
            return host
        }
        spareCount = spares
        missing = size - 1
        free = [try await makeHost()]
        makeSpares()
    }

    /// Makes a pool over a database for scripts that are not trusted, and its first host.
    ///
    /// - Parameters:
    ///   - size: How many hosts serve calls.
    ///   - spares: How many more are made beforehand, in the background.
    ///   - database: The database that all hosts share.
    ///   - prepare: Makes a host ready: registers functions, runs files.
    /// - Throws: The errors of opening the database, of making the first host, and of `prepare`.
    public init(
        size: Int, spares: Int = 0, database: DatabaseSource, prepare: @escaping @Sendable (ScriptHost) async throws -> Void = { _ in }
    ) async throws {
        try await self.init(size: size, spares: spares, configuration: ScriptHost.Configuration(database: database), prepare: prepare)
    }

    /// Runs an operation with exclusive use of a host; waits until one is free.
    ///
    /// The operation runs where the caller does, so it may use values that are not `Sendable`.
    ///
    /// - Throws: Any error of the operation; `CancellationError` if the task is cancelled before its turn.
    nonisolated(nonsending) public func withHost<Result>(
        _ operation: nonisolated(nonsending) (ScriptHost) async throws -> Result
    ) async throws -> Result {
        let id = ObjectIdentifier(self)
        if let loan = Self.loans[id], loan.use.isGoingOn { return try await loan.perform(operation) }
        let loan = try await lend()
        do {
            let result = try await Self.lending(loan, of: id, isolation: #isolation, operation)
            await takeBack(loan)
            return result
        } catch {
            await takeBack(loan)
            throw error
        }
    }

    /// Runs an operation in which calls of the pool get the host that it has, isolated to an actor.
    private static func lending<Result>(
        _ loan: Loan, of id: ObjectIdentifier, isolation: isolated (any Actor)?,
        _ operation: nonisolated(nonsending) (ScriptHost) async throws -> Result
    ) async throws -> Result {
        try await $loans.withValue(loans.merging([id: loan]) { $1 }) {
            // Capturing the isolation keeps the closure, and so the operation, on the actor.
            _ = isolation
            return try await loan.perform(operation)
        }
    }

    private func lend() async throws -> Loan {
        let loan = Loan(host: try await takeHost())
        lent[ObjectIdentifier(loan.host)] = loan.host
        return loan
    }

    private func takeBack(_ loan: Loan) {
        loan.use.end()
        lent[ObjectIdentifier(loan.host)] = nil
        giveBack(loan.hasPassedLimit ? nil : loan.host)
    }

    /// Closes the pool and its hosts, once the calls that run have ended. Calls that wait for a host, and those to come, get a `LuaError` with
    /// code `usage`.
    ///
    /// Not to be called by a function that a script of the pool waits for.
    ///
    /// - Parameter limit: How long to wait for the calls; then they are cancelled.
    public func close(within limit: Duration = .seconds(5)) async {
        isClosed = true
        for item in waiting { item.continuation.resume(returning: true) }
        waiting = []
        let idle = free + spares
        (free, spares) = ([], [])
        for host in idle { await host.close() }
        let end = ContinuousClock.now + limit
        while !lent.isEmpty, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(5)) }
        for host in lent.values { await host.close() }
    }

    /// Calls a function as `ScriptHost.call(_:_:)` does, in any of the hosts.
    ///
    /// - Throws: As `ScriptHost.call(_:_:)`; also what making a host throws, if one is missing.
    public func call<each Argument: Encodable & Sendable, Result: Decodable & Sendable>(
        _ function: String, _ argument: repeat each Argument, as type: Result.Type = Result.self
    ) async throws -> Result {
        try await withHost { host in try await host.call(function, repeat each argument) }
    }

    /// Calls a function, and ignores its result.
    ///
    /// - Throws: The errors of `ScriptHost.call(_:_:)`, and of making a host if one is missing.
    public func call<each Argument: Encodable & Sendable>(_ function: String, _ argument: repeat each Argument) async throws {
        try await withHost { host in try await host.call(function, repeat each argument) }
    }

    // MARK: - Hosts

    private func takeHost() async throws -> ScriptHost {
        while true {
            guard !Task.isCancelled else { throw CancellationError() }
            guard !isClosed else { throw LuaError(.usage, "the pool is closed") }
            if let host = free.popLast() {
                if !host.hasCrashed { return host }
                missing += 1
            }
            guard missing == 0 else {
                missing -= 1
                defer { makeSpares() }
                if let host = takeSpare() { return host }
                do {
                    return try await makeHost()
                } catch {
                    giveBack(nil)
                    throw error
                }
            }
            try await wait()
        }
    }

    private func takeSpare() -> ScriptHost? {
        while let host = spares.popLast() { if !host.hasCrashed { return host } }
        return nil
    }

    /// Makes the spares that are missing, one after the other. One that cannot be made is tried again when a host is taken, and
    /// reported by that call if it still cannot.
    private func makeSpares() {
        guard spares.count < spareCount, !isMakingSpare else { return }
        isMakingSpare = true
        Task { [weak self, makeHost] in
            let host = try? await makeHost()
            await self?.add(spare: host)
        }
    }

    private func add(spare host: ScriptHost?) {
        isMakingSpare = false
        guard let host else { return }
        if isClosed {
            Task { await host.close() }
            return
        }
        spares.append(host)
        makeSpares()
    }

    /// How many hosts are ready to take the place of others.
    package var readySpareCount: Int { spares.count }

    /// Returns a host to the pool, or frees its place.
    private func giveBack(_ host: ScriptHost?) {
        if isClosed, let host { Task { await host.close() } }
        if let host { free.append(host) } else { missing += 1 }
        if !waiting.isEmpty { waiting.removeFirst().continuation.resume(returning: true) }
    }

    private func wait() async throws {
        count += 1
        let number = count
        let isFree = await withTaskCancellationHandler {
            await withCheckedContinuation { waiting.append((number, $0)) }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
        guard isFree else { throw CancellationError() }
        if isClosed { return }
        // Cancelled at the last moment: the next waiting call gets its turn.
        if Task.isCancelled, !waiting.isEmpty { waiting.removeFirst().continuation.resume(returning: true) }
    }

    private func giveUp(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(returning: false)
    }

}
