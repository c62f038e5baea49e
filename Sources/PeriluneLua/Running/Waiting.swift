import Synchronization

/// Waits of coroutines for operations outside of Lua.
extension LuaCore {
    /// Waits for an operation, at most for the run's remaining time. If the run is cancelled or exceeds its time limit, the
    /// operation is cancelled and the wait ends.
    nonisolated(nonsending) package func waiting<Result: Sendable>(
        for operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let run = LuaRun.waiting else { return try await operation() }
        let outcome = Outcome<Result>()
        let task = Task {
            do {
                outcome.finish(.success(try await operation()))
            } catch {
                outcome.finish(.failure(error))
            }
        }
        defer { task.cancel() }
        return try await value(of: outcome, in: run)
    }

    /// Waits until a closure is called from any thread, at most for the run's remaining time. Waiters on one actor continue in
    /// the order in which their closures were called.
    ///
    /// - Parameters:
    ///   - didEnd: Called once, as soon as the wait is over and before the waiter continues.
    ///   - begin: Receives the closure and arranges for it to be called. Returns a closure that cancels this arrangement.
    nonisolated(nonsending) package func waiting(
        didEnd: @escaping @Sendable () -> Void, until begin: (_ resume: @escaping @Sendable () -> Void) -> () -> Void
    ) async throws {
        let outcome = Outcome<Void>(didEnd: didEnd)
        let takeBack = begin { outcome.finish(.success(())) }
        defer { takeBack() }
        guard let run = LuaRun.waiting else { return try await outcome.value(sharing: thread) }
        try await value(of: outcome, in: run)
    }

    /// Returns the outcome, or throws if the run is cancelled or exceeds its time limit first.
    nonisolated(nonsending) private func value<Value>(of outcome: Outcome<Value>, in run: LuaRun) async throws -> Value {
        let timer = run.remainingTime.map { limit in
            Task {
                try await Task.sleep(for: limit)
                outcome.finish(.failure(TimeIsOver()))
            }
        }
        let handler = addCancellationHandler(of: run) { outcome.finish(.failure(CancellationError())) }
        if handler == nil { outcome.finish(.failure(CancellationError())) }
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

/// The outcome of an operation. The first result counts.
private final class Outcome<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case known(Result<Value, any Error>)
    }

    private let state = Mutex<State>(.open)
    private let didEnd: (@Sendable () -> Void)?

    /// - Parameter didEnd: Called once, before the waiter continues.
    init(didEnd: (@Sendable () -> Void)? = nil) {
        self.didEnd = didEnd
    }

    /// Sets the outcome. Returns whether this is the first result.
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

    /// Waits for the outcome. Call this once.
    ///
    /// - Parameter thread: A thread on which other tasks get a turn even if the outcome is already known. Otherwise a script that
    ///   repeatedly waits for operations that end at once, as with a clock that advances by itself, would occupy the thread
    ///   forever.
    nonisolated(nonsending) func value(sharing thread: LuaThread?) async throws -> Value {
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
