internal import Foundation
package import PeriluneDependencies
package import PeriluneLua

/// A group of event loops whose states share a thread and a manual clock.
///
/// Due functions are called loop by loop, in the order in which the loops were added. When all runs are waiting and nothing is due,
/// the clock advances to the next timer of any loop. The order of calls is therefore the same on every machine.
package final class LoopGroup {
    /// A script that waits until the clock has reached a time and nothing is due.
    private struct Waiter {
        let id: Int
        /// The time in seconds since 1970.
        let moment: Double
        let resume: @Sendable () -> Void
    }

    private let clock: ManualClock
    private let thread: LuaThread
    private let start: (ScriptLoop, LoopSource, _ didEnd: @escaping () -> Void) -> Task<Void, Never>
    private let wake: @Sendable () -> Void
    private var loops: [ScriptLoop] = []
    private var waiters: [Waiter] = []
    /// The tasks of running calls, by id.
    private var tasks: [Int: (loop: ScriptLoop, task: Task<Void, Never>)] = [:]
    private var count = 0
    private var isProceeding = false
    private var isEnded = false
    /// Called with each unhandled error.
    package var onFailure: ((ScriptLoop, any Error) -> Void)?
    /// Called before each call of a source.
    package var willCall: ((ScriptLoop) -> Void)?

    /// - Parameters:
    ///   - thread: The thread of all states in the group.
    ///   - start: Creates a task on the thread that runs ``ScriptLoop/call(_:)`` and then calls the closure.
    ///   - wake: Schedules a call of ``proceed()``. May be called on any thread.
    package init(
        clock: ManualClock, thread: LuaThread, wake: @escaping @Sendable () -> Void,
        start: @escaping (ScriptLoop, LoopSource, _ didEnd: @escaping () -> Void) -> Task<Void, Never>
    ) {
        (self.clock, self.thread, self.start, self.wake) = (clock, thread, start, wake)
    }

    /// Adds a loop. Its timers must use the group's clock.
    package func add(_ loop: ScriptLoop) {
        loop.group = self
        loop.setThread(thread)
        loops.append(loop)
        loop.queue.setWake(wake)
    }

    // MARK: - Proceeding

    /// Starts due calls, and advances the clock as long as everything waits.
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

    /// Advances the clock if all runs are waiting. Returns whether calls may be due afterwards.
    private func letTimePass() -> Bool {
        guard loops.allSatisfy(\.isQuiet), loops.contains(where: { $0.runs > 0 }) else { return false }
        let next = loops.compactMap(\.timers.nextDeadline).min()
        guard let first = waiters.min(by: { ($0.moment, $0.id) < ($1.moment, $1.id) }) else {
            // Without a timer, only an external event can continue a run.
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

    /// Suspends a script until all due calls have ended or are waiting. In the meantime, the clock advances from timer to timer by
    /// the given number of seconds; by default, it does not advance.
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

    /// Ends all waits of ``waitUntilQuiet(after:for:)`` without advancing the clock.
    package func endWaits() {
        for waiter in waiters { waiter.resume() }
    }

    /// The time of the next timer in seconds since 1970.
    package var nextDeadline: Double? { loops.compactMap(\.timers.nextDeadline).min() }

    /// Waits until the running calls of a killed loop have ended, and removes the loop.
    nonisolated(nonsending) package func remove(_ loop: ScriptLoop) async {
        for (_, entry) in tasks.sorted(by: { $0.key < $1.key }) where entry.loop === loop { await entry.task.value }
        loops.removeAll { $0 === loop }
        loop.group = nil
    }

    /// Whether the group has sources, such as timers and observations, or running calls other than the caller.
    package var hasOthers: Bool { loops.contains(where: \.hasSources) || loops.reduce(0) { $0 + $1.runs } > 1 }

    // MARK: - Ending

    /// Ends all sources, cancels running calls and waits until they have ended.
    nonisolated(nonsending) package func end() async {
        isEnded = true
        for loop in loops { loop.endAll() }
        let left = tasks.sorted { $0.key < $1.key }.map(\.value.task)
        for task in left { task.cancel() }
        for task in left { await task.value }
        for loop in loops { loop.group = nil }
    }
}
