/// A container of dependencies: the default database, the clock, UUIDs, random numbers, the logger and your own.
///
/// A program sets its dependencies once, when it starts. In a test or a preview, the same code gets different values:
///
/// ```swift
/// try await DependencyContainer.prepare {
///     $0.defaultDatabase = .pool("shop.sqlite", migrations: "migrations")
/// }
/// let database = try await DependencyContainer.defaultDatabase
/// ```
///
/// Containers nest. A value is looked up from the innermost container outward: overrides (``with(_:operation:)``), values of the test,
/// prepared values, the default of the context. Child tasks inherit the container; detached tasks and threads do not, so pass them
/// ``current``.
public actor DependencyContainer {
    /// The container of the current task.
    public static var current: DependencyContainer { ofTask }
    @TaskLocal package static var ofTask = DependencyContainer.process

    /// The outermost container.
    static let process = DependencyContainer(.process(TestIdentity.detect), context: DependencyContainer.Context.ofProcess)

    package enum Kind: Sendable {
        /// The container of the process. The closure returns the test that runs on the current task.
        case process(@Sendable () -> TestIdentity)
        /// The container of one test, or of one case of a parameterized test.
        case test
        /// A container of overridden values.
        case overrides(DependencyContainer.Values)
    }

    package nonisolated let kind: Kind
    nonisolated let parent: DependencyContainer?
    nonisolated let detectedContext: Result<DependencyContainer.Context, DependencyError>

    /// The values set by ``prepare(_:)``.
    private var prepared = DependencyContainer.Values()
    /// The call of `prepare` that is creating values, if any.
    private var preparation: PendingValue?
    /// The values that exist or are being created, oldest first.
    private(set) var made: [(key: ObjectIdentifier, entry: DependencyContainer.Values.Entry, making: PendingValue)] = []
    /// The containers of tests that do not use a trait of `PeriluneTestSupport`.
    private var tests: [TestIdentity: DependencyContainer] = [:]

    /// The container whose values the current task is preparing. Code on this task reads prepared sources without waiting for the
    /// preparation to finish.
    @TaskLocal private static var preparing: DependencyContainer?

    package init(_ kind: Kind, context: Result<DependencyContainer.Context, DependencyError>, parent: DependencyContainer? = nil)
    {
        self.kind = kind
        self.parent = parent
        detectedContext = context
    }

    /// The context: live, test or preview.
    ///
    /// - Throws: ``DependencyError`` with code `unknownContext` if the environment variable has a different value.
    public nonisolated var context: DependencyContainer.Context {
        get throws { try detectedContext.get() }
    }

    /// Whether values without an override are stored in this container: it belongs to the process or a test, or it changes the context.
    private nonisolated var isHome: Bool {
        if case .overrides(let values) = kind { values.context != nil } else { true }
    }

    // MARK: - Resolving

    /// Returns the value of a dependency, creating it on first use.
    ///
    /// - Throws: ``DependencyError``, or the error of creating the value.
    public nonisolated func value<Key: DependencyContainer.Key>(for key: Key.Type) async throws -> Key.Value {
        var home: DependencyContainer?
        var next: DependencyContainer? = self
        while let container = next {
            if home == nil, container.isHome {
                home = try await container.homeOfCurrentTest(for: key)
                if home !== container, let home, let source = try await home.source(of: key) {
                    return try await home.value(for: key, from: source)
                }
            }
            if let source = try await container.source(of: key) {
                return try await (home ?? container).value(for: key, from: source)
            }
            next = container.parent
        }
        return try await (home ?? self).defaultValue(for: key)
    }

    /// Returns this container, or the container of the test that runs on the current task.
    private nonisolated func homeOfCurrentTest<Key: DependencyContainer.Key>(for key: Key.Type) async throws
        -> DependencyContainer
    {
        guard case .process(let identify) = kind, try context == .test else { return self }
        switch identify() {
        case .notRunByTests: return self
        case .test(let id): return await container(of: .test(id))
        case .cases, .unknown:
            if Key.belongsToOneTest { throw Self.noTest(Key.name, identify()) }
            return DependencyContainer(.test, context: detectedContext, parent: self)
        }
    }

    private func container(of test: TestIdentity) -> DependencyContainer {
        if let container = tests[test] { return container }
        let container = DependencyContainer(.test, context: detectedContext, parent: self)
        tests[test] = container
        return container
    }

    private func source<Key: DependencyContainer.Key>(of key: Key.Type) async throws -> Key.Source? {
        if case .overrides(let values) = kind, let source = values[key] { return source }
        try await waitForPreparation()
        return prepared[key]
    }

    private func waitForPreparation() async throws {
        while let preparation, Self.preparing !== self { _ = try await preparation.wait() }
    }

    private func value<Key: DependencyContainer.Key>(for key: Key.Type, from source: Key.Source) async throws -> Key.Value {
        // The cast succeeds: only values of the key's type are stored under it.
        try await value(for: ObjectIdentifier(key), DependencyContainer.Values.Entry(key, source)) as! Key.Value
    }

    private func value(for key: ObjectIdentifier, _ entry: DependencyContainer.Values.Entry) async throws -> any Sendable {
        while true {
            let making = made.first { $0.key == key }?.making ?? make(key, entry)
            do {
                return try await making.wait().get()
            } catch is PendingValue.Abandoned {
                continue
            }
        }
    }

    private func make(_ key: ObjectIdentifier, _ entry: DependencyContainer.Values.Entry) -> PendingValue {
        let making = PendingValue(entry.name)
        made.append((key, entry, making))
        making.begin {
            do {
                let value = try await entry.make(self)
                // If no task waits for the value any longer and the container was closed in the meantime, close the value here.
                if making.isAbandoned, await !self.isMade(making) { try entry.close(value) }
                return value
            } catch {
                // Remove the failed value, so that the next read tries again.
                await self.remove(making)
                throw error
            }
        }
        return making
    }

    private func isMade(_ making: PendingValue) -> Bool {
        made.contains { $0.making === making }
    }

    private func remove(_ making: PendingValue) {
        made.removeAll { $0.making === making }
    }

    private func defaultValue<Key: DependencyContainer.Key>(for key: Key.Type) async throws -> Key.Value {
        let context = try context
        switch Key.defaultSource(in: context) {
        case .value(let source): return try await value(for: key, from: source)
        case .reported(let source, let cure):
            if !made.contains(where: { $0.key == ObjectIdentifier(key) }) {
                Issues.report("the dependency \(Key.name) is used, but not provided: \(cure)")
            }
            return try await value(for: key, from: source)
        case .none(let cure):
            throw DependencyError(.notPrepared, "the dependency \(Key.name) is used before it was prepared: \(cure)")
        }
    }

    private static func noTest(_ name: String, _ identity: TestIdentity) -> DependencyError {
        let reason =
            if case .cases = identity {
                "the cases of a test with arguments must not share it; provide it with a trait of PeriluneTestSupport"
            } else {
                "no test is running on this task; pass DependencyContainer.current of the test to detached tasks and threads, "
                    + "or wrap an XCTest test in DependencyContainer.withTestScope"
            }
        return DependencyError(.noTest, "the dependency \(name) belongs to one test, and \(reason)")
    }

    // MARK: - Preparing

    /// Stores sources and creates their values. If one fails, none is stored.
    func prepare(_ values: DependencyContainer.Values, isMaking: Bool) async throws {
        try await waitForPreparation()
        try checkUnused(values)
        prepared.add(values)
        guard isMaking else { return }
        let outer = preparation
        let preparation = PendingValue("prepare", endsWithoutWaiters: false)
        self.preparation = preparation
        defer { self.preparation = outer }
        preparation.begin {
            try await Self.$preparing.withValue(self) {
                for (key, entry) in values.entries { _ = try await self.value(for: key, entry) }
                return ()
            }
        }
        await preparation.waitOrCancel()
        guard case .failure(let error)? = preparation.result else { return }
        prepared.remove(values)
        await close(where: { values.entries[$0] != nil })
        throw error
    }

    private func checkUnused(_ values: DependencyContainer.Values) throws {
        for (key, entry) in values.entries {
            let error: DependencyError
            if prepared.entries[key] != nil {
                error = DependencyError(
                    .alreadyPrepared,
                    "the dependency \(entry.name) is prepared twice; prepare it once, at the start, "
                        + "and override it in a scope with DependencyContainer.with")
            } else if made.contains(where: { $0.key == key }) {
                error = DependencyError(
                    .alreadyUsed,
                    "the dependency \(entry.name) is prepared after it was used; prepare it first, at the start")
            } else {
                continue
            }
            Issues.report(error.message)
            throw error
        }
    }

    /// Returns the container whose values ``prepare(_:)`` sets, and whether to create them immediately.
    nonisolated func containerToPrepare() async throws -> (container: DependencyContainer, isMaking: Bool) {
        var container = self
        while !container.isHome, let parent = container.parent { container = parent }
        guard case .process(let identify) = container.kind, try container.context == .test else { return (container, true) }
        switch identify() {
        case .notRunByTests: return (container, true)
        case .test(let id): return (await container.container(of: .test(id)), true)
        // The sources apply to every test, and each test makes its own values.
        case .cases, .unknown: return (container, false)
        }
    }

    // MARK: - Closing

    /// Closes the values of this container, newest first. The container can then be prepared again.
    func close() async throws {
        prepared = DependencyContainer.Values()
        var failure: (any Error)?
        for error in await close(where: { _ in true }) { failure = failure ?? error }
        if let failure { throw failure }
    }

    @discardableResult
    private func close(where isClosed: (ObjectIdentifier) -> Bool) async -> [any Error] {
        let closed = made.filter { isClosed($0.key) }
        made.removeAll { isClosed($0.key) }
        var errors: [any Error] = []
        for (_, entry, making) in closed.reversed() {
            // Skip a value that is still being created without a waiter: it may never finish. If it does, `make` closes it.
            guard making.result != nil || !making.isAbandoned else { continue }
            guard case .success(let value)? = try? await making.wait() else { continue }
            do { try entry.close(value) } catch { errors.append(error) }
        }
        return errors
    }
}

extension DependencyContainer: CustomReflectable {
    /// A mirror without children: the contents are isolated to the actor, but test frameworks reflect the operands of expectations on any
    /// thread.
    public nonisolated var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .class) }
}
