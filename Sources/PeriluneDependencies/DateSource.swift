public import Foundation
internal import Synchronization

/// Where the present comes from.
public struct DateSource: Sendable {
    private let now: @Sendable () -> Date
    /// Whether it is the clock of the machine.
    package let isSystem: Bool
    /// The clock, if it is set by hand.
    package let manualClock: ManualClock?

    /// Makes a source that asks a closure.
    public init(_ now: @escaping @Sendable () -> Date) {
        self.init(isSystem: false, now)
    }

    private init(isSystem: Bool, manualClock: ManualClock? = nil, _ now: @escaping @Sendable () -> Date) {
        self.isSystem = isSystem
        self.manualClock = manualClock
        self.now = now
    }

    /// The present.
    public func callAsFunction() -> Date { now() }

    /// The clock of the machine. The default but in tests.
    public static let system = DateSource(isSystem: true) { Date() }

    /// The first moment of the year 2000, in UTC. Where the clock of tests begins.
    public static let year2000 = DateSource.constant(Date(timeIntervalSince1970: 946_684_800))

    /// What a clock shows that is set by hand.
    public static func manual(_ clock: ManualClock) -> DateSource {
        DateSource(isSystem: false, manualClock: clock) { clock.now }
    }

    /// The same, read by a closure, which may set it.
    package static func manual(_ clock: ManualClock, _ read: @escaping @Sendable () -> Date) -> DateSource {
        DateSource(isSystem: false, manualClock: clock, read)
    }

    /// Always the same moment.
    public static func constant(_ date: Date) -> DateSource {
        DateSource { date }
    }

    /// A moment that is later by a step each time it is asked for; the first one is the start.
    public static func counting(from start: Date = year2000(), by step: TimeInterval = 1) -> DateSource {
        let count = Counter()
        return DateSource { start + Double(count.next()) * step }
    }
}

/// Counts from 0.
final class Counter: Sendable {
    private let count = Mutex<UInt64>(0)

    func next() -> UInt64 {
        count.withLock { count in
            defer { count &+= 1 }
            return count
        }
    }
}
