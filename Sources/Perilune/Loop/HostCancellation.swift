internal import PeriluneBindings
internal import Synchronization

/// Notifies waiting callers of a host's cancellation, which may happen on any thread.
final class HostCancellation: Sendable {
    private let counts = Mutex((cancelled: 0, noticed: 0, waiting: 0))
    private let queue: LoopQueue

    init(queue: LoopQueue) {
        self.queue = queue
    }

    /// Whether there was a cancellation that no run and no wait has ended with.
    var isCancelled: Bool { counts.withLock { $0.cancelled != $0.noticed } }

    /// Something ends with the cancellations so far.
    func notice() {
        counts.withLock { $0.noticed = $0.cancelled }
    }

    /// Counts a wait. Returns the function that ends it.
    func beginWait() -> () -> Void {
        counts.withLock { $0.waiting += 1 }
        return { [self] in counts.withLock { $0.waiting -= 1 } }
    }

    /// Wakes the waits that have begun, and no later ones.
    func cancelWaits() {
        let areWaiting = counts.withLock { counts in
            if counts.waiting > 0 { counts.cancelled += 1 }
            return counts.waiting > 0
        }
        if areWaiting { queue.wake() }
    }

    /// Makes the waiting callers check for a cancellation.
    func cancel() {
        counts.withLock { $0.cancelled += 1 }
        queue.wake()
    }
}
