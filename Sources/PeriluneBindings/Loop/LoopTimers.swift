internal import Foundation
internal import HeapModule
package import PeriluneDependencies
internal import Synchronization

/// Timers that call closures. Thread-safe. No thread is used while no timer is set.
package final class LoopTimers: Sendable {
    fileprivate struct Timer {
        /// The seconds between two calls; `nil` for a single call.
        let period: Double?
        let action: @Sendable () -> Void
    }

    /// The time at which a timer is due. Timers with the same time fire in the order in which they were set.
    fileprivate struct Deadline: Comparable {
        var time: Double
        let id: Int

        static func < (left: Deadline, right: Deadline) -> Bool {
            (left.time, left.id) < (right.time, right.id)
        }
    }

    fileprivate struct State {
        var timers: [Int: Timer] = [:]
        /// The deadlines of all timers. May contain deadlines of removed timers.
        var deadlines = Heap<Deadline>()
        var count = 0
        var alarm: (deadline: Double, task: Task<Void, Never>)?
        var observer: Int?
    }

    let clock: LoopClock
    private let state = Mutex(State())

    init(clock: LoopClock) {
        self.clock = clock
        if case .manual(let clock) = clock {
            let observer = clock.addObserver { [weak self] in self?.fire() }
            state.withLock { $0.observer = observer }
        }
    }

    /// Creates timers that use the clock of an environment.
    package convenience init(date: DateSource) {
        self.init(clock: LoopClock(date))
    }

    deinit {
        let (alarm, observer) = state.withLock { ($0.alarm?.task, $0.observer) }
        alarm?.cancel()
        if case .manual(let clock) = clock, let observer { clock.removeObserver(observer) }
    }

    /// Sets a timer. Returns an id for ``remove(_:)``.
    ///
    /// - Parameters:
    ///   - seconds: The number of seconds until the first call.
    ///   - period: The seconds between two calls. Missed calls are skipped.
    package func add(after seconds: Double, every period: Double? = nil, _ action: @escaping @Sendable () -> Void) -> Int {
        let id = state.withLock { state in
            state.count += 1
            state.timers[state.count] = Timer(period: period, action: action)
            state.deadlines.insert(Deadline(time: clock.now + seconds, id: state.count))
            return state.count
        }
        setAlarm()
        return id
    }

    package func remove(_ id: Int) {
        state.withLock { state in
            state.timers[id] = nil
            state.forgetRemovedDeadlines()
        }
        setAlarm()
    }

    /// The time of the next timer.
    var nextDeadline: Double? { state.withLock { $0.nextDeadline() } }

    /// Calls the closures of due timers in the order of their deadlines.
    private func fire() {
        let now = clock.now
        while let action = state.withLock({ $0.takeNext(at: now) }) { action() }
        setAlarm()
    }

    /// Schedules a wake-up for the next timer. A manual clock needs none.
    private func setAlarm() {
        guard case .machine = clock else { return }
        state.withLock { state in
            let next = state.nextDeadline()
            guard next != state.alarm?.deadline else { return }
            state.alarm?.task.cancel()
            state.alarm = next.map { deadline in
                // Longer waits are split into waits of one day.
                let wait = deadline - clock.now
                let seconds = wait.isFinite ? min(max(wait, 0), 86_400) : 86_400
                return (
                    deadline,
                    Task { [weak self] in
                        guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
                        self?.forgetAlarm(of: deadline)
                        self?.fire()
                    }
                )
            }
        }
    }

    private func forgetAlarm(of deadline: Double) {
        state.withLock { state in
            if state.alarm?.deadline == deadline { state.alarm = nil }
        }
    }
}

extension LoopTimers.State {
    /// Returns the time of the next timer. Removes earlier deadlines of removed timers from the heap.
    fileprivate mutating func nextDeadline() -> Double? {
        while let first = deadlines.min {
            if timers[first.id] != nil { return first.time }
            deadlines.removeMin()
        }
        return nil
    }

    /// Removes the deadlines of removed timers from the heap once they are the majority.
    fileprivate mutating func forgetRemovedDeadlines() {
        guard deadlines.count > 2 * timers.count + 64 else { return }
        deadlines = Heap(deadlines.unordered.filter { timers[$0.id] != nil })
    }

    /// Returns the action of the next due timer. Reschedules the timer if it repeats, and otherwise removes it.
    fileprivate mutating func takeNext(at now: Double) -> (@Sendable () -> Void)? {
        // A manual clock may be slightly before the deadline, because converting a time to a `Date` loses precision.
        guard let time = nextDeadline(), time <= now + 1e-6 else { return nil }
        var deadline = deadlines.removeMin()
        guard let timer = timers[deadline.id] else { return nil }
        if let period = timer.period {
            let missed = max(0, ((now - time) / period).rounded(.down))
            deadline.time += (missed + 1) * period
            deadlines.insert(deadline)
        } else {
            timers[deadline.id] = nil
        }
        return timer.action
    }
}
