internal import Foundation
package import PeriluneDependencies
package import PeriluneLua

/// The loops of several states that share a thread and a manual clock.
///
/// Due functions are called loop by loop, in the order in which the loops were added. When nothing is left to do, the clock
/// advances to the next timer of any loop if a script waits for it. The order of calls is therefore independent of the machine.
package final class LoopGroup {
    /// A waiter for a moment at which nothing is left to do.
    private struct Waiter {
        let id: Int
        /// The moment in seconds since 1970.
        let moment: Double
        let resume: @Sendable () -> Void
    }

    private let clock: ManualClock
    private let thread: LuaThread
    private let start: (ScriptLoop, LoopSource, _ didEnd: @escaping () -> Void) -> Task<Void, Never>
    private let wake: @Sendable () -> Void
    private var loops: [ScriptLoop] = []
    private var waiters: [Waiter] = []
    /// The tasks of running calls.
    private var tasks: [Int: (loop: ScriptLoop, task: Task<Void, Never>)] = [:]
    private var count = 0
    private var isProceeding = false
    private var isEnded = false
    /// Receives unhandled errors.
    package var onFailure: ((ScriptLoop, any Error) -> Void)?
    /// Called before each call of a function.
    package var willCall: ((ScriptLoop) -> Void)?

    /// - Parameters:
    ///   - thread: The thread to which the states of the loops belong.
    ///   - start: Runs ``ScriptLoop/call(_:)`` in a new task on the thread, followed by the closure.
    ///   - wake: Schedules a call of ``proceed()``. Called on any thread.
    package init(
        clock: ManualClock, thread: LuaThread, wake: @escaping @Sendable () -> Void,
        start: @escaping (ScriptLoop, LoopSource, _ didEnd: @escaping () -> Void) -> Task<Void, Never>
    ) {
        (self.clock, self.thread, self.start, self.wake) = (clock, thread, start, wake)
    }

    /// Adds a loop, whose timers use the same clock.
    package func add(_ loop: ScriptLoop) {
        loop.group = self
        loop.setThread(thread)
        loops.append(loop)
        loop.queue.setWake(wake)
    }

    // MARK: - Proceeding

    /// Starts due calls, and advances the clock if there are none.
    package func proceed() {
        for loop in loops { loop.assertThread() }
        guard !isProceeding, !isEnded else { return }
        isProceeding = true
        defer { isProceeding = false }
        tellFailures()
        repeat { startDue() } while letTimePass()
    }

    private func startDue() {
        for loop in loops {
            loop.startDue { source in
                willCall?(loop)
                count += 1
                let id = count
                let task = start(loop, source) { [unowned self] in tasks[id] = nil }
                tasks[id] = (loop, task)
                return task
            }
        }
    }

    private func tellFailures() {
        for loop in loops {
            while let failure = loop.takeFailure() { onFailure?(loop, failure) }
        }
    }

    /// Advances the clock if everything waits. Returns whether something may be due then.
    private func letTimePass() -> Bool {
        guard loops.allSatisfy(\.isQuiet), loops.contains(where: { $0.runs > 0 }) else { return false }
        let next = loops.compactMap(\.timers.nextDeadline).min()
        guard let first = waiters.min(by: { ($0.moment, $0.id) < ($1.moment, $1.id) }) else {
            // Nothing will happen without external events.
            guard let next else { return false }
            goOn(to: next)
            return true
        }
        if let next, next <= first.moment {
            goOn(to: next)
            return true
        }
        goOn(to: first.moment)
        first.resume()
        return false
    }

    private func goOn(to moment: Double) {
        if moment > clock.now.timeIntervalSince1970 {
            clock.set(Date(timeIntervalSince1970: moment))
        } else {
            clock.set(clock.now)
        }
    }

    // MARK: - Waiting

    /// Waits, for a script, until all due calls have ended or are waiting themselves. The clock advances to the given moment from
    /// one timer to the next; by default it does not advance.
    nonisolated(nonsending) package func waitUntilQuiet(
        after seconds: Double = 0, for loop: ScriptLoop
    ) async throws {
        count += 1
        let waiter = (id: count, moment: clock.now.timeIntervalSince1970 + seconds)
        try await loop.parked { resume in
            waiters.append(Waiter(id: waiter.id, moment: waiter.moment, resume: resume))
            proceed()
            return { [self] in waiters.removeAll { $0.id == waiter.id } }
        }
    }

    /// Ends the waits of ``waitUntilQuiet(after:for:)`` at the present time.
    package func endWaits() {
        for waiter in waiters { waiter.resume() }
    }

    /// The time of the next timer in seconds since 1970.
    package var nextDeadline: Double? { loops.compactMap(\.timers.nextDeadline).min() }

    /// Removes a loop that was killed, after its running calls have ended.
    nonisolated(nonsending) package func remove(_ loop: ScriptLoop) async {
        for (_, entry) in tasks.sorted(by: { $0.key < $1.key }) where entry.loop === loop { await entry.task.value }
        loops.removeAll { $0 === loop }
        loop.group = nil
    }

    /// Whether anything else depends on the time: timers, observations, or running calls other than the caller.
    package var hasOthers: Bool { loops.contains(where: \.hasSources) || loops.reduce(0) { $0 + $1.runs } > 1 }

    // MARK: - Ending

    /// Ends all sources and waits for running calls, which are cancelled.
    nonisolated(nonsending) package func end() async {
        isEnded = true
        for loop in loops { loop.endAll() }
        let left = tasks.sorted { $0.key < $1.key }.map(\.value.task)
        for task in left { task.cancel() }
        for task in left { await task.value }
        for loop in loops { loop.group = nil }
    }
}
