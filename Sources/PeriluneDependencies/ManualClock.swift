public import Foundation
internal import Synchronization

/// A clock that stands still until it is set. The default in tests.
///
/// Timers and `perilune.sleep` of scripts follow it: they take no time, and come in the order of their times.
///
/// ```swift
/// let clock = ManualClock()
/// try await Dependencies.with { $0.date = .manual(clock) } operation: {
///     // ... start what waits for an hour
///     clock.advance(by: 3600)
/// }
/// ```
public final class ManualClock: Sendable {
    private struct State {
        var now: Date
        var observers: [Int: @Sendable () -> Void] = [:]
        var count = 0
    }

    private let state: Mutex<State>

    /// Makes a clock that shows a moment.
    public init(_ start: Date = DateSource.year2000()) {
        state = Mutex(State(now: start))
    }

    /// What it shows.
    public var now: Date { state.withLock { $0.now } }

    /// Sets it, forwards or back. Timers that are due by then are called.
    public func set(_ date: Date) {
        let observers = state.withLock { state in
            state.now = date
            return state.observers.sorted { $0.key < $1.key }.map(\.value)
        }
        for observer in observers { observer() }
    }

    /// Sets it forward by a number of seconds.
    public func advance(by seconds: TimeInterval) {
        set(now + seconds)
    }

    /// Has a closure called after each setting, on the thread that sets it. Returns what ``removeObserver(_:)`` takes.
    package func addObserver(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.count += 1
            state.observers[state.count] = observer
            return state.count
        }
    }

    package func removeObserver(_ id: Int) {
        state.withLock { $0.observers[id] = nil }
    }
}
