/// Asking for dependencies, and overriding them in a scope.
extension Dependencies {
    /// Gives dependencies to the program: once for each of them, before they are used.
    ///
    /// All are made at once, and if one cannot be made, none is prepared, so that it may be tried again. In a test they are
    /// given to that test only, and made anew for it.
    ///
    /// - Throws: ``DependencyError`` with code `alreadyPrepared` or `alreadyUsed`, which is also reported as an issue; or
    ///   what the closure, or making a value, has thrown.
    nonisolated(nonsending) public static func prepare(_ body: (inout DependencyValues) throws -> Void) async throws {
        var values = DependencyValues()
        try body(&values)
        let (container, isMaking) = try await current.containerToPrepare()
        try await container.prepare(values, isMaking: isMaking)
    }

    /// The value of a dependency, as the current task sees it.
    ///
    /// - Throws: ``DependencyError`` if nothing was given for this context, or making the value fails; `CancellationError`
    ///   if the task is cancelled.
    public static func value<Key: DependencyKey>(for key: Key.Type) async throws -> Key.Value {
        try await current.value(for: key)
    }

    /// Closes what was prepared and made for the program, or for the current test. For the end of a program; it waits for
    /// whatever still uses it.
    ///
    /// - Throws: What closing a value throws.
    public static func close() async throws {
        try await current.containerToPrepare().container.close()
    }

    // MARK: - Overrides

    /// Runs an operation that sees other values of some dependencies, as do its child tasks.
    ///
    /// - Parameters:
    ///   - context: What the operation runs for, if that is to be another. Values that are not overridden are then made for
    ///     it alone.
    ///   - body: Gives the values.
    /// - Throws: What `body` and `operation` throw.
    nonisolated(nonsending) public static func with<Result>(
        context: DependencyContext? = nil, _ body: (inout DependencyValues) throws -> Void = { _ in },
        operation: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        try await bind(overriding(context, body), isolation: #isolation, operation)
    }

    private static func overriding(
        _ context: DependencyContext?, _ body: (inout DependencyValues) throws -> Void
    ) throws -> Dependencies {
        var values = DependencyValues()
        try body(&values)
        values.context = context
        let outer = current
        return Dependencies(.overrides(values), context: context.map { .success($0) } ?? outer.detectedContext, parent: outer)
    }

    // MARK: - Tests

    /// Runs an operation as a test of its own: what it uses is made for it alone.
    ///
    /// The traits of `PeriluneTestSupport` do this. For tests that no one runs as such: of XCTest, or on detached tasks.
    ///
    /// - Throws: What `operation` throws, and what closing the values of the scope throws.
    nonisolated(nonsending) public static func withTestScope<Result>(
        operation: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        try await bind(makeTestScope(), isolation: #isolation, operation)
    }

    /// Makes the container of a test. For those that no one runs as such, where ``withTestScope(operation:)`` does not fit:
    /// the method `invokeTest` of XCTest, for example.
    public static func makeTestScope() -> Dependencies {
        Dependencies(.test, context: .success(.test), parent: current)
    }

    /// Whether the current task runs in a container that was made for one test.
    package static var isInTestScope: Bool {
        var container: Dependencies? = current
        while let candidate = container {
            if case .test = candidate.kind { return true }
            container = candidate.parent
        }
        return false
    }

    // MARK: - Other tasks

    /// Runs an operation that sees this container. For detached tasks and threads, which do not inherit it.
    nonisolated(nonsending) public func run<Result>(
        operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await Self.bind(self, isolation: #isolation, operation)
    }

    /// Runs an operation that sees a container, on an actor.
    private static func bind<Result>(
        _ container: Dependencies, isolation: isolated (any Actor)?, _ operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await $ofTask.withValue(container) {
            // Captured, so that the closure runs on the actor, and with it the operation; otherwise it would leave it.
            _ = isolation
            return try await operation()
        }
    }

    /// Runs a synchronous operation, in which ``current`` is this container.
    public nonisolated func asCurrent<Result>(_ operation: () throws -> Result) rethrows -> Result {
        try Self.$ofTask.withValue(self, operation: operation)
    }
}
