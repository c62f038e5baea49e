internal import Foundation
internal import PeriluneDependencies
internal import Synchronization

/// The clock of a scenario, in Lua and in SQL: it stands still unless it is moved, or a script sleeps.
final class ScenarioClock: Sendable {
    /// The clock for timers.
    let clock = ManualClock()
    /// The time that each reading adds.
    private let step = Mutex<TimeInterval>(0)

    var source: DateSource { .manual(clock) { [self] in read() } }

    /// The present, read.
    func read() -> Date {
        let now = clock.now
        let step = step.withLock { $0 }
        if step != 0 { clock.advance(by: step) }
        return now
    }

    /// The current time, as last read.
    var now: Date { clock.now }

    func set(_ date: Date) { clock.set(date) }
    func advance(by seconds: TimeInterval) { clock.advance(by: seconds) }
    func tick(by seconds: TimeInterval) { step.withLock { $0 = seconds } }

    /// Undoes the last reading.
    func forgetReading() {
        let step = step.withLock { $0 }
        if step != 0 { clock.advance(by: -step) }
    }
}
