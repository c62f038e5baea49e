public import Perilune
public import Testing

/// Gives a test, or each test of a suite, dependencies of its own.
///
/// Each case of a test with arguments is a test for itself. What several traits give is seen together, the innermost first.
///
/// ```swift
/// @Test(.defaultDatabase(migrations: "migrations"), .script(file: "seed.lua"))
/// func `closing a month sends a letter for each sale`() async throws {
///     let mail = CallRecorder(), host = try await ScriptHost()
///     try await host.register(module: "mail") { $0.recording("send", in: mail) }
///     try await host.run(file: "close_month.lua", arguments: Month(year: 2026, month: 3))
///     #expect(mail.calls.map(\.function) == ["send", "send"])
/// }
/// ```
public struct DependencyTrait: TestTrait, SuiteTrait, TestScoping {
    /// Whether the trait of a suite is one of the suites in it; it is.
    public let isRecursive = true
    private let give: @Sendable (inout DependencyValues) throws -> Void
    private let prepare: @Sendable () async throws -> Void

    fileprivate init(
        _ give: @escaping @Sendable (inout DependencyValues) throws -> Void,
        prepare: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.give = give
        self.prepare = prepare
    }

    /// Runs a test in the scope that the trait makes.
    ///
    /// - Throws: What the test throws, and what making the scope throws.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // The outermost trait begins a test; the others add to it.
        guard Dependencies.isInTestScope else {
            return try await Dependencies.withTestScope { try await run(function) }
        }
        try await run(function)
    }

    private func run(_ function: @Sendable () async throws -> Void) async throws {
        try await Dependencies.with(give) {
            try await prepare()
            try await function()
        }
    }
}

extension Trait where Self == DependencyTrait {
    /// Gives the test a default database of its own.
    ///
    /// ```swift
    /// @Test(.defaultDatabase(.pool("shop.sqlite", migrations: schema, usesFilesInTests: true)))
    /// ```
    ///
    /// - Parameter source: Evaluated for each case; an empty one in memory by default. A path in it is not opened.
    public static func defaultDatabase(
        _ source: @autoclosure @escaping @Sendable () throws -> DefaultDatabase = .inMemory()
    ) -> DependencyTrait {
        DependencyTrait { $0.defaultDatabase = try source() }
    }

    /// Gives the test a migrated database in memory: a copy of one that is migrated once for all tests.
    public static func defaultDatabase(migrations: Migrations) -> DependencyTrait {
        DependencyTrait { $0.defaultDatabase = .inMemory(migrations: migrations) }
    }

    /// Gives the test a value for a dependency.
    ///
    /// - Parameters:
    ///   - property: The dependency.
    ///   - value: Evaluated for each case.
    public static func dependency<Value: Sendable>(
        _ property: any WritableKeyPath<DependencyValues, Value?> & Sendable,
        _ value: @autoclosure @escaping @Sendable () throws -> Value
    ) -> DependencyTrait {
        DependencyTrait { $0[keyPath: property] = try value() }
    }

    /// Gives the test dependencies of its own: the clock stands, UUIDs and random numbers repeat.
    public static var dependencies: DependencyTrait {
        DependencyTrait { _ in }
    }

    /// Runs a script on the default database before the test: to fill it.
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
