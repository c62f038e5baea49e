import Synchronization
public import Testing

/// Waits for a condition that no event announces: a weak reference that becomes `nil`, or a file that another thread closes.
///
/// Yields between two checks, so that a test does not wait longer than necessary. If an event exists, wait for the event instead:
/// ``Tally``, ``Rendezvous``.
///
/// - Parameter limit: The time after which the function gives up. The default is long because the machine may be busy; passing
///   tests never wait that long.
/// - Returns: Whether the condition was met. `false` if the task was cancelled before.
public func eventually(
    within limit: Duration = .seconds(120), _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end, !Task.isCancelled else { return false }
        await Task.yield()
    }
    return true
}

/// Suspends until the current task is cancelled, to simulate an operation that takes longer than any test.
///
/// - Throws: `CancellationError`.
public func suspendUntilCancelled() async throws {
    let (never, continuation) = AsyncStream<Never>.makeStream()
    for await _ in never {}
    withExtendedLifetime(continuation) {}
    throw CancellationError()
}

/// A counter of events, for which tasks can wait.
public final class Tally: Sendable {
    private struct State {
        var count = 0
        var waiting: [(number: Int, count: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var waitCount = 0
    }

    private let state = Mutex(State())

    public init() {}

    /// The number of events so far.
    public var count: Int { state.withLock { $0.count } }

    /// Counts one.
    public func add() {
        let reached = state.withLock { state in
            state.count += 1
            let count = state.count
            let reached = state.waiting.filter { $0.count <= count }
            state.waiting.removeAll { $0.count <= count }
            return reached
        }
        for waiting in reached { waiting.continuation.resume(returning: true) }
    }

    /// Waits until `count` events have occurred since the beginning. If they do not occur, the test fails and continues.
    public func wait(for count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async {
        let isReached = await withCheckedContinuation { continuation in
            let number: Int? = state.withLock { state in
                guard state.count < count else { return nil }
                state.waitCount += 1
                state.waiting.append((state.waitCount, count, continuation))
                return state.waitCount
            }
            guard let number else { return continuation.resume(returning: true) }
            _ = Watchdog { self.giveUp(number) }
        }
        if !isReached {
            Issue.record("waited for \(count) events, of which there were \(self.count)", sourceLocation: sourceLocation)
        }
    }

    private func giveUp(_ number: Int) {
        let waiting = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        waiting?.continuation.resume(returning: false)
    }
}

/// A meeting point at which two tasks wait for each other.
public actor Rendezvous {
    private var first: CheckedContinuation<Void, Never>?

    public init() {}

    public func meet() async {
        if let first {
            self.first = nil
            return first.resume()
        }
        await withCheckedContinuation { first = $0 }
    }
}
