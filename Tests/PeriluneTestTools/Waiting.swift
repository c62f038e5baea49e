import Synchronization

/// Waits until a condition holds that no event announces: a weak reference that becomes `nil`, a file that another thread closes.
///
/// It yields between two looks, so that a test never waits longer than what it waits for. Where there is an event, wait for the
/// event: ``Tally``, ``Rendezvous``.
///
/// - Parameter limit: When to give up. Long, since a machine may be busy: a test that passes never waits for it.
/// - Returns: Whether the condition came true.
public func eventually(
    within limit: Duration = .seconds(120), _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else { return false }
        await Task.yield()
    }
    return true
}

/// Suspends until the current task is cancelled: something that takes longer than any test.
///
/// - Throws: `CancellationError`.
public func suspendUntilCancelled() async throws {
    let (never, continuation) = AsyncStream<Never>.makeStream()
    for await _ in never {}
    withExtendedLifetime(continuation) {}
    throw CancellationError()
}

/// Counts events, and has tasks wait for a number of them.
public final class Tally: Sendable {
    private struct State {
        var count = 0
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    public init() {}

    /// How many events there were.
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
        for waiting in reached { waiting.continuation.resume() }
    }

    /// Waits until there were `count` events since the beginning.
    public func wait(for count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.count < count { state.waiting.append((count, continuation)) }
                return state.count >= count
            }
            if isReached { continuation.resume() }
        }
    }
}

/// Where two tasks wait for each other.
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
