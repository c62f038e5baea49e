internal import PeriluneBindings
internal import Synchronization

/// A thread-safe counter of a host's cancellations, which wakes waiting callers.
final class HostCancellation: Sendable {
    private let counts = Mutex((cancelled: 0, noticed: 0, waiting: 0))
    private let queue: LoopQueue

    init(queue: LoopQueue) {
        self.queue = queue
    }

    /// Whether a cancellation is pending, because no run or wait has ended with it yet.
    var isCancelled: Bool { counts.withLock { $0.cancelled != $0.noticed } }

    /// Marks all previous cancellations as handled, because a run or a wait ends with them.
    func notice() {
        counts.withLock { $0.noticed = $0.cancelled }
    }

    /// Registers a wait, and returns a function that ends it.
    func beginWait() -> () -> Void {
        counts.withLock { $0.waiting += 1 }
        return { [self] in counts.withLock { $0.waiting -= 1 } }
    }

    /// Cancels the active waits, but not future ones.
    func cancelWaits() {
        let areWaiting = counts.withLock { counts in
            if counts.waiting > 0 { counts.cancelled += 1 }
            return counts.waiting > 0
        }
        if areWaiting { queue.wake() }
    }

    /// Cancels the host and wakes the waiting callers.
    func cancel() {
        counts.withLock { $0.cancelled += 1 }
        queue.wake()
    }
}
