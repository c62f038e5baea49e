internal import Foundation
package import PeriluneDependencies
package import PeriluneLua

/// The loops of several states that share a thread and a clock, which is set by hand.
///
/// What is due is called loop by loop, in the order in which they were added. When nothing is left to be done at a moment the clock
/// goes on to the next timer of any of them, if a script waits for that. So all comes in one order, whatever else the machine does.
package final class LoopGroup {
    /// A waiter for the moment when nothing is left to do.
    private struct Waiter {
        let id: Int
        /// That moment, in seconds since 1970.
        let moment: Double
        let resume: @Sendable () -> Void
    }

    private let clock: ManualClock
    private let thread: LuaThread
    private let start: (ScriptLoop, LoopSource, _ didEnd: @escaping () -> Void) -> Task<Void, Never>
    private let wake: @Sendable () -> Void
    private var loops: [ScriptLoop] = []
    private var waiters: [Waiter] = []
    /// The calls that go on.
    private var tasks: [Int: Task<Void, Never>] = [:]
    private var count = 0
    private var isProceeding = false
    private var isEnded = false
    /// Receives unhandled errors.
    package var onFailure: ((ScriptLoop, any Error) -> Void)?
    /// Called before a function is called.
    package var willCall: ((ScriptLoop) -> Void)?

    /// - Parameters:
    ///   - thread: To which the states of the loops belong.
    ///   - start: Runs ``ScriptLoop/call(_:)`` in a task of its own on the thread, and then the closure.
    ///   - wake: Sees to it, from any thread, that ``proceed()`` is called soon.
    package init(
        clock: ManualClock, thread: LuaThread, wake: @escaping @Sendable () -> Void,
        start: @escaping (ScriptLoop, LoopSource, _ didEnd: @escaping () -> Void) -> Task<Void, Never>
    ) {
        (self.clock, self.thread, self.start, self.wake) = (clock, thread, start, wake)
    }

    /// Adds a loop, whose timers go by the same clock.
    package func add(_ loop: ScriptLoop) {
        loop.group = self
        loop.setThread(thread)
        loops.append(loop)
        loop.queue.setWake(wake)
    }

    // MARK: - Going on

    /// Starts what is due, and lets time pass if nothing is.
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
                tasks[id] = task
                return task
            }
        }
    }

    private func tellFailures() {
        for loop in loops {
            while let failure = loop.takeFailure() { onFailure?(loop, failure) }
        }
    }

    /// Returns whether something may be due then.
    private func letTimePass() -> Bool {
        guard loops.allSatisfy(\.isQuiet), loops.contains(where: { $0.runs > 0 }) else { return false }
        let next = loops.compactMap(\.timers.nextDeadline).min()
        guard let first = waiters.min(by: { ($0.moment, $0.id) < ($1.moment, $1.id) }) else {
            // Nothing will happen by itself any more.
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
        if moment > clock.now.timeIntervalSince1970 { clock.set(Date(timeIntervalSince1970: moment)) } else { clock.set(clock.now) }
    }

    // MARK: - Waiting

    /// Waits, on behalf of a script, until all that is due has been done: calls have ended or wait themselves. The clock goes on to
    /// a later moment, from one timer to the next; it stands if none is given.
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

    /// Whether there is anybody to whom the time matters: timers, observations, calls that go on beside the one that asks.
    package var hasOthers: Bool { loops.contains(where: \.hasSources) || loops.reduce(0) { $0 + $1.runs } > 1 }

    // MARK: - Ending

    /// Ends all that is left, and waits for the calls that go on: they are cancelled.
    nonisolated(nonsending) package func end() async {
        isEnded = true
        for loop in loops { loop.endAll() }
        let left = tasks.sorted { $0.key < $1.key }.map(\.value)
        for task in left { task.cancel() }
        for task in left { await task.value }
        for loop in loops { loop.group = nil }
    }
}
