/// A wrapper that reports cancellation consistently.
extension Task where Success == Never, Failure == Never {
    /// Runs an operation. If the current task is cancelled when the operation ends, throws a `CancellationError` instead of the operation's
    /// result or error.
    nonisolated(nonsending) static func preferringCancellation<Value>(
        _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        let result: Result<Value, any Error>
        do {
            result = .success(try await operation())
        } catch {
            result = .failure(error)
        }
        try checkCancellation()
        return try result.get()
    }
}
