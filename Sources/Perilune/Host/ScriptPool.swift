internal import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua
internal import Synchronization

/// A pool of hosts that share a database and serve calls in parallel.
///
/// ```swift
/// let pool = try await ScriptPool(size: 4, database: .pool("shop.sqlite")) {
///     host in try await host.run(file: "orders.lua")
/// }
/// let total: Double = try await pool.call("orders.total", 42)
/// ```
///
/// Register modules and load scripts in the closure, which prepares each host. For anything other than function calls, use
/// ``withHost(_:)``.
///
/// Each call uses a host exclusively. Scripts share only the database, which allows parallel reads if it is a `DatabasePool`. A global
/// variable is visible only to calls that happen to use the same host. If a script exceeds a limit or its process ends, the pool replaces
/// the host. If a script calls a Swift function that calls the pool again, the nested call uses the script's host, which is waiting for the
/// result.
public actor ScriptPool {
    /// A host, and the version of the scripts with which it was prepared.
    private struct Member: Sendable {
        let host: ScriptHost
        let version: Int
    }

    /// A host that a call uses exclusively.
    private final class Loan: Sendable {
        /// `nil` after the call has ended. Tasks that the call started may outlive it, and inherit this object as a task-local value.
        private let host: Mutex<ScriptHost?>
        private let failure = Mutex<Discard?>(nil)

        init(_ host: ScriptHost) {
            self.host = Mutex(host)
        }

        /// The host; `nil` after the call has ended.
        var activeHost: ScriptHost? { host.withLock { $0 } }

        func end() { host.withLock { $0 = nil } }

        /// The reason why the pool must discard the host, for example because the call or a nested call has exceeded a limit.
        var discard: Discard? { failure.withLock { $0 } }

        nonisolated(nonsending) func perform<Result>(
            in host: ScriptHost, _ operation: nonisolated(nonsending) (ScriptHost) async throws -> Result
        ) async throws -> Result {
            do {
                return try await operation(host)
            } catch {
                if let reason = Self.reason(for: error) { failure.withLock { $0 = Discard(reason: reason, error: error) } }
                throw error
            }
        }

        private static func reason(for error: any Error) -> DiscardReason? {
            if error is CancellationError { return .cancelled }
            guard let code = (error as? LuaError)?.code else { return nil }
            if code == .crashed { return .crashed }
            if code == .cancelled { return .cancelled }
            return code.isLimit ? .limit : nil
        }
    }

    /// The hosts that the current task already uses, by pool.
    @TaskLocal private static var loans: [ObjectIdentifier: Loan] = [:]

    /// Creates a host that is not prepared yet.
    private let makeEmptyHost: @Sendable () async throws -> ScriptHost
    /// Prepares a host with the scripts of the current version.
    private var prepare: @Sendable (ScriptHost) async throws -> Void
    private var version = 0
    private let reloadLock = FIFOLock()

    /// The free hosts with the times at which they became free; the most recently used one is last.
    private var free: [(member: Member, since: ContinuousClock.Instant)] = []
    /// Hosts that are ready to replace a missing one.
    private var spares: [Member] = []
    private let spareCount: Int
    private var isMakingSpare = false
    /// The number of hosts that can still be created within the maximum size.
    private var missing: Int
    /// The number of hosts that are being created for calls.
    private var underConstruction = 0
    private let maximumWaiting: Int?
    private let waitLimit: Duration?
    private let idleLimit: Duration?
    private var queue = HostQueue()
    private var isClosed = false
    /// The hosts that calls are using.
    private var lent: [ObjectIdentifier: Member] = [:]
    /// The tasks that wait for hosts to be returned.
    private var returns = HostQueue()
    private var eviction: Task<Void, Never>?
    private var counts = Statistics()
    /// The reporter of run events, which all hosts share.
    nonisolated let runReporter: RunReporter

    /// Creates a pool and its first host; other hosts are created on demand.
    ///
    /// - Parameters:
    ///   - size: The maximum number of hosts that serve calls.
    ///   - spares: The number of additional hosts created in advance, in the background. A call that needs a new host, for example because
    ///     another host was discarded, receives a spare immediately.
    ///   - maximumWaiting: The maximum number of calls that wait for a host; `nil` for no maximum. A further call throws
    ///     ``ScriptPoolError``.
    ///   - waitLimit: The maximum time that a call waits for a host before it throws ``ScriptPoolError``; `nil` to wait until a host is
    ///     free. The time for creating a host does not count.
    ///   - idleLimit: The time after which an unused host is closed; `nil` to keep unused hosts. Closed hosts are replaced on demand.
    ///   - configuration: The configuration of each host. All hosts share the database, even an in-memory database.
    ///   - prepare: A closure that prepares a host: registers functions, runs files.
    /// - Throws: Errors of creating the first host, and of `prepare`.
    public init(
        size: Int, spares: Int = 0, maximumWaiting: Int? = nil, waitLimit: Duration? = nil, idleLimit: Duration? = nil,
        configuration: ScriptHost.Configuration = ScriptHost.Configuration(),
        prepare: @escaping @Sendable (ScriptHost) async throws -> Void = { _ in }
    ) async throws {
        precondition(size >= 1, "a pool needs at least one host")
        precondition(spares >= 0, "the number of spares cannot be negative")
        precondition(maximumWaiting ?? 0 >= 0, "the number of waiting calls cannot be negative")
        let reporter = RunReporter(observer: configuration.runObserver)
        var configuration = configuration
        configuration.runReporter = reporter
        runReporter = reporter
        let container = DependencyContainer.current
        let environment = try await ScriptEnvironment.resolve(in: container)
        if let isolation = configuration.isolation.process {
            let database = try await configuration.isolatedDatabase(in: container)
            guard size + spares == 1 || database.path != nil else {
                throw LuaError(
                    .usage, "hosts whose scripts run in processes of their own share a database only if it is in a file")
            }
            makeEmptyHost = { [configuration] in
                try await ScriptHost(isolation, configuration, database: database, environment: environment)
            }
        } else {
            let database = try await configuration.openDatabase(in: container)
            makeEmptyHost = { [configuration] in try ScriptHost(configuration, database: database, environment: environment) }
        }
        self.prepare = prepare
        spareCount = spares
        (self.maximumWaiting, self.waitLimit, self.idleLimit) = (maximumWaiting, waitLimit, idleLimit)
        missing = size - 1
        addFree(try await makeMember())
        makeSpares()
    }

    /// Creates a pool for untrusted scripts, with a given database, and creates its first host.
    ///
    /// - Parameters:
    ///   - size: The maximum number of hosts that serve calls.
    ///   - spares: The number of additional hosts created in advance, in the background.
    ///   - database: The database that all hosts share.
    ///   - prepare: A closure that prepares a host: registers functions, runs files.
    /// - Throws: Errors of opening the database, of creating the first host, and of `prepare`.
    public init(
        size: Int, spares: Int = 0, database: DatabaseSource,
        prepare: @escaping @Sendable (ScriptHost) async throws -> Void = { _ in }
    ) async throws {
        try await self.init(
            size: size, spares: spares, configuration: ScriptHost.Configuration(database: database), prepare: prepare)
    }

    /// Waits for a free host, and runs an operation with exclusive use of this host.
    ///
    /// The operation runs in the caller's isolation, so it may use values that are not `Sendable`.
    ///
    /// - Throws: Any error of the operation; ``ScriptPoolError`` if no host becomes free in time; errors of creating a host;
    ///   `CancellationError` if the task is cancelled while it waits.
    nonisolated(nonsending) public func withHost<Result>(
        _ operation: nonisolated(nonsending) (ScriptHost) async throws -> Result
    ) async throws -> Result {
        let id = ObjectIdentifier(self)
        if let loan = Self.loans[id], let host = loan.activeHost { return try await loan.perform(in: host, operation) }
        let (member, loan) = try await lend()
        do {
            let result = try await Self.lending(loan, of: id, member.host, isolation: #isolation, operation)
            await takeBack(member, loan)
            return result
        } catch {
            await takeBack(member, loan)
            throw error
        }
    }

    /// Runs an operation on the caller's actor. Nested calls of the pool use the same host.
    private static func lending<Result>(
        _ loan: Loan, of id: ObjectIdentifier, _ host: ScriptHost, isolation: isolated (any Actor)?,
        _ operation: nonisolated(nonsending) (ScriptHost) async throws -> Result
    ) async throws -> Result {
        try await $loans.withValue(loans.merging([id: loan]) { $1 }) {
            // The captured isolation keeps the closure, and thus the operation, on the actor.
            _ = isolation
            return try await loan.perform(in: host, operation)
        }
    }

    private func lend() async throws -> (Member, Loan) {
        let member = try await takeHost()
        counts.served += 1
        lent[ObjectIdentifier(member.host)] = member
        return (member, Loan(member.host))
    }

    private func takeBack(_ member: Member, _ loan: Loan) {
        loan.end()
        lent[ObjectIdentifier(member.host)] = nil
        giveBack(member, loan.discard)
    }

    /// Closes the pool and its hosts after the active calls have ended. Waiting and later calls throw a ``ScriptPoolError`` with code
    /// ``ScriptPoolError/Code/closed``.
    ///
    /// Must not be called by a function that a script of the pool waits for.
    ///
    /// - Parameter limit: The time to wait for active calls. Calls that are still running afterwards are cancelled.
    public func close(within limit: Duration = .seconds(5)) async {
        isClosed = true
        queue.resumeAll()
        eviction?.cancel()
        let idle = free.map(\.member) + spares
        (free, spares) = ([], [])
        for member in idle { await member.host.close() }
        await waitForReturns(within: limit) { lent.isEmpty }
        for member in lent.values { await member.host.close() }
        runReporter.end()
    }

    /// Replaces the scripts of the pool with a new version. Later calls use new hosts, prepared by the new `prepare`.
    ///
    /// The pool first creates a new host. If that fails, the pool continues with the previous version. Active calls finish on their hosts
    /// of the previous version. Only one reload runs at a time.
    ///
    /// Must not be called by a function that a script of the pool waits for.
    ///
    /// - Parameters:
    ///   - limit: The time to wait for active calls. Calls that are still running afterwards are cancelled. `nil` to wait until all have
    ///     ended.
    ///   - prepare: A closure that prepares a host of the new version.
    /// - Throws: Errors of creating a host, and of `prepare`; ``ScriptPoolError`` if the pool is closed; `CancellationError` if the task is
    ///   cancelled before the pool switches to the new version.
    public func reload(
        endingCallsWithin limit: Duration? = nil, prepare: @escaping @Sendable (ScriptHost) async throws -> Void
    ) async throws {
        guard await reloadLock.acquire() else { throw CancellationError() }
        defer { reloadLock.release() }
        try requireOpen()
        let host = try await makeEmptyHost()
        do {
            try await prepare(host)
            try Task.checkCancellation()
            try requireOpen()
        } catch {
            await host.close()
            throw error
        }
        counts.made += 1
        version += 1
        self.prepare = prepare
        let former = free.map(\.member) + spares
        missing += free.count
        (free, spares) = ([], [])
        let member = Member(host: host, version: version)
        if missing > 0 {
            missing -= 1
            addFree(member)
        } else {
            spares.append(member)
        }
        while missing > 0, queue.resumeFirst() {}
        makeSpares()
        for member in former { discard(member, Discard(reason: .reloaded, error: nil)) }
        let current = version
        await waitForReturns(within: limit) { lent.values.allSatisfy { $0.version >= current } }
        for member in lent.values where member.version < current { await member.host.close() }
    }

    /// The current numbers of the pool's hosts and waiting calls, and totals since the pool was created.
    public var statistics: Statistics {
        var statistics = counts
        statistics.busy = lent.count + underConstruction
        statistics.idle = free.count
        statistics.spares = spares.count
        statistics.waiting = queue.count
        return statistics
    }

    /// Calls a script function in one of the hosts, and decodes its first result. See `ScriptHost.call(_:_:)`.
    ///
    /// - Throws: The errors of `ScriptHost.call(_:_:)` and ``withHost(_:)``.
    public func call<each Argument: Encodable & Sendable, Result: Decodable & Sendable>(
        _ function: String, _ argument: repeat each Argument, as type: Result.Type = Result.self
    ) async throws -> Result {
        try await withHost { host in try await host.call(function, repeat each argument) }
    }

    /// Calls a script function in one of the hosts, and ignores its result.
    ///
    /// - Throws: The errors of `ScriptHost.call(_:_:)` and ``withHost(_:)``.
    public func call<each Argument: Encodable & Sendable>(_ function: String, _ argument: repeat each Argument) async throws {
        try await withHost { host in try await host.call(function, repeat each argument) }
    }

    // MARK: - Hosts

    private func requireOpen() throws {
        if isClosed { throw refusal(.closed, "the pool is closed") }
    }

    private func refusal(_ code: ScriptPoolError.Code, _ message: String) -> ScriptPoolError {
        counts.refused[code, default: 0] += 1
        return ScriptPoolError(code, message)
    }

    /// Creates and prepares a host of the current version.
    private func makeMember() async throws -> Member {
        let (version, prepare) = (version, prepare)
        let host = try await makeEmptyHost()
        do {
            try await prepare(host)
        } catch {
            await host.close()
            throw error
        }
        counts.made += 1
        return Member(host: host, version: version)
    }

    private func takeHost() async throws -> Member {
        var start: ContinuousClock.Instant?
        while true {
            guard !Task.isCancelled else { throw CancellationError() }
            try requireOpen()
            if let member = takeFree() {
                noteWait(since: start)
                return member
            }
            if missing > 0 {
                noteWait(since: start)
                if let member = try await makeMissing() { return member }
                continue
            }
            if start == nil {
                if let maximumWaiting, queue.count >= maximumWaiting {
                    throw refusal(
                        .tooManyWaiting, "all hosts of the pool are busy, and \(queue.count) calls wait for one already")
                }
                start = .now
            }
            try await wait(since: start ?? .now)
        }
    }

    private func noteWait(since start: ContinuousClock.Instant?) {
        if let start { counts.longestWait = max(counts.longestWait, .now - start) }
    }

    private func takeFree() -> Member? {
        while let (member, _) = free.popLast() {
            if !member.host.hasCrashed { return member }
            missing += 1
            discard(member, Discard(reason: .crashed, error: nil))
        }
        return nil
    }

    private func takeSpare() -> Member? {
        while let member = spares.popLast() {
            if !member.host.hasCrashed { return member }
            discard(member, Discard(reason: .crashed, error: nil))
        }
        return nil
    }

    /// Returns a spare or a newly created host; `nil` if the pool was reloaded or closed in the meantime.
    private func makeMissing() async throws -> Member? {
        missing -= 1
        defer { makeSpares() }
        if let member = takeSpare() { return member }
        underConstruction += 1
        defer { underConstruction -= 1 }
        do {
            let member = try await makeMember()
            if member.version == version, !isClosed { return member }
            discard(member, Discard(reason: .reloaded, error: nil))
            missing += 1
            return nil
        } catch {
            missing += 1
            queue.resumeFirst()
            throw error
        }
    }

    /// Creates the missing spares in the background, one at a time. If one cannot be created, the pool tries again when a call needs a new
    /// host, and that call reports a persistent error.
    private func makeSpares() {
        guard spares.count < spareCount, !isMakingSpare, !isClosed else { return }
        isMakingSpare = true
        Task { [weak self] in
            let member = try? await self?.makeMember()
            await self?.add(spare: member)
        }
    }

    private func add(spare member: Member?) {
        isMakingSpare = false
        guard let member else { return }
        guard !isClosed, member.version == version else {
            Task { await member.host.close() }
            return makeSpares()
        }
        spares.append(member)
        makeSpares()
    }

    /// Returns a host to the pool after a call, or discards it to make room for a new one.
    private func giveBack(_ member: Member, _ failure: Discard?) {
        returns.resumeAll()
        if isClosed {
            Task { await member.host.close() }
            return
        }
        if let failure = failure ?? (member.version == version ? nil : Discard(reason: .reloaded, error: nil)) {
            missing += 1
            discard(member, failure)
        } else {
            addFree(member)
        }
        queue.resumeFirst()
    }

    /// Closes a host that is no longer part of the pool.
    private func discard(_ member: Member, _ discard: Discard) {
        counts.discarded[discard.reason, default: 0] += 1
        counts.lastDiscard = discard
        Task { await member.host.close() }
    }

    // MARK: - Idle hosts

    private func addFree(_ member: Member) {
        free.append((member, .now))
        guard let idleLimit, eviction == nil else { return }
        eviction = Task { [weak self] in
            var next: ContinuousClock.Instant? = .now + idleLimit
            while let instant = next {
                do { try await Task.sleep(until: instant, clock: .continuous) } catch { return }
                next = await self?.evictIdleHosts(limit: idleLimit)
            }
        }
    }

    /// Closes the hosts that have been unused for longer than the limit. Returns the time at which the next host reaches the limit; `nil`
    /// if no host is free.
    private func evictIdleHosts(limit: Duration) -> ContinuousClock.Instant? {
        let now = ContinuousClock.now
        while let first = free.first, first.since + limit <= now {
            free.removeFirst()
            missing += 1
            discard(first.member, Discard(reason: .idle, error: nil))
        }
        guard let first = free.first else {
            eviction = nil
            return nil
        }
        return first.since + limit
    }

    // MARK: - Waiting

    private func wait(since start: ContinuousClock.Instant) async throws {
        let number = queue.makeNumber()
        let timer = waitLimit.map { limit in
            Task { [weak self] in
                try await Task.sleep(until: start + limit, clock: .continuous)
                await self?.endWait(number, .tooLong)
            }
        }
        defer { timer?.cancel() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { queue.add($0, number: number) }
        } onCancel: {
            Task { await self.endWait(number, .cancelled) }
        }
        switch outcome {
        case .cancelled: throw CancellationError()
        case .tooLong:
            throw refusal(.waitedTooLong, "all hosts of the pool have been busy for \(waitLimit ?? .zero)")
        case .turn:
            // If the task was cancelled at the same time, the host goes to the next waiting call.
            if Task.isCancelled, !isClosed { queue.resumeFirst() }
        }
    }

    private func endWait(_ number: Int, _ outcome: HostQueue.Outcome) {
        queue.end(number, outcome)
    }

    /// Waits until a condition is true or a timeout expires. The condition is evaluated whenever a call returns a host.
    private func waitForReturns(within limit: Duration?, until condition: () -> Bool) async {
        let end = limit.map { ContinuousClock.now + $0 }
        while !condition() {
            if let end, end <= .now { return }
            let number = returns.makeNumber()
            let timer = end.map { end in
                Task { [weak self] in
                    try await Task.sleep(until: end, clock: .continuous)
                    await self?.endReturnWait(number)
                }
            }
            _ = await withCheckedContinuation { returns.add($0, number: number) }
            timer?.cancel()
        }
    }

    private func endReturnWait(_ number: Int) {
        returns.end(number, .tooLong)
    }
}
