internal import Foundation
internal import PeriluneDependencies
internal import PeriluneLua

/// The event loop of a state: the sources that its scripts have started, and the due calls of their functions.
///
/// The host drives it: ``LoopQueue`` wakes the host when something is due, and the host calls ``startDue(_:)`` on the thread of the
/// state. Functions are called when nothing else runs in the state: between scripts and while a script waits for an asynchronous
/// function, but never inside a database access. Each call is a run with its own limits.
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
    /// The scope of the observer being called inside a run of another scope.
    var enteredScope: Int?

    /// Identifies the database in memory that several states share; `nil` if each state has its own.
    package var memoryName: String?
    /// Whether reported errors are handled like unhandled ones.
    package var takesReports = false
    /// The number of active runs of scripts and sources.
    private(set) var runs = 0
    /// The journal of the run that uses the thread, if one is kept.
    weak var journal: StatementJournal?
    let waits = LoopWaits()
    private var idleWaits = 0
    /// The group of loops that share a thread and a clock; `nil` for a standalone loop.
    package internal(set) weak var group: LoopGroup?

    /// The handlers of errors that sources do not handle, by scope.
    var errorHandlers: [Int: LuaFunction] = [:]
    /// A closure that creates the watch of a call when it begins, for a host that reports its runs.
    package var watch: ((_ kind: String, _ name: String?) -> LoopCallWatch?)?
    /// The unhandled errors, until the host takes them.
    private var failures: [any Error] = []

    /// The core of the state. It exists as long as something waits, unlike the state object. Anything that is not protected by a
    /// lock belongs to its thread.
    ///
    /// Functions of the state retain the loop; this cycle is broken when the state is closed, at the latest when ``LuaState`` is
    /// deallocated. The reference is not `weak`, because Swift counts references to such objects in a slow way, which takes half
    /// the time of a Swift call.
    private var core: LuaCore?

    package init(environment: ScriptEnvironment) {
        timers = LoopTimers(clock: LoopClock(environment.date))
    }

    /// Attaches the loop to a state.
    func join(_ state: LuaState) { core = state.core }

    /// Sets the thread of the state.
    func setThread(_ thread: LuaThread) { core?.thread = thread }

    /// Crashes debug builds if this is not the thread of the state.
    func assertThread() { core?.assertThread() }

    // MARK: - Sources

    /// The maximum number of sources. Each takes up to 20 KB in Swift, which the limits of a script do not count.
    private var greatestSourceCount: Int {
        guard let limit = core?.limits.memoryInBytes else { return 10_000 }
        return min(10_000, max(100, limit / (32 << 10)))
    }

    /// Adds a source.
    ///
    /// - Parameters:
    ///   - kind: The kind in messages.
    ///   - keepsAlive: Whether the script waits for the source before it ends.
    ///   - isOnce: Whether it ends with its first call.
    ///   - scope: The scope; by default the current call's.
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

    /// Whether there are any sources.
    var hasSources: Bool { !sources.isEmpty }

    /// Ends a source. A running call continues; no further call starts.
    package func end(_ source: LoopSource) {
        guard !source.isEnded else { return }
        source.isEnded = true
        sources[source.id] = nil
        source.onEnd?()
        source.onEnd = nil
        if group == nil { queue.wake() }
    }

    /// Ends all sources and running calls.
    package func endAll() {
        for source in sources.values.sorted(by: { $0.id < $1.id }) {
            source.task?.cancel()
            end(source)
        }
        failures = []
    }

    /// Ends everything as if the process were killed: the state calls no further function, not even to handle an error.
    package func kill() {
        isKilled = true
        endAll()
    }

    // MARK: - Calling

    /// Starts due calls with a closure that runs ``call(_:)`` in a new task on the thread of the state. If the task is made later, the
    /// closure sets it then.
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
            source.task = start(source)
        }
        if group == nil { letTimePass() }
    }

    /// Runs the call of a source.
    nonisolated(nonsending) package func call(_ source: LoopSource) async {
        assertThread()
        if !source.isEnded, !isKilled {
            source.hasBegun = true
            await callBody(of: source)
        }
        runs -= 1
        source.isCalling = false
        source.task = nil
        if source.isOnce { end(source) }
        if source.isDueAgain {
            source.isDueAgain = false
            source.signal()
        }
        didEndRun()
    }

    /// Inherits the isolation of the caller, which the closure would lose otherwise.
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

    /// Inherits the isolation of the caller, which the closure would lose otherwise.
    private func callMeasured(_ source: LoopSource, _ meter: LuaMeter, isolation: isolated (any Actor)? = #isolation) async throws
    {
        try await LuaMeter.$current.withValue(meter) {
            _ = isolation
            try await source.body(isCountingOn: source.isCountingOn)
        }
    }

    /// Passes an error to its handler.
    nonisolated(nonsending) private func settle(_ error: any Error, of source: LoopSource) async {
        if isKilled { return }
        // A source that was ended during its call is already stopping; the starter of a task waits for its end.
        let wasToldToStop = source.isEnded && (error as? LuaError)?.code == .cancelled
        if wasToldToStop, source.run == nil { return }
        var error = error
        source.journal?.traceback = (error as? LuaError)?.traceback
        // No handler may catch the end of the program.
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
            // It was interrupted with its scope or cancelled.
            if wasToldToStop { return }
            if !isLive(source.scope), (error as? LuaError)?.kind == "cancelled" { return }
        }
        failures.append(error)
    }

    /// Returns the handler of the scope, or else the one set last.
    private func errorHandler(for scope: Int) -> LuaFunction? {
        errorHandlers[scope] ?? errorHandlers.max { $0.key < $1.key }?.value
    }

    /// Reports an error that ends nothing to the handler of the script or to the host.
    ///
    /// - Returns: Whether there is a receiver.
    func report(_ value: LuaValue, _ error: @autoclosure () -> LuaError, in scope: Int) throws -> Bool {
        if isLive(scope), let handler = errorHandler(for: scope) {
            try addSource("task", isOnce: true, scope: scope, .calling(handler, [value])).signal()
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

    /// Counts a new run of a script.
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

    /// Whether nothing is running, and nothing will run without external events.
    package var isIdle: Bool {
        runs == 0 && queue.isEmpty && !sources.values.contains(where: \.keepsAlive)
    }

    /// Waits for a change; returns `false` if the task is cancelled.
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

    /// Wakes the calls that wait for a change.
    package func announceChange() {
        parking.release(.change)
    }

    // MARK: - Waiting

    /// Waits, for a script, which may be ended in the meantime.
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

    /// Waits, for a script, until a place is released.
    nonisolated(nonsending) package func wait(at place: LoopParking.Place) async throws {
        _ = try liveCore()
        try await parked { resume in
            let id = parking.add(at: place, resume)
            letTimePass()
            return { [parking] in parking.remove(id, at: place) }
        }
    }

    /// Waits, for a script, until a closure is called.
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

    /// Returns the core before a script waits. Throws in an ended scope, and ends a script that has already handled this error.
    private func liveCore() throws -> LuaCore {
        let core = try requireCore()
        if !isLive(currentScope) { core.cancelWaitingRun() }
        try requireLive(currentScope)
        return core
    }

    /// Registers a run of a script that starts to wait. The clock may advance until the wait ends.
    package func beginParking() -> LoopWaits.Wait {
        assertThread()
        return waits.beginParking()
    }

    /// Whether all runs are waiting and nothing is due.
    var isQuiet: Bool { queue.isEmpty && runs == waits.counts.all }

    /// Advances a manual clock to the next timer when everything waits for it.
    private func letTimePass() {
        if let group { return group.proceed() }
        guard case .manual(let clock) = timers.clock, isQuiet, waits.counts.sleeping > 0 || idleWaits > 0,
            let next = timers.nextDeadline
        else { return }
        clock.set(Date(timeIntervalSince1970: max(next, clock.now.timeIntervalSince1970)))
    }
}
