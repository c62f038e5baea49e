public import Foundation
internal import Synchronization

/// A source of the current time.
public struct DateSource: Sendable {
    private let now: @Sendable () -> Date
    /// Whether the source is the system clock.
    package let isSystem: Bool
    /// The clock that the source reads, if it is a ``ManualClock``.
    package let manualClock: ManualClock?

    /// Creates a source that calls a closure.
    public init(_ now: @escaping @Sendable () -> Date) {
        self.init(isSystem: false, now)
    }

    private init(isSystem: Bool, manualClock: ManualClock? = nil, _ now: @escaping @Sendable () -> Date) {
        self.isSystem = isSystem
        self.manualClock = manualClock
        self.now = now
    }

    /// Returns the current time.
    public func callAsFunction() -> Date { now() }

    /// The system clock. The default outside of tests.
    public static let system = DateSource(isSystem: true) { Date() }

    /// The start of the year 2000 in UTC, which is the first time that the clock in tests shows.
    public static let year2000 = DateSource.constant(Date(timeIntervalSince1970: 946_684_800))

    /// Returns a source that reads a manual clock.
    public static func manual(_ clock: ManualClock) -> DateSource {
        DateSource(isSystem: false, manualClock: clock) { clock.now }
    }

    /// Returns a source that reads a manual clock through a closure, which may also advance the clock.
    package static func manual(_ clock: ManualClock, _ read: @escaping @Sendable () -> Date) -> DateSource {
        DateSource(isSystem: false, manualClock: clock, read)
    }

    /// Returns a source that always returns the same time.
    public static func constant(_ date: Date) -> DateSource {
        DateSource { date }
    }

    /// Returns a source that starts at `start` and advances by `step` seconds with every call.
    public static func counting(from start: Date = year2000(), by step: TimeInterval = 1) -> DateSource {
        let count = Counter()
        return DateSource { start + Double(count.next()) * step }
    }
}

/// A counter that starts at 0.
final class Counter: Sendable {
    private let count = Mutex<UInt64>(0)

    func next() -> UInt64 {
        count.withLock { count in
            defer { count &+= 1 }
            return count
        }
    }
}
