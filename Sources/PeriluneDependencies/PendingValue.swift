internal import Synchronization

/// A value that has been made or is being made, with its waiters.
///
/// Waiters can be cancelled. When the last waiter is gone, the task that makes the value is cancelled.
final class PendingValue: Sendable {
    private typealias Waiter = CheckedContinuation<Result<any Sendable, any Error>, any Error>

    private struct State {
        var result: Result<any Sendable, any Error>?
        var task: Task<Void, Never>?
        var waiting: [(number: Int, waiter: Waiter)] = []
        var count = 0
        /// Whether the task was cancelled because all waiters had gone.
        var isAbandoned = false
    }

    /// The name in messages.
    let name: String
    private let endsWithoutWaiters: Bool
    private let state = Mutex(State())

    /// The value that the current task makes.
    @TaskLocal private static var current: PendingValue?

    /// - Parameter endsWithoutWaiters: Whether the task is cancelled when the last waiter is gone.
    init(_ name: String, endsWithoutWaiters: Bool = true) {
        self.name = name
        self.endsWithoutWaiters = endsWithoutWaiters
    }

    /// Starts making the value on a new task that inherits the task-local values.
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
            // These waiters arrived after the cancellation, so they try again.
            if isAbandoned, case .failure = result {
                waiter.resume(throwing: Abandoned())
            } else {
                waiter.resume(returning: result)
            }
        }
    }

    /// The value or error; `nil` while it is being made.
    var result: Result<any Sendable, any Error>? { state.withLock { $0.result } }

    var waiterCount: Int { state.withLock { $0.waiting.count } }

    /// Whether the task was cancelled because all waiters had gone.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// The error of waiting for a cancelled value. The waiter has to make the value again.
    struct Abandoned: Error {}

    // MARK: - Waiting

    /// Waits for the value or error and returns it.
    ///
    /// - Throws: ``DependencyError`` with code `cycle` if this value waits for the one that the current task makes; `CancellationError`;
    ///   ``Abandoned``.
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

    /// Waits for the task, and cancels it if the current task is cancelled.
    func waitOrCancel() async {
        let task = state.withLock { $0.task }
        await withTaskCancellationHandler {
            await task?.value
        } onCancel: {
            task?.cancel()
        }
    }

    // MARK: - Cycles

    /// The values under construction that wait for others.
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
