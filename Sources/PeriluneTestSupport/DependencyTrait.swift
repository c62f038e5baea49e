public import Perilune
public import Testing

/// A trait that gives a test, or each test of a suite, separate dependencies.
///
/// Each case of a parameterized test counts as a separate test. Traits can be combined; the innermost takes precedence.
///
/// ```swift
/// @Test(.defaultDatabase(migrations: "migrations"), .script(file: "seed.lua"))
/// func `closing a month sends a letter for each sale`() async throws {
///     let mail = CallRecorder(), host = try await ScriptHost()
///     try await host.register(module: "mail") { $0.record("send", in: mail) }
///     try await host.run(
///         file: "close_month.lua", arguments: Month(year: 2026, month: 3))
///     #expect(mail.calls.map(\.function) == ["send", "send"])
/// }
/// ```
public struct DependencyTrait: TestTrait, SuiteTrait, TestScoping {
    /// `true`: the trait of a suite also applies to nested suites.
    public let isRecursive = true
    private let give: @Sendable (inout DependencyContainer.Values) throws -> Void
    private let prepare: @Sendable () async throws -> Void

    fileprivate init(
        _ give: @escaping @Sendable (inout DependencyContainer.Values) throws -> Void,
        prepare: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.give = give
        self.prepare = prepare
    }

    /// Runs a test in the scope of the trait.
    ///
    /// - Throws: Errors of the test, and of setting up the scope.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // The outermost trait creates the test's scope; inner traits add to it.
        guard DependencyContainer.isInTestScope else {
            return try await DependencyContainer.withTestScope { try await run(function) }
        }
        try await run(function)
    }

    private func run(_ function: @Sendable () async throws -> Void) async throws {
        try await DependencyContainer.with(give) {
            try await prepare()
            try await function()
        }
    }
}

extension Trait where Self == DependencyTrait {
    /// Gives the test a separate default database.
    ///
    /// ```swift
    /// @Test(.defaultDatabase(
    ///     .pool("shop.sqlite", migrations: schema, usesFilesInTests: true)))
    /// ```
    ///
    /// - Parameter source: The database, evaluated for each case; by default an empty one in memory. Its path is only opened with
    ///   `inEveryContext`.
    public static func defaultDatabase(
        _ source: @autoclosure @escaping @Sendable () throws -> DatabaseSource = .inMemory()
    ) -> DependencyTrait {
        DependencyTrait { $0.defaultDatabase = try source() }
    }

    /// Gives the test a separate, empty in-memory database.
    public static var defaultDatabase: DependencyTrait { defaultDatabase() }

    /// Gives the test a migrated in-memory database, copied from a template that is migrated once for all tests.
    public static func defaultDatabase(migrations: Migrations) -> DependencyTrait {
        DependencyTrait { $0.defaultDatabase = .inMemory(migrations: migrations) }
    }

    /// Sets a dependency for the test.
    ///
    /// - Parameters:
    ///   - property: The dependency.
    ///   - value: The value, evaluated for each case.
    public static func dependency<Value: Sendable>(
        _ property: any WritableKeyPath<DependencyContainer.Values, Value?> & Sendable,
        _ value: @autoclosure @escaping @Sendable () throws -> Value
    ) -> DependencyTrait {
        DependencyTrait { $0[keyPath: property] = try value() }
    }

    /// Sets dependencies for the test.
    ///
    /// ```swift
    /// @Test(.dependencies {
    ///     $0.date = .constant(Date(timeIntervalSince1970: 0))
    ///     $0.random = .seeded(7)
    /// })
    /// ```
    ///
    /// - Parameter set: Sets the values. It is called for each case.
    public static func dependencies(_ set: @escaping @Sendable (inout DependencyContainer.Values) throws -> Void)
        -> DependencyTrait
    {
        DependencyTrait(set)
    }

    /// Gives the test separate dependencies: a clock that moves only when it is set or a script sleeps, and repeatable UUIDs and random
    /// numbers.
    public static var dependencies: DependencyTrait {
        DependencyTrait { _ in }
    }

    /// Runs a script on the default database before the test, for example to insert rows.
    ///
    /// ```swift
    /// @Test(.defaultDatabase(migrations: library), .script("db:execute[[INSERT INTO author (name) VALUES ('Verne')]]"))
    /// ```
    public static func script(_ source: String) -> DependencyTrait {
        DependencyTrait({ _ in }, prepare: { try await ScriptHost().run(source: source, named: "trait") })
    }

    /// Runs a script file on the default database before the test.
    public static func script(file path: String) -> DependencyTrait {
        DependencyTrait({ _ in }, prepare: { try await ScriptHost().run(file: path) })
    }
}
