public import Logging

/// The key of the clock.
public enum DateKey: DependencyKey {
    public static let name = "date"

    public static func defaultSource(in context: DependencyContext) -> DependencyDefault<DateSource> {
        .value(context == .test ? .manual(ManualClock()) : .system)
    }
}

/// The key of the source of UUIDs.
public enum UUIDKey: DependencyKey {
    public static let name = "uuid"

    public static func defaultSource(in context: DependencyContext) -> DependencyDefault<UUIDSource> {
        .value(context == .test ? .counting : .random)
    }
}

/// The key of the source of random numbers.
public enum RandomKey: DependencyKey {
    public static let name = "random"

    public static func defaultSource(in context: DependencyContext) -> DependencyDefault<RandomSource> {
        .value(context == .test ? .seeded(0) : .system)
    }
}

/// The key of the logger: in tests it logs nothing, so that what they print stays readable.
public enum LoggerKey: DependencyKey {
    public static let name = "logger"

    public static func defaultSource(in context: DependencyContext) -> DependencyDefault<Logger> {
        guard context == .test else { return .value(Logger(label: "perilune")) }
        return .value(Logger(label: "perilune") { _ in SwiftLogNoOpLogHandler() })
    }
}

extension DependencyValues {
    /// The clock: that of the machine; in tests it stands at the beginning of the year 2000 until it is set,
    /// or a script sleeps.
    public var date: DateSource? {
        get { self[DateKey.self] }
        set { self[DateKey.self] = newValue }
    }

    /// Where UUIDs come from: random ones; in tests they count from 0.
    public var uuid: UUIDSource? {
        get { self[UUIDKey.self] }
        set { self[UUIDKey.self] = newValue }
    }

    /// Where random numbers come from: the machine; in tests they follow from a seed.
    public var random: RandomSource? {
        get { self[RandomKey.self] }
        set { self[RandomKey.self] = newValue }
    }

    /// The logger.
    public var logger: Logger? {
        get { self[LoggerKey.self] }
        set { self[LoggerKey.self] = newValue }
    }
}
