import Foundation
import Synchronization

/// A watchdog that performs an action unless it is cancelled within ``Sanitizer/patience``, because the awaited event is missing.
///
/// It has a separate thread, because waiting tests can occupy all others.
public final class Watchdog: Sendable {
    private enum State {
        case waiting, cancelled, expired
    }

    private let state = Mutex(State.waiting)
    private let body: @Sendable () -> Void

    /// - Parameter body: Called on another thread, once at most.
    public init(_ body: @escaping @Sendable () -> Void = {}) {
        self.body = body
        Bench.shared.add(self)
    }

    /// Prevents the action.
    public func cancel() {
        state.withLock { if $0 == .waiting { $0 = .cancelled } }
    }

    /// Whether the time has passed without a cancellation.
    public var hasExpired: Bool { state.withLock { $0 == .expired } }

    /// Waits for data or the end of the file. Returns `false` if the time passes first: the program was killed then, but a program that it
    /// started may still hold the other end.
    public func waits(for descriptor: CInt) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while !hasExpired {
            let count = poll(&request, 1, 1000)
            if count > 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
        return false
    }

    private func expire() {
        let isExpired = state.withLock { state in
            guard state == .waiting else { return false }
            state = .expired
            return true
        }
        if isExpired { body() }
    }

    /// The queue of waiting watchdogs. All wait for the same time, so the first one to arrive is the first one to act.
    private final class Bench: @unchecked Sendable {
        static let shared = Bench()

        private let condition = NSCondition()
        /// Guarded by the condition.
        private var waiting: [(end: Date, dog: Watchdog)] = []

        private init() {
            Thread.detachNewThread { [self] in while true { take().expire() } }
        }

        func add(_ dog: Watchdog) {
            condition.lock()
            waiting.append((Date(timeIntervalSinceNow: TimeInterval(Sanitizer.patience)), dog))
            condition.signal()
            condition.unlock()
        }

        private func take() -> Watchdog {
            condition.lock()
            defer { condition.unlock() }
            while true {
                guard let first = waiting.first else {
                    condition.wait()
                    continue
                }
                if first.end <= Date() { return waiting.removeFirst().dog }
                _ = condition.wait(until: first.end)
            }
        }
    }
}
