internal import Foundation
internal import Glibc
internal import PeriluneDependencies

/// The time that timers go by: a monotonic clock of the machine, or a clock that is set by hand.
enum LoopClock: Sendable {
    case machine
    case manual(ManualClock)

    init(_ date: DateSource) {
        self = date.manualClock.map { .manual($0) } ?? .machine
    }

    /// Seconds since some moment.
    var now: Double {
        switch self {
        case .machine:
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        case .manual(let clock): return clock.now.timeIntervalSince1970
        }
    }
}
