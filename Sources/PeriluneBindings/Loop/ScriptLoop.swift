internal import Foundation
internal import PeriluneDependencies
package import PeriluneLua

/// The event loop of a state, which manages the sources that scripts have started and calls their functions.
///
/// The host drives the loop: ``LoopQueue`` wakes the host when a source is due, and the host calls ``startDue(_:)`` on the state's
/// thread. Functions are called between scripts, and while a script waits for an asynchronous function, but never inside a database
/// access. Each call is a separate run with separate limits.
package final class ScriptLoop {
    package let queue = LoopQueue()
    let timers: LoopTimers
    package let parking = LoopParking()
    package let signals = LoopSignals()
    private(set) var sources: [Int: LoopSource] = [:]
    private var count = 0
    private var isKilled = false
    var scopeCount = 0
    var liveScopes: Set<Int> = []
    /// The scope of the observer that is being called inside a run of another scope.
    var enteredScope: Int?

    /// Identifies the in-memory database that several states share; `nil` if it is not shared.
    package var memoryName: String?
    /// Whether the host also receives errors that were only reported.
    package var takesReports = false
    /// Receives the errors that were only reported, with a description of the failure, in place of the host.
    package var onReport: ((_ error: LuaError, _ what: String) -> Void)?
    /// The number of active runs of scripts and sources.
    private(set) var runs = 0
    /// The number of active calls of sources in each scope that has any.
    private(set) var callCounts: [Int: Int] = [:]
    /// The journal of the run that is executing, if it has one.
    weak var journal: StatementJournal?
    let waits = LoopWaits()
    private var idleWaits = 0
    /// The number of changes so far, as announced to the callers of ``change()``.
    package private(set) var changeCount = 0
    /// The group of loops that share a thread and a clock; `nil` for a standalone loop.
    package internal(set) weak var group: LoopGroup?

    /// The handlers for errors that sources do not handle themselves, by scope.
    var errorHandlers: [Int: LuaFunction] = [:]
    /// Creates a watch when a call begins. Set by hosts that report their runs.
    package var watch: ((_ kind: String, _ name: String?) -> LoopCallWatch?)?
    /// The unhandled errors that the host has not taken yet.
    private var failures: [any Error] = []

    /// The core of the state. Unlike the state object, it exists as long as a run waits. Members that no lock protects belong to
    /// its thread.
    ///
    /// Functions in the state retain the loop. Closing the state breaks this cycle, at the latest when ``LuaState`` is deallocated.
    /// The reference is not `weak`, because weak references make Swift's reference counting of the core slow, which would take half
    /// the time of a call into Swift.
    private var core: LuaCore?

    package init(environment: ScriptEnvironment) {
        timers = LoopTimers(clock: LoopClock(environment.date))
    }

    func join(_ state: LuaState) { core = state.core }

    func setThread(_ thread: LuaThread) { core?.thread = thread }

    /// Traps in debug builds if the caller is not on the state's thread.
    func assertThread() { core?.assertThread() }

    // MARK: - Sources

    /// The maximum number of sources. A source takes up to 20 KB of Swift memory, which does not count toward the limits of a
    /// script.
    private var greatestSourceCount: Int {
        guard let limit = core?.limits.memoryInBytes else { return 10_000 }
        return min(10_000, max(100, limit / (32 << 10)))
    }

    /// Adds a source.
    ///
    /// - Parameters:
    ///   - kind: The kind of the source in error messages.
    ///   - keepsAlive: Whether the script waits for the source before it ends.
    ///   - isOnce: Whether the source ends after its first call.
    ///   - scope: The scope; by default, the scope of the current call.
    /// - Throws: `BindingError` if there are too many sources or the scope has ended.
    package func addSource(
        _ kind: String, keepsAlive: Bool = true, isOnce: Bool = false, scope: Int? = nil, _ body: LoopSource.Body
    ) throws -> LoopSource {
        assertThread()
        let scope = scope ?? currentScope
        try requireLive(scope)
        guard sources.count < greatestSourceCount else {
            throw BindingError("limit", "\(sources.count) timers, tasks and observations already exist; cancel some first")
        }
        count += 1
        let source = LoopSource(
            id: count, kind: kind, keepsAlive: keepsAlive, isOnce: isOnce, scope: scope, queue: queue, body: body)
        if case .calling = body, let carrier = LoopCarrier.current {
            carrier.open()
            source.carrier = carrier
        }
        sources[count] = source
        return source
    }

    package func source(_ id: Int) -> LoopSource? { sources[id] }

    /// Whether the loop has any sources.
    var hasSources: Bool { !sources.isEmpty }

    /// Ends a source. A running call continues, but no further call starts.
    package func end(_ source: LoopSource) {
        guard !source.isEnded else { return }
        source.isEnded = true
        sources[source.id] = nil
        queue.forget(source.id)
        source.onEnd?()
        source.onEnd = nil
        if group == nil { queue.wake() }
    }

    /// Ends all sources and cancels their running calls.
    package func endAll() {
        for source in sources.values.sorted(by: { $0.id < $1.id }) {
            source.task?.cancel()
            end(source)
        }
        failures = []
    }

    /// Ends everything like a killed process: no further function is called, not even an error handler.
    package func kill() {
        isKilled = true
        endAll()
    }

    // MARK: - Calling

    /// Starts the calls of due sources. The closure creates a task on the state's thread that runs ``call(_:)``, and returns the
    /// task. If the closure creates the task later, it returns `nil` and sets ``LoopSource/task`` itself.
    package func startDue(_ start: (LoopSource) -> Task<Void, Never>?) {
        assertThread()
        for id in queue.take() {
            guard let source = sources[id] else { continue }
            if source.isCalling {
                source.isDueAgain = true
                continue
            }
            source.isCalling = true
            runs += 1
            callCounts[source.scope, default: 0] += 1
            source.task = start(source)
        }
        if group == nil { letTimePass() }
    }

    /// Calls the function of a source.
    nonisolated(nonsending) package func call(_ source: LoopSource) async {
        assertThread()
        if !source.isEnded, !isKilled {
            source.hasBegun = true
            await callBody(of: source)
        }
        runs -= 1
        callCounts[source.scope] = callCounts[source.scope].flatMap { $0 > 1 ? $0 - 1 : nil }
        source.isCalling = false
        source.task = nil
        if source.isOnce { end(source) }
        if source.isDueAgain {
            source.isDueAgain = false
            source.signal()
        }
        didEndRun()
    }

    /// The isolation parameter keeps the closure on the caller's actor.
    private func callBody(of source: LoopSource, isolation: isolated (any Actor)? = #isolation) async {
        enteredScope = nil
        await LoopScope.$current.withValue(source.scope) {
            _ = isolation
            do {
                assertThread()
                try await callWatched(source)
            } catch {
                await settle(error, of: source)
            }
        }
    }

    nonisolated(nonsending) private func callWatched(_ source: LoopSource) async throws {
        guard let watch = source.body.isCalling ? watch?(source.kind, source.name) : nil else {
            return try await source.body(isCountingOn: source.isCountingOn)
        }
        do {
            try await callMeasured(source, watch.meter)
            watch.didEnd(nil)
        } catch {
            watch.didEnd(error)
            throw error
        }
    }

    /// The isolation parameter keeps the closure on the caller's actor.
    private func callMeasured(_ source: LoopSource, _ meter: LuaMeter, isolation: isolated (any Actor)? = #isolation) async throws
    {
        try await LuaMeter.$current.withValue(meter) {
            _ = isolation
            try await source.body(isCountingOn: source.isCountingOn)
        }
    }

    /// Passes an error of a source to the responsible handler.
    nonisolated(nonsending) private func settle(_ error: any Error, of source: LoopSource) async {
        if isKilled { return }
        // A source that was ended during its call was asked to stop, so its cancellation is not an error. The starter of a task
        // still waits for the outcome.
        let wasToldToStop = source.isEnded && (error as? LuaError)?.code == .cancelled
        if wasToldToStop, source.run == nil { return }
        var error = error
        source.journal?.traceback = (error as? LuaError)?.traceback
        // Handlers cannot catch `os.exit`.
        if (error as? LuaError)?.code != .exit {
            for handler in [source.onError, wasToldToStop ? nil : errorHandler(for: source.scope)].compactMap({ $0 }) {
                do {
                    try await handler.callAsync(handling: error, isCountingOn: source.isCountingOn)
                    return
                } catch let raised {
                    error = raised
                }
                // The state was killed while its handler waited for another call.
                if isKilled { return }
            }
            // The call was cancelled, or it was interrupted because its scope ended.
            if wasToldToStop { return }
            if !isLive(source.scope), (error as? LuaError)?.kind == "cancelled" { return }
        }
        failures.append(error)
    }

    /// Returns the error handler of the scope, or else the handler of the newest scope that has one.
    private func errorHandler(for scope: Int) -> LuaFunction? {
        errorHandlers[scope] ?? errorHandlers.max { $0.key < $1.key }?.value
    }

    /// Reports an error that does not end a run to the script's error handler, or to the host.
    ///
    /// - Parameter what: A description of the failure.
    /// - Returns: Whether the script or the host receives the error.
    func report(_ value: LuaValue, _ error: @autoclosure () -> LuaError, of what: String, in scope: Int) throws -> Bool {
        guard !isKilled else { return true }
        if isLive(scope), let handler = errorHandler(for: scope) {
            try addSource("task", isOnce: true, scope: scope, .calling(handler, [value])).signal()
            return true
        }
        if let onReport {
            onReport(error(), what)
            return true
        }
        guard takesReports else { return false }
        failures.append(error())
        queue.wake()
        return true
    }

    /// Removes and returns the first unhandled error.
    package func takeFailure() -> (any Error)? {
        failures.isEmpty ? nil : failures.removeFirst()
    }

    package var hasFailed: Bool { !failures.isEmpty }

    // MARK: - Runs

    /// Registers a new run of a script.
    package func beginRun() {
        assertThread()
        runs += 1
        enteredScope = nil
    }

    package func endRun() {
        assertThread()
        runs -= 1
        didEndRun()
    }

    private func didEndRun() {
        if let group { group.proceed() } else { queue.wake() }
    }

    /// Whether nothing is running or due, and no source keeps the script alive.
    package var isIdle: Bool {
        runs == 0 && queue.isEmpty && !sources.values.contains(where: \.keepsAlive)
    }

    /// Waits for a change of the loop. Returns `false` if the task is cancelled.
    nonisolated(nonsending) package func change() async -> Bool {
        assertThread()
        idleWaits += 1
        defer { idleWaits -= 1 }
        letTimePass()
        do {
            try await parking.park(at: .change)
            return true
        } catch {
            return false
        }
    }

    /// Resumes the callers of ``change()``.
    package func announceChange() {
        changeCount += 1
        parking.release(.change)
    }

    // MARK: - Waiting

    /// Suspends a script for some time. Limits and cancellation can end the wait.
    nonisolated(nonsending) func sleep(seconds: Double) async throws {
        let core = try liveCore()
        guard case .manual = timers.clock else {
            return try await core.waiting { try await Task.sleep(for: .seconds(seconds)) }
        }
        let wait = waits.beginSleeping()
        try await core.waiting(didEnd: wait.end) { resume in
            let timer = timers.add(after: seconds, resume)
            letTimePass()
            return { [timers] in timers.remove(timer) }
        }
    }

    /// Suspends a script until a place is released.
    nonisolated(nonsending) package func wait(at place: LoopParking.Place) async throws {
        _ = try liveCore()
        try await parked { resume in
            let id = parking.add(at: place, resume)
            letTimePass()
            return { [parking] in parking.remove(id, at: place) }
        }
    }

    /// Suspends a script until a closure is called.
    ///
    /// - Parameter begin: See ``LuaCore/waiting(didEnd:until:)``.
    nonisolated(nonsending) func parked(
        until begin: (_ resume: @escaping @Sendable () -> Void) -> () -> Void
    ) async throws {
        let core = try requireCore()
        let wait = waits.beginParking()
        try await core.waiting(didEnd: wait.end, until: begin)
    }

    private func requireCore() throws -> LuaCore {
        guard let core else { throw LuaError(.usage, "the Lua state is closed") }
        return core
    }

    /// Returns the core for a script that wants to wait. In an ended scope, throws and cancels the run, which ends even a script
    /// that catches the error.
    private func liveCore() throws -> LuaCore {
        let core = try requireCore()
        if !isLive(currentScope) { core.cancelWaitingRun() }
        try requireLive(currentScope)
        return core
    }

    /// Registers the wait of a script's run. Until the wait ends, a manual clock may advance.
    package func beginParking() -> LoopWaits.Wait {
        assertThread()
        return waits.beginParking()
    }

    /// Whether all runs are waiting and nothing is due.
    var isQuiet: Bool { queue.isEmpty && runs == waits.counts.all }

    /// Advances a manual clock to the next timer if all runs are waiting and at least one of them sleeps.
    private func letTimePass() {
        if let group { return group.proceed() }
        guard case .manual(let clock) = timers.clock, isQuiet, waits.counts.sleeping > 0 || idleWaits > 0,
            let next = timers.nextDeadline
        else { return }
        clock.set(Date(timeIntervalSince1970: max(next, clock.now.timeIntervalSince1970)))
    }
}
