internal import Foundation
internal import PeriluneDependencies
internal import PeriluneLua

/// What the scripts of a state wait for, and the calls of their functions that are due.
///
/// The host drives it: ``LoopQueue`` wakes it when something is due, and calls ``startDue(_:)`` on the thread of the state.
/// Functions are called when nothing runs in the state: between two scripts, and while a script waits for an asynchronous
/// function; never inside an access to a database. Each call is a run with limits of its own.
package final class ScriptLoop {
    package let queue = LoopQueue()
    let timers: LoopTimers
    package let parking = LoopParking()
    package let signals = LoopSignals()
    private(set) var sources: [Int: LoopSource] = [:]
    private var count = 0
    var scopeCount = 0
    var liveScopes: Set<Int> = []
    /// That of the observer which is called now, inside of a run of another scope.
    var enteredScope: Int?

    /// Whether errors that are reported go where unhandled ones go.
    package var takesReports = false
    /// Runs of scripts and of sources that go on.
    private(set) var runs = 0
    /// The journal of the run that has the thread, if one is kept.
    weak var journal: StatementJournal?
    let waits = LoopWaits()
    private var idleWaits = 0
    /// Those with which it shares a thread and a clock; `nil`: it has them for itself.
    package internal(set) weak var group: LoopGroup?

    /// What gets the errors that no source has a function for, by the scope.
    var errorHandlers: [Int: LuaFunction] = [:]
    /// Unhandled errors, until they are taken.
    private var failures: [any Error] = []

    /// The core of its state: that is there as long as something waits, which the state itself need not be. What is not shared under a
    /// lock belongs to its thread.
    ///
    /// Functions of the state hold the loop: closing the state, which the end of ``LuaState`` does, ends the circle. Not `weak`: Swift counts
    /// references to what has a weak one by a slow way, which takes half the time of a call of Swift.
    private var core: LuaCore?

    package init(environment: ScriptEnvironment) {
        timers = LoopTimers(clock: LoopClock(environment.date))
    }

    /// Becomes the loop of a state.
    func join(_ state: LuaState) { core = state.core }

    /// Says to which thread the state belongs.
    func setThread(_ thread: LuaThread) { core?.thread = thread }

    /// Ends a debug build if this is not the thread of the state.
    func assertThread() { core?.assertThread() }

    // MARK: - Sources

    /// How many there may be: what Swift keeps for them, up to some 20 KB, is not counted by the limits of a script.
    private var greatestSourceCount: Int {
        guard let limit = core?.limits.memoryInBytes else { return 10_000 }
        return min(10_000, max(100, limit / (32 << 10)))
    }

    /// Adds a source.
    ///
    /// - Parameters:
    ///   - kind: What people call it.
    ///   - keepsAlive: Whether a script that has nothing else to do waits for it.
    ///   - isOnce: Whether it ends with its first call.
    ///   - scope: What it belongs to; by default what is called now.
    /// - Throws: `BindingError` if there are too many, or the scope has ended.
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
        sources[count] = source
        return source
    }

    package func source(_ id: Int) -> LoopSource? { sources[id] }

    /// Whether there are any.
    var hasSources: Bool { !sources.isEmpty }

    /// Ends a source: it is not called any more. A call that goes on goes on.
    package func end(_ source: LoopSource) {
        guard !source.isEnded else { return }
        source.isEnded = true
        sources[source.id] = nil
        source.onEnd?()
        source.onEnd = nil
        if group == nil { queue.wake() }
    }

    /// Ends all sources, and the calls that go on.
    package func endAll() {
        for source in sources.values.sorted(by: { $0.id < $1.id }) {
            source.task?.cancel()
            end(source)
        }
        failures = []
    }

    // MARK: - Calling

    /// Starts what is due, by a closure that runs ``call(_:)`` in a task of its own on the thread of the state.
    package func startDue(_ start: (LoopSource) -> Task<Void, Never>) {
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

    /// Calls a source that was started.
    nonisolated(nonsending) package func call(_ source: LoopSource) async {
        assertThread()
        if !source.isEnded {
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

    /// Its isolation is that of who calls, which its closure would leave otherwise.
    private func callBody(of source: LoopSource, isolation: isolated (any Actor)? = #isolation) async {
        enteredScope = nil
        await LoopScope.$current.withValue(source.scope) {
            _ = isolation
            do {
                assertThread()
                try await source.body(isCountingOn: source.isCountingOn)
            } catch {
                await settle(error, of: source)
            }
        }
    }

    /// Gives an error to who wants it.
    nonisolated(nonsending) private func settle(_ error: any Error, of source: LoopSource) async {
        // A source that was ended while it was called is stopping already; the starter of a task waits for its end.
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
            }
            // It was interrupted with its scope, or cancelled.
            if wasToldToStop { return }
            if !isLive(source.scope), (error as? LuaError)?.kind == "cancelled" { return }
        }
        failures.append(error)
    }

    /// That of the scope, or else the one that was set last.
    private func errorHandler(for scope: Int) -> LuaFunction? {
        errorHandlers[scope] ?? errorHandlers.max { $0.key < $1.key }?.value
    }

    /// Reports an error that is no end of anything: to the handler of the script, or to who takes such errors.
    ///
    /// - Returns: Whether anybody hears of it.
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

    /// Takes the first unhandled error.
    package func takeFailure() -> (any Error)? {
        failures.isEmpty ? nil : failures.removeFirst()
    }

    package var hasFailed: Bool { !failures.isEmpty }

    // MARK: - What goes on

    /// Counts a run of a script.
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

    /// Whether nothing goes on, and nothing will by itself.
    package var isIdle: Bool {
        runs == 0 && queue.isEmpty && !sources.values.contains(where: \.keepsAlive)
    }

    /// Waits until something has changed; `false` if the task is cancelled.
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

    /// Wakes those that wait for a change.
    package func announceChange() {
        parking.release(.change)
    }

    // MARK: - Waiting

    /// Waits, on behalf of a script, which may be ended meanwhile.
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

    /// Waits, on behalf of a script, until the place is released.
    nonisolated(nonsending) package func wait(at place: LoopParking.Place) async throws {
        _ = try liveCore()
        try await parked { resume in
            let id = parking.add(at: place, resume)
            letTimePass()
            return { [parking] in parking.remove(id, at: place) }
        }
    }

    /// Waits, on behalf of a script, until a closure is called.
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

    /// The core, where a script is about to wait: raises in what an ended scope has left, and ends a script that has handled that error
    /// before.
    private func liveCore() throws -> LuaCore {
        let core = try requireCore()
        if !isLive(currentScope) { core.cancelWaitingRun() }
        try requireLive(currentScope)
        return core
    }

    /// A run of a script begins to wait for something of which the loop knows: time may pass until the wait is ended.
    package func beginParking() -> LoopWaits.Wait {
        assertThread()
        return waits.beginParking()
    }

    /// Whether nothing is left to be done now: what goes on waits.
    var isQuiet: Bool { queue.isEmpty && runs == waits.counts.all }

    /// A clock that is set by hand goes on to the next timer when everything waits for it.
    private func letTimePass() {
        if let group { return group.proceed() }
        guard case .manual(let clock) = timers.clock, isQuiet, waits.counts.sleeping > 0 || idleWaits > 0,
            let next = timers.nextDeadline
        else { return }
        clock.set(Date(timeIntervalSince1970: max(next, clock.now.timeIntervalSince1970)))
    }
}
