public import Logging

/// The key of the clock.
package enum DateKey: DependencyContainer.Key {
    package static var name: String { "date" }

    package static func defaultSource(in context: DependencyContainer.Context) -> DependencyContainer.Default<DateSource> {
        .value(context == .test ? .manual(ManualClock()) : .system)
    }
}

/// The key of the UUID source.
package enum UUIDKey: DependencyContainer.Key {
    package static var name: String { "uuid" }

    package static func defaultSource(in context: DependencyContainer.Context) -> DependencyContainer.Default<UUIDSource> {
        .value(context == .test ? .counting : .random)
    }
}

/// The key of the random number source.
package enum RandomKey: DependencyContainer.Key {
    package static var name: String { "random" }

    package static func defaultSource(in context: DependencyContainer.Context) -> DependencyContainer.Default<RandomSource> {
        .value(context == .test ? .seeded(0) : .system)
    }
}

/// The key of the logger. In tests, the default logger discards all messages to keep the test output readable.
package enum LoggerKey: DependencyContainer.Key {
    package static var name: String { "logger" }

    package static func defaultSource(in context: DependencyContainer.Context) -> DependencyContainer.Default<Logger> {
        guard context == .test else { return .value(Logger(label: "perilune")) }
        return .value(Logger(label: "perilune") { _ in SwiftLogNoOpLogHandler() })
    }
}

extension DependencyContainer.Values {
    /// The clock. The default is the system clock. In tests, the default is a clock that starts at the year 2000, and moves only when it is
    /// set or a script sleeps.
    public var date: DateSource? {
        get { self[DateKey.self] }
        set { self[DateKey.self] = newValue }
    }

    /// The UUID source. The default is random; in tests it counts up from 0.
    public var uuid: UUIDSource? {
        get { self[UUIDKey.self] }
        set { self[UUIDKey.self] = newValue }
    }

    /// The random number source. The default is the system generator; in tests it is seeded.
    public var random: RandomSource? {
        get { self[RandomKey.self] }
        set { self[RandomKey.self] = newValue }
    }

    /// The logger of scripts and hosts.
    public var logger: Logger? {
        get { self[LoggerKey.self] }
        set { self[LoggerKey.self] = newValue }
    }
}

extension DependencyContainer {
    /// The clock of the current task: `try await DependencyContainer.date()` is the current time.
    ///
    /// - Throws: ``DependencyError``, or the error of creating the value.
    public static var date: DateSource {
        get async throws { try await value(for: DateKey.self) }
    }

    /// The UUID source of the current task.
    ///
    /// - Throws: ``DependencyError``, or the error of creating the value.
    public static var uuid: UUIDSource {
        get async throws { try await value(for: UUIDKey.self) }
    }

    /// The random number source of the current task.
    ///
    /// - Throws: ``DependencyError``, or the error of creating the value.
    public static var random: RandomSource {
        get async throws { try await value(for: RandomKey.self) }
    }

    /// The logger of scripts and hosts in the current task.
    ///
    /// - Throws: ``DependencyError``, or the error of creating the value.
    public static var logger: Logger {
        get async throws { try await value(for: LoggerKey.self) }
    }
}
