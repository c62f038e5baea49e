internal import Foundation
internal import PeriluneDependencies
internal import Synchronization

/// The clock of a scenario in Lua and SQL. It advances only when the scenario changes it or a script sleeps.
final class ScenarioClock: Sendable {
    /// The clock for timers.
    let clock = ManualClock()
    /// The time by which each reading advances the clock.
    private let step = Mutex<TimeInterval>(0)

    var source: DateSource { .manual(clock) { [self] in read() } }

    /// Returns the current time, and advances the clock by the time for each reading.
    func read() -> Date {
        let now = clock.now
        let step = step.withLock { $0 }
        if step != 0 { clock.advance(by: step) }
        return now
    }

    /// The current time, without advancing the clock.
    var now: Date { clock.now }

    func set(_ date: Date) { clock.set(date) }
    func advance(by seconds: TimeInterval) { clock.advance(by: seconds) }
    func tick(by seconds: TimeInterval) { step.withLock { $0 = seconds } }

    /// Takes back the advance of the clock by the last reading.
    func forgetReading() {
        let step = step.withLock { $0 }
        if step != 0 { clock.advance(by: -step) }
    }
}
