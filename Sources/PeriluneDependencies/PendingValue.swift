internal import Synchronization

/// A value that was made, or is being made; and who waits for it.
///
/// Waiters may be cancelled. The task that makes the value is cancelled when it has no waiters any more.
final class PendingValue: Sendable {
    private typealias Waiter = CheckedContinuation<Result<any Sendable, any Error>, any Error>

    private struct State {
        var result: Result<any Sendable, any Error>?
        var task: Task<Void, Never>?
        var waiting: [(number: Int, waiter: Waiter)] = []
        var count = 0
        /// Whether it was cancelled, as all who wanted the value have given up.
        var isAbandoned = false
    }

    /// What messages call it.
    let name: String
    private let endsWithoutWaiters: Bool
    private let state = Mutex(State())

    /// What the current task makes.
    @TaskLocal private static var current: PendingValue?

    /// - Parameter endsWithoutWaiters: Whether it is cancelled when it has no waiters any more.
    init(_ name: String, endsWithoutWaiters: Bool = true) {
        self.name = name
        self.endsWithoutWaiters = endsWithoutWaiters
    }

    /// Begins, on a task of its own, which sees what the current one sees.
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
            // They have come after it was cancelled, for which they can do nothing.
            if isAbandoned, case .failure = result { waiter.resume(throwing: Abandoned()) } else { waiter.resume(returning: result) }
        }
    }

    /// What has come of it; `nil` while it goes on.
    var result: Result<any Sendable, any Error>? { state.withLock { $0.result } }

    var waiterCount: Int { state.withLock { $0.waiting.count } }

    /// Whether it had no waiters at its end.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// Thrown to those who wait for something that was cancelled before: it is to be made anew.
    struct Abandoned: Error {}

    // MARK: - Waiting

    /// Waits for the end.
    ///
    /// - Throws: ``DependencyError`` with code `cycle` if it waits itself for what the current task makes; `CancellationError`;
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

    /// Waits for the end, and cancels it if the current task is cancelled.
    func waitOrCancel() async {
        let task = state.withLock { $0.task }
        await withTaskCancellationHandler { await task?.value } onCancel: { task?.cancel() }
    }

    // MARK: - Cycles

    /// What is being made waits for something else that is.
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
