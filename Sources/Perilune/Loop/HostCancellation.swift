internal import PeriluneBindings
internal import Synchronization

/// Lets those who wait for a host hear of its cancellation, which may come from any thread.
final class HostCancellation: Sendable {
    private let counts = Mutex((cancelled: 0, noticed: 0))
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

    /// Has them look.
    func cancel() {
        counts.withLock { $0.cancelled += 1 }
        queue.wake()
    }
}
