internal import Foundation
internal import PeriluneDependencies
internal import Synchronization

/// The clock of a scenario, in Lua and in SQL: it stands still unless it is moved.
final class ScenarioClock: Sendable {
    fileprivate struct State {
        var now: Date
        /// By which it is later after each reading.
        var tick: TimeInterval = 0
    }

    fileprivate let state = Mutex(State(now: DateSource.year2000()))

    var source: DateSource { DateSource { [self] in read() } }

    /// The present, read.
    func read() -> Date {
        state.withLock { state in
            defer { state.now += state.tick }
            return state.now
        }
    }

    /// The present, as it was read last.
    var now: Date { state.withLock { $0.now } }

    func set(_ date: Date) { state.withLock { $0.now = date } }
    func advance(by seconds: TimeInterval) { state.withLock { $0.now += seconds } }
    func tick(by seconds: TimeInterval) { state.withLock { $0.tick = seconds } }
}

extension ScenarioClock {
    /// Takes the last reading back.
    func forgetReading() {
        state.withLock { $0.now -= $0.tick }
    }
}
