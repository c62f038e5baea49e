internal import PeriluneBindings
internal import Synchronization

/// The cancellations of a host, which any thread may request and of which waiting callers are notified.
final class HostCancellation: Sendable {
    private let counts = Mutex((cancelled: 0, noticed: 0, waiting: 0))
    private let queue: LoopQueue

    init(queue: LoopQueue) {
        self.queue = queue
    }

    /// Whether the host was cancelled and no run or wait has ended because of it yet.
    var isCancelled: Bool { counts.withLock { $0.cancelled != $0.noticed } }

    /// Marks all cancellations so far as handled, because a run or a wait ends with them.
    func notice() {
        counts.withLock { $0.noticed = $0.cancelled }
    }

    /// Counts a wait and returns the function that ends it.
    func beginWait() -> () -> Void {
        counts.withLock { $0.waiting += 1 }
        return { [self] in counts.withLock { $0.waiting -= 1 } }
    }

    /// Cancels the waits that have begun, but no later ones.
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
