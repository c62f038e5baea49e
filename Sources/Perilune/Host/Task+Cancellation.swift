/// Throws cancellation errors instead of the errors of cancelled operations.
extension Task where Success == Never, Failure == Never {
    /// Runs an operation. If the current task is cancelled when the operation ends, throws a cancellation error instead of returning the
    /// outcome of the operation.
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
