public import Logging

/// The key of the clock.
public enum DateKey: DependencyKey {
    public static let name = "date"

    public static func defaultSource(in context: DependencyContext) -> DependencyDefault<DateSource> {
        .value(context == .test ? .manual(ManualClock()) : .system)
    }
}

/// The key of the UUID source.
public enum UUIDKey: DependencyKey {
    public static let name = "uuid"

    public static func defaultSource(in context: DependencyContext) -> DependencyDefault<UUIDSource> {
        .value(context == .test ? .counting : .random)
    }
}

/// The key of the random number source.
public enum RandomKey: DependencyKey {
    public static let name = "random"

    public static func defaultSource(in context: DependencyContext) -> DependencyDefault<RandomSource> {
        .value(context == .test ? .seeded(0) : .system)
    }
}

/// The key of the logger. In tests the default logger discards everything, so that test output stays readable.
public enum LoggerKey: DependencyKey {
    public static let name = "logger"

    public static func defaultSource(in context: DependencyContext) -> DependencyDefault<Logger> {
        guard context == .test else { return .value(Logger(label: "perilune")) }
        return .value(Logger(label: "perilune") { _ in SwiftLogNoOpLogHandler() })
    }
}

extension DependencyValues {
    /// The clock. The default is the system clock; in tests, a clock at the start of the year 2000 that moves when it is set or a script
    /// sleeps.
    public var date: DateSource? {
        get { self[DateKey.self] }
        set { self[DateKey.self] = newValue }
    }

    /// The UUID source. The default is random; in tests it counts from 0.
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
