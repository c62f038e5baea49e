internal import Synchronization

/// A value that exists or is being created, with the tasks that wait for it.
///
/// Waiting can be cancelled. When the last waiter is cancelled, the task that creates the value is cancelled, too.
final class PendingValue: Sendable {
    private typealias Waiter = CheckedContinuation<Result<any Sendable, any Error>, any Error>

    private struct State {
        var result: Result<any Sendable, any Error>?
        var task: Task<Void, Never>?
        var waiting: [(number: Int, waiter: Waiter)] = []
        var count = 0
        /// Whether the task was cancelled because no waiters remained.
        var isAbandoned = false
    }

    /// The name of the value in messages.
    let name: String
    private let endsWithoutWaiters: Bool
    private let state = Mutex(State())

    /// The value that the current task creates.
    @TaskLocal private static var current: PendingValue?

    /// - Parameter endsWithoutWaiters: Whether to cancel the task when the last waiter is cancelled.
    init(_ name: String, endsWithoutWaiters: Bool = true) {
        self.name = name
        self.endsWithoutWaiters = endsWithoutWaiters
    }

    /// Starts creating the value on a new task that inherits the task-local values.
    func begin(_ make: @escaping @Sendable () async throws -> any Sendable) {
        let task = Task {
            let result: Result<any Sendable, any Error>
            do {
                result = .success(try await Self.$current.withValue(self) { try await make() })
            } catch {
                result = .failure(error)
            }
            end(with: result)
        }
        state.withLock { $0.task = task }
    }

    private func end(with result: Result<any Sendable, any Error>) {
        let (waiting, isAbandoned) = state.withLock { state in
            state.result = result
            defer { state.waiting = [] }
            return (state.waiting, state.isAbandoned)
        }
        for (_, waiter) in waiting {
            // These waiters arrived after the cancellation, so they must request the value again.
            if isAbandoned, case .failure = result {
                waiter.resume(throwing: Abandoned())
            } else {
                waiter.resume(returning: result)
            }
        }
    }

    /// The value or error; `nil` while the value is being created.
    var result: Result<any Sendable, any Error>? { state.withLock { $0.result } }

    var waiterCount: Int { state.withLock { $0.waiting.count } }

    /// Whether the task was cancelled because no waiters remained.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// The error for waiters of a cancelled value, which must request the value again.
    struct Abandoned: Error {}

    // MARK: - Waiting

    /// Waits until the value or error is known, and returns it.
    ///
    /// - Throws: ``DependencyError`` with code `cycle` if this value depends on the value that the current task creates;
    ///   `CancellationError`; ``Abandoned``.
    func wait() async throws -> Result<any Sendable, any Error> {
        if let result { return result }
        guard let maker = Self.current else { return try await waitCancellably() }
        try Self.addWait(of: maker, for: self)
        defer { Self.removeWait(of: maker, for: self) }
        return try await waitCancellably()
    }

    private func waitCancellably() async throws -> Result<any Sendable, any Error> {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let answer = state.withLock { state -> Result<Result<any Sendable, any Error>, any Error>? in
                    if let result = state.result { return .success(result) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiting.append((number, waiter))
                    return nil
                }
                if let answer { waiter.resume(with: answer) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    private func giveUp(_ number: Int) {
        let (waiter, task) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return (nil, nil) }
            let waiter = state.waiting.remove(at: index).waiter
            guard endsWithoutWaiters, state.waiting.isEmpty else { return (waiter, nil) }
            state.isAbandoned = true
            return (waiter, state.task)
        }
        task?.cancel()
        waiter?.resume(throwing: CancellationError())
    }

    /// Waits until the task finishes, and cancels it if the current task is cancelled.
    func waitOrCancel() async {
        let task = state.withLock { $0.task }
        await withTaskCancellationHandler {
            await task?.value
        } onCancel: {
            task?.cancel()
        }
    }

    // MARK: - Cycles

    /// Pairs of a value that is being created and the value that it waits for.
    private static let waits = Mutex<[(maker: PendingValue, awaited: PendingValue)]>([])

    private static func addWait(of maker: PendingValue, for awaited: PendingValue) throws {
        let path = waits.withLock { waits in
            let path = Self.path(from: awaited, to: maker, in: waits)
            if path == nil { waits.append((maker, awaited)) }
            return path
        }
        guard let path else { return }
        let names = ([maker] + path).map(\.name).joined(separator: " → ")
        throw DependencyError(.cycle, "the dependency \(maker.name) depends on itself: \(names)")
    }

    private static func removeWait(of maker: PendingValue, for awaited: PendingValue) {
        waits.withLock { waits in
            guard let index = waits.firstIndex(where: { $0.maker === maker && $0.awaited === awaited }) else { return }
            waits.remove(at: index)
        }
    }

    private static func path(
        from start: PendingValue, to end: PendingValue, in waits: [(maker: PendingValue, awaited: PendingValue)]
    ) -> [PendingValue]? {
        if start === end { return [end] }
        for wait in waits where wait.maker === start {
            if let path = path(from: wait.awaited, to: end, in: waits) { return [start] + path }
        }
        return nil
    }
}
