internal import CPeriluneShim

/// A suspendable run, which lasts from a call into Lua until that call returns. It stores its remaining limits and the reason why
/// it ends.
///
/// While the run waits, other runs can execute in the same state, each with separate limits.
///
/// `@unchecked Sendable`: the core's lock guards ``isCancelled``, ``isInterrupted`` and ``handlers``. All other members belong to
/// the state's thread.
package final class LuaRun: @unchecked Sendable {
    /// The run that waits for the asynchronous function executed by the current task. Calls back into Lua are charged to this run.
    @TaskLocal static var waiting: LuaRun?
    /// Limits for runs begun by the current task. A limit that is `nil` keeps the state's limit. The memory limit cannot be
    /// replaced.
    @TaskLocal package static var ownLimits: LuaLimits?

    let core: LuaCore
    /// A function that is called on the state's thread whenever the run starts or resumes.
    package var didResume: (() -> Void)?
    package var willSuspend: (() -> Void)?
    /// The deadline on the clock of `plua_now`. 0 means no time limit, and `nil` means that the run has not begun.
    fileprivate var deadline: UInt64?
    fileprivate var budget = Int64.max
    /// The state's limits after the replacements from ``ownLimits``; `nil` if the run has no separate limits.
    fileprivate var replacedLimits: LuaLimits?
    /// The meter of the run, if its resources are measured.
    fileprivate var meter: LuaMeter?
    /// The remaining instruction budget when the meter last started or resumed.
    fileprivate var measuredBudget = Int64.max
    fileprivate(set) var cancelReason = LuaCancelReason.none
    /// Whether the run has ended.
    fileprivate(set) var isOver = false
    fileprivate var isCancelled = false
    /// Whether the run's next wait ends immediately with an error.
    fileprivate var isInterrupted = false
    fileprivate var handlers: [Int: @Sendable () -> Void] = [:]

    /// The length of the chain of calls that led to the run, in which each call caused the next. Libraries maintain this count.
    /// Used only on the state's thread.
    package var chain: Int
    /// Whether SQLite's allocations and writes in the run are added to the totals of earlier runs. Otherwise a script could evade
    /// its limits by starting new runs.
    private let isCountingOn: Bool

    init(of core: LuaCore, isCountingOn: Bool = false) {
        self.core = core
        self.isCountingOn = isCountingOn
        chain = core.currentRun?.chain ?? 0
    }

    fileprivate func start() { limits.start(core.context, isCountingOn: isCountingOn) }

    /// The limits that apply to the run.
    var limits: LuaLimits { replacedLimits ?? core.limits }

    /// The remaining time; `nil` without a time limit.
    var remainingTime: Duration? {
        guard let deadline, deadline != 0 else { return nil }
        let now = plua_now()
        return .nanoseconds(Int64(clamping: deadline > now ? deadline - now : 0))
    }

    /// Marks the waiting run to end with the given reason, unless another reason is already set.
    func end(for reason: LuaCancelReason) {
        if cancelReason == .none { cancelReason = reason }
    }
}

/// The suspendable runs of a state, with the context and the deadline that other threads need. Protected by the core's lock.
struct RunList {
    /// The C context of an open state.
    ///
    /// `@unchecked Sendable`: other threads access only the atomic flag of the context, and only under the lock.
    struct SharedContext: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<plua_context>
    }

    var context: SharedContext?
    fileprivate(set) var suspendable: [ObjectIdentifier: LuaRun] = [:]
    fileprivate var current: LuaRun?
    /// The deadline of the current run; 0 without a time limit.
    fileprivate var deadline: UInt64 = 0
    fileprivate var nextHandler = 0
}

extension LuaCore {
    /// Begins a suspendable run.
    func begin(_ run: LuaRun) {
        assertThread()
        drain()
        run.meter = LuaMeter.current(of: self)
        run.replacedLimits = LuaRun.ownLimits.map { limits.replaced(by: $0) }
        runs.withLock { runs in
            // A cancellation that arrived while nothing was running applies to this run.
            if let context = runs.context?.pointer, runs.suspendable.isEmpty, depth == 0 {
                run.cancelReason = LuaCancelReason(rawValue: plua_cancel_reason_of(context)) ?? .none
                plua_clear_cancel_reason(context)
            }
            runs.suspendable[ObjectIdentifier(run)] = run
        }
    }

    /// Ends a run, and closes the state if a close was waiting for the run to end.
    func end(_ run: LuaRun) {
        assertThread()
        run.isOver = true
        runs.withLock { runs in
            runs.suspendable[ObjectIdentifier(run)] = nil
            // The cancellation that ended this run must not end the next run.
            if run.isCancelled, runs.suspendable.isEmpty, depth == 0 { plua_clear_cancel_reason(context) }
        }
        closeIfAsked()
    }

    /// The suspendable run that is executing on the state's thread.
    package var currentRun: LuaRun? { runs.withLock { $0.current } }

    /// Whether the active run has passed its time limit. Callable from any thread.
    var isOverdue: Bool {
        let deadline = runs.withLock { $0.deadline }
        return deadline != 0 && plua_now() > deadline
    }

    /// The limits of the active run.
    var currentLimits: LuaLimits { currentRun?.limits ?? limits }

    /// Whether the state has suspendable runs, including waiting ones.
    var hasSuspendableRuns: Bool { runs.withLock { !$0.suspendable.isEmpty } }

    /// Makes a run the current run, and applies its remaining limits to the state.
    func resume(_ run: LuaRun) {
        let isFirst = run.deadline == nil
        if limits.isLimited, isFirst {
            run.start()
        } else {
            context.pointee.deadline = run.deadline ?? 0
            context.pointee.budget = run.budget
            if limits.isLimited { plua_reset_hook(main) }
        }
        runs.withLock { runs in
            (runs.current, runs.deadline) = (run, context.pointee.deadline)
            plua_clear_cancel_reason(context)
            if run.isCancelled { run.end(for: .cancelled) }
            if run.cancelReason != .none { plua_cancel_run(context, run.cancelReason.rawValue) }
            beginWatch()
        }
        if let meter = run.meter {
            run.measuredBudget = context.pointee.budget
            meter.begin()
        }
        run.didResume?()
    }

    /// Stores the remaining limits of the current run, which waits or ends.
    func suspend(_ run: LuaRun) {
        run.willSuspend?()
        run.meter?.end(spent: run.limits.instructions == nil ? nil : run.measuredBudget - context.pointee.budget)
        runs.withLock { runs in
            run.cancelReason = cancelReason
            (runs.current, runs.deadline) = (nil, 0)
            run.deadline = context.pointee.deadline
            run.budget = context.pointee.budget
            limits.stop(context)
        }
    }

    /// Begins a step of a run. A step lasts until the run waits or ends.
    func beginStep(of run: LuaRun) {
        assertThread()
        depth += 1
        drain()
        if depth == 1 { resume(run) }
    }

    /// Ends a step of a run.
    func endStep(of run: LuaRun) {
        if depth == 1 { suspend(run) }
        depth -= 1
    }

    /// Begins a run that cannot be suspended. Waiting runs are not affected, and their cancellation does not end this run.
    func beginPlainRun() {
        let isBesideOthers = hasSuspendableRuns
        if isBesideOthers { plua_clear_cancel_reason(context) }
        limits.start(context, isCountingOn: isBesideOthers)
        beginWatch()
    }

    /// Enables the watch that lets a time limit or a cancellation end the current run in the middle of a loop.
    private func beginWatch() {
        if limits.isLimited || context.pointee.is_listening { plua_begin_watch(context) }
    }

    // MARK: - Cancelling

    /// Ends all runs, or the next run if none is active. Callable from any thread.
    package func cancel(_ reason: LuaCancelReason = .cancelled) {
        let handlers = runs.withLock { runs in
            guard let context = runs.context?.pointer else { return [@Sendable () -> Void]() }
            plua_cancel_run(context, reason.rawValue)
            guard reason == .cancelled else { return [] }
            plua_wake(context)
            for run in runs.suspendable.values { run.isCancelled = true }
            return runs.suspendable.values.flatMap(\.handlers.values)
        }
        for handler in handlers { handler() }
    }

    /// Ends all current suspendable runs. Later runs are not affected.
    package func cancelWaitingRuns() {
        for run in runs.withLock({ Array($0.suspendable.values) }) { cancel(run) }
    }

    /// Ends the run that waits for the asynchronous function executed by the current task.
    package func cancelWaitingRun() {
        if let run = LuaRun.waiting { cancel(run) }
    }

    /// Ends one run. Callable from any thread.
    package func cancel(_ run: LuaRun) {
        let handlers = runs.withLock { runs in
            run.isCancelled = true
            if runs.current === run, let context = runs.context?.pointer {
                plua_cancel_run(context, LuaCancelReason.cancelled.rawValue)
                plua_wake(context)
            }
            return Array(run.handlers.values)
        }
        for handler in handlers { handler() }
    }

    /// Ends the run's current or next wait with an error of kind `cancelled`, which the script may catch.
    package func interrupt(_ run: LuaRun) {
        let handlers = runs.withLock { _ in
            run.isInterrupted = run.handlers.isEmpty
            return Array(run.handlers.values)
        }
        for handler in handlers { handler() }
    }

    /// Adds a handler that is called on an arbitrary thread when the run is cancelled or interrupted. Returns an identifier for
    /// ``removeCancellationHandler(_:of:)``, or `nil` if the run must not wait.
    func addCancellationHandler(of run: LuaRun, _ handler: @escaping @Sendable () -> Void) -> Int? {
        runs.withLock { runs in
            guard !run.isCancelled, !run.isInterrupted, run.cancelReason == .none else {
                run.isInterrupted = false
                return nil
            }
            runs.nextHandler += 1
            run.handlers[runs.nextHandler] = handler
            return runs.nextHandler
        }
    }

    func removeCancellationHandler(_ id: Int, of run: LuaRun) {
        runs.withLock { _ in run.handlers[id] = nil }
    }
}
