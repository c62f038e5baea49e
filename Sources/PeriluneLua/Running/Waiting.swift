import Synchronization

/// The waits of coroutines for operations outside Lua.
extension LuaCore {
    /// Waits for an operation, at most for the run's remaining time. If the run is cancelled or exceeds its time limit, the wait
    /// ends and the operation is cancelled.
    ///
    /// The operation starts on the current thread and leaves it at its first suspension. An operation that never suspends therefore
    /// needs no thread switch.
    ///
    /// - Parameter staysOnThread: Whether the operation resumes on the state's thread after each wait. Use it for operations with
    ///   little work after a wait.
    nonisolated(nonsending) package func waiting<Result: Sendable>(
        stayingOnThread staysOnThread: Bool = false, for operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let run = LuaRun.waiting else { return try await operation() }
        let outcome = Outcome<Result>()
        var task: Task<Void, Never>?
        defer { task?.cancel() }
        let executor = staysOnThread ? thread?.preference : nil
        return try await value(of: outcome, in: run) { task = Self.start(operation, outcome, on: executor) }
    }

    /// Starts an operation that is not isolated to an actor. Actor isolation would make it leave the thread before it begins.
    private static func start<Result: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Result, _ outcome: Outcome<Result>, on executor: (any TaskExecutor)?
    ) -> Task<Void, Never> {
        Task.immediate(executorPreference: executor) {
            do {
                outcome.finish(.success(try await operation()))
            } catch {
                outcome.finish(.failure(error))
            }
        }
    }

    /// Waits until another thread calls a closure, at most for the run's remaining time. Waiters on the same actor resume in the
    /// order in which their closures were called.
    ///
    /// - Parameters:
    ///   - didEnd: Called once when the wait ends, before the waiter resumes.
    ///   - begin: Receives the resuming closure and schedules its call. Returns a closure that cancels the scheduled call.
    nonisolated(nonsending) package func waiting(
        didEnd: @escaping @Sendable () -> Void, until begin: (_ resume: @escaping @Sendable () -> Void) -> () -> Void
    ) async throws {
        let outcome = Outcome<Void>(didEnd: didEnd)
        let takeBack = begin { outcome.finish(.success(())) }
        defer { takeBack() }
        guard let run = LuaRun.waiting else { return try await outcome.value(sharing: thread) }
        try await value(of: outcome, in: run) {}
    }

    /// Returns the outcome, or throws if the run is cancelled or exceeds its time limit first.
    ///
    /// - Parameter begin: Starts the work. It is not called if the run must not wait.
    nonisolated(nonsending) private func value<Value>(
        of outcome: Outcome<Value>, in run: LuaRun, begin: () -> Void
    ) async throws -> Value {
        let handler = addCancellationHandler(of: run) { outcome.finish(.failure(CancellationError())) }
        if handler == nil { outcome.finish(.failure(CancellationError())) } else { begin() }
        let timer =
            outcome.isKnown
            ? nil
            : run.remainingTime.map { limit in
                Task {
                    try await Task.sleep(for: limit)
                    outcome.finish(.failure(TimeIsOver()))
                }
            }
        defer {
            timer?.cancel()
            if let handler { removeCancellationHandler(handler, of: run) }
        }
        do {
            return try await outcome.value(sharing: thread)
        } catch is TimeIsOver {
            run.end(for: .timeout)
            throw CancellationError()
        }
    }
}

/// The error of a wait that exceeded the run's time limit.
private struct TimeIsOver: Error {}

/// The outcome of an operation. Only the first result is kept.
private final class Outcome<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case known(Result<Value, any Error>)
    }

    private let state = Mutex<State>(.open)
    private let didEnd: (@Sendable () -> Void)?

    /// - Parameter didEnd: Called once, before the waiter resumes.
    init(didEnd: (@Sendable () -> Void)? = nil) {
        self.didEnd = didEnd
    }

    var isKnown: Bool {
        state.withLock { state in
            if case .known = state { true } else { false }
        }
    }

    /// Sets the outcome unless it is already known. Returns whether this result was the first.
    @discardableResult
    func finish(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Value, any Error>?) in
            switch state {
            case .open:
                state = .known(result)
                return (true, nil)
            case .awaited(let continuation):
                state = .known(result)
                return (true, continuation)
            case .known: return (false, nil)
            }
        }
        if isFirst { didEnd?() }
        continuation?.resume(with: result)
        return isFirst
    }

    /// Waits for the outcome. Must be called only once.
    ///
    /// - Parameter thread: The thread on which the wait resumes. If the outcome is already known, tasks queued on this thread run
    ///   first. Otherwise a script that repeatedly waits for operations which end immediately, such as sleeps on a test clock,
    ///   would occupy the thread forever.
    func value(sharing thread: LuaThread?, isolation: isolated (any Actor)? = #isolation) async throws -> Value {
        try await withTaskExecutorPreference(thread?.preference) {
            // Capturing the isolation makes the closure run on the actor.
            _ = isolation
            return try await wait(sharing: thread, isolation: isolation)
        }
    }

    private func wait(sharing thread: LuaThread?, isolation: isolated (any Actor)?) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let known = state.withLock { state -> Result<Value, any Error>? in
                if case .known(let result) = state { return result }
                state = .awaited(continuation)
                return nil
            }
            guard let known else { return }
            if let thread { thread.enqueue { continuation.resume(with: known) } } else { continuation.resume(with: known) }
        }
    }
}
