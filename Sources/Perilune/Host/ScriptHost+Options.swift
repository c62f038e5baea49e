internal import PeriluneBindings
internal import PeriluneLua

/// Options that apply to single runs.
extension ScriptHost {
    /// Runs an operation, and applies options to the runs that it starts in any host.
    ///
    /// - Parameters:
    ///   - options: The options. An option that is `nil` is inherited from the enclosing scope, or else from the host.
    ///   - operation: A closure that runs scripts.
    /// - Throws: Errors of the operation.
    nonisolated(nonsending) public static func withOptions<Result>(
        _ options: RunOptions, operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        precondition(
            options.limits?.memoryInBytes == nil, "runs share the memory of their host, so one run cannot have a memory limit")
        return try await bind(options.merged(over: RunOptions.current), isolation: #isolation, operation)
    }

    private static func bind<Result>(
        _ options: RunOptions, isolation: isolated (any Actor)?, _ operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await RunOptions.$ofTask.withValue(options) {
            _ = isolation
            return try await LuaRun.$ownLimits.withValue(options.limits) {
                // The captured isolation keeps the closures, and thus the operation, on the actor.
                _ = isolation
                return try await LogContext.$metadata.withValue(options.logMetadata) {
                    _ = isolation
                    return try await operation()
                }
            }
        }
    }
}
