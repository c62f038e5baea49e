/// Prefers cancellation errors to the errors of cancelled operations.
extension Task where Success == Never, Failure == Never {
    /// Runs an operation; if the current task is cancelled by its end, throws that in place of whatever has come of it.
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
