/// Prefers cancellation errors to the errors of cancelled operations.
extension Task where Success == Never, Failure == Never {
    /// Runs an operation. If the current task has been cancelled by its end, throws a cancellation instead of the operation's outcome.
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
