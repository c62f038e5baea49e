/// Reading dependencies and overriding them in a scope.
extension DependencyContainer {
    /// Sets dependencies of the program. Each can be set once, before its first use.
    ///
    /// Creates all values immediately. If one cannot be created, no dependency is set, and the call can be repeated. In a test, the values
    /// apply only to that test.
    ///
    /// - Throws: ``DependencyError`` with code `alreadyPrepared` or `alreadyUsed`, which is also reported as an issue; or any error of
    ///   the closure or of creating a value.
    nonisolated(nonsending) public static func prepare(_ body: (inout DependencyContainer.Values) throws -> Void) async throws {
        var values = DependencyContainer.Values()
        try body(&values)
        let (container, isMaking) = try await current.containerToPrepare()
        try await container.prepare(values, isMaking: isMaking)
    }

    /// Returns the value of a dependency for the current task.
    ///
    /// - Throws: ``DependencyError`` if the context has no value for it; an error of creating the value; `CancellationError` if the task
    ///   is cancelled.
    public static func value<Key: DependencyContainer.Key>(for key: Key.Type) async throws -> Key.Value {
        try await current.value(for: key)
    }

    /// Closes all values of the program or of the current test, after waiting for values that are still being created. Call it at the end
    /// of a program.
    ///
    /// - Throws: The error of closing a value.
    public static func close() async throws {
        try await current.containerToPrepare().container.close()
    }

    // MARK: - Overrides

    /// Runs an operation with different values for some dependencies. Child tasks of the operation also get these values.
    ///
    /// - Parameters:
    ///   - context: A different context for the operation. The operation then gets separate values for all dependencies that are not
    ///     overridden.
    ///   - body: Sets the values.
    /// - Throws: Errors of `body` and `operation`.
    nonisolated(nonsending) public static func with<Result>(
        context: DependencyContainer.Context? = nil, _ body: (inout DependencyContainer.Values) throws -> Void = { _ in },
        operation: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        try await bind(overriding(context, body), isolation: #isolation, operation)
    }

    private static func overriding(
        _ context: DependencyContainer.Context?, _ body: (inout DependencyContainer.Values) throws -> Void
    ) throws -> DependencyContainer {
        var values = DependencyContainer.Values()
        try body(&values)
        values.context = context
        let outer = current
        return DependencyContainer(
            .overrides(values), context: context.map { .success($0) } ?? outer.detectedContext, parent: outer)
    }

    // MARK: - Tests

    /// Runs an operation as a separate test, with separate values for all dependencies.
    ///
    /// The traits of `PeriluneTestSupport` call this. Call it yourself in XCTest tests and in detached tasks, because the running test
    /// cannot be detected there.
    ///
    /// - Throws: Errors of `operation`, and of closing the values of the scope.
    nonisolated(nonsending) public static func withTestScope<Result>(
        operation: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        try await bind(makeTestScope(), isolation: #isolation, operation)
    }

    /// Creates a container for a test that cannot use ``withTestScope(operation:)``, such as one that overrides XCTest's `invokeTest`.
    public static func makeTestScope() -> DependencyContainer {
        DependencyContainer(.test, context: .success(.test), parent: current)
    }

    /// Whether the current task runs in the container of a test.
    package static var isInTestScope: Bool {
        var container: DependencyContainer? = current
        while let candidate = container {
            if case .test = candidate.kind { return true }
            container = candidate.parent
        }
        return false
    }

    // MARK: - Other tasks

    /// Runs an operation in this container. Use it in detached tasks and threads, which do not inherit the container.
    nonisolated(nonsending) public func with<Result>(
        _ operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await Self.bind(self, isolation: #isolation, operation)
    }

    /// Runs a synchronous operation with this container as ``current``.
    public nonisolated func with<Result>(_ operation: () throws -> Result) rethrows -> Result {
        try Self.$ofTask.withValue(self, operation: operation)
    }

    /// Runs an operation in a container, isolated to an actor.
    private static func bind<Result>(
        _ container: DependencyContainer, isolation: isolated (any Actor)?,
        _ operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await $ofTask.withValue(container) {
            // Capturing the isolation keeps the closure, and therefore the operation, on the actor.
            _ = isolation
            return try await operation()
        }
    }
}
