#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The time at which a wait fails.
struct Deadline: Sendable {
    private let end: ContinuousClock.Instant

    /// - Parameter duration: The time until the deadline.
    init(after duration: Duration) { end = .now + duration }

    var isOver: Bool { end <= .now }

    /// The remaining time, clamped to the timeouts that `poll` accepts.
    var millisecondsLeft: Int {
        Int(max(0, min(ContinuousClock.now.duration(to: end) / .milliseconds(1), 1_000_000_000)))
    }

    /// Returns the earlier of two deadlines.
    func earlier(_ other: Deadline) -> Deadline { end < other.end ? self : other }
}

/// Random pauses of increasing length between attempts.
struct BackOff {
    private var milliseconds: Double
    private let most: Double

    init(from first: Double, to most: Double) {
        milliseconds = first
        self.most = most
    }

    /// Sleeps for the next pause.
    ///
    /// - Throws: ``ConnectionFailure`` if the deadline passes or the script must end.
    mutating func wait(until deadline: Deadline, _ isCancelled: () -> Bool) throws {
        let chosen = milliseconds * Double.random(in: 0.5...1)
        milliseconds = min(most, milliseconds * 1.6)
        let end = Deadline(after: .milliseconds(Int(chosen.rounded(.up)))).earlier(deadline)
        while !end.isOver {
            if isCancelled() { throw ConnectionFailure.cancelled }
            usleep(UInt32(min(20, max(1, end.millisecondsLeft))) * 1000)
        }
        if isCancelled() { throw ConnectionFailure.cancelled }
        if deadline.isOver { throw ConnectionFailure.deadline }
    }
}
