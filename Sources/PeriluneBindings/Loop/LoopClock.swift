internal import Foundation
internal import Glibc
internal import PeriluneDependencies

/// The clock for timers: the monotonic system clock or a manual clock.
enum LoopClock: Sendable {
    case machine
    case manual(ManualClock)

    init(_ date: DateSource) {
        self = date.manualClock.map { .manual($0) } ?? .machine
    }

    /// The current time in seconds since an arbitrary reference time.
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
