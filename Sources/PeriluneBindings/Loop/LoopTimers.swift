internal import Foundation
internal import HeapModule
internal import PeriluneDependencies
internal import Synchronization

/// Calls closures at their times. Used from any thread; nothing waits while no timer is set.
final class LoopTimers: Sendable {
    fileprivate struct Timer {
        /// The seconds between two calls; `nil`: there is one only.
        let period: Double?
        let action: @Sendable () -> Void
    }

    /// When a timer is due. Of two with the same time the one that was set first comes first.
    fileprivate struct Deadline: Comparable {
        var time: Double
        let id: Int

        static func < (left: Deadline, right: Deadline) -> Bool {
            (left.time, left.id) < (right.time, right.id)
        }
    }

    fileprivate struct State {
        var timers: [Int: Timer] = [:]
        /// Also those of timers that were removed.
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

    deinit {
        let (alarm, observer) = state.withLock { ($0.alarm?.task, $0.observer) }
        alarm?.cancel()
        if case .manual(let clock) = clock, let observer { clock.removeObserver(observer) }
    }

    /// Sets a timer. Returns what ``remove(_:)`` takes.
    ///
    /// - Parameters:
    ///   - seconds: Until the first call.
    ///   - period: The seconds between two calls; those that are missed are left out.
    func add(after seconds: Double, every period: Double? = nil, _ action: @escaping @Sendable () -> Void) -> Int {
        let id = state.withLock { state in
            state.count += 1
            state.timers[state.count] = Timer(period: period, action: action)
            state.deadlines.insert(Deadline(time: clock.now + seconds, id: state.count))
            return state.count
        }
        setAlarm()
        return id
    }

    func remove(_ id: Int) {
        state.withLock { state in
            state.timers[id] = nil
            state.forgetRemovedDeadlines()
        }
        setAlarm()
    }

    /// When the next one is due.
    var nextDeadline: Double? { state.withLock { $0.nextDeadline() } }

    /// Calls what is due, in the order of the times.
    private func fire() {
        let now = clock.now
        while let action = state.withLock({ $0.takeNext(at: now) }) { action() }
        setAlarm()
    }

    /// On the clock of the machine: sees to it that the next timer is noticed.
    private func setAlarm() {
        guard case .machine = clock else { return }
        state.withLock { state in
            let next = state.nextDeadline()
            guard next != state.alarm?.deadline else { return }
            state.alarm?.task.cancel()
            state.alarm = next.map { deadline in
                // A wait of more than a day goes on by itself.
                let wait = deadline - clock.now
                let seconds = wait.isFinite ? min(max(wait, 0), 86_400) : 86_400
                return (deadline, Task { [weak self] in
                    guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
                    self?.forgetAlarm(of: deadline)
                    self?.fire()
                })
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
    /// When the next timer is due; forgets those that were removed before it.
    fileprivate mutating func nextDeadline() -> Double? {
        while let first = deadlines.min {
            if timers[first.id] != nil { return first.time }
            deadlines.removeMin()
        }
        return nil
    }

    /// Forgets those of timers that were removed, once they are most of them.
    fileprivate mutating func forgetRemovedDeadlines() {
        guard deadlines.count > 2 * timers.count + 64 else { return }
        deadlines = Heap(deadlines.unordered.filter { timers[$0.id] != nil })
    }

    /// Takes the next timer that is due; one that repeats is set again.
    fileprivate mutating func takeNext(at now: Double) -> (@Sendable () -> Void)? {
        // A date may have one digit less than its seconds since 1970: the clock is never set to quite the time then.
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
