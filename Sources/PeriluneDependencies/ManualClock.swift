public import Foundation
internal import Synchronization

/// A clock that changes only when it is set or advanced. The default in tests.
///
/// Timers and `perilune.sleep` in scripts use it: they take no real time, and fire in the order of their due times.
///
/// ```swift
/// let clock = ManualClock()
/// try await DependencyContainer.with { $0.date = .manual(clock) } operation: {
///     // ... start a timer of one hour
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

    /// Creates a clock that shows the given time.
    public init(_ start: Date = DateSource.year2000()) {
        state = Mutex(State(now: start))
    }

    /// The current time of the clock.
    public var now: Date { state.withLock { $0.now } }

    /// Sets the clock forward or back. Timers whose time has come fire.
    public func set(_ date: Date) {
        let observers = state.withLock { state in
            state.now = date
            return state.observers.sorted { $0.key < $1.key }.map(\.value)
        }
        for observer in observers { observer() }
    }

    /// Advances the clock by a number of seconds.
    public func advance(by seconds: TimeInterval) {
        set(now + seconds)
    }

    /// Adds a closure to call after each change, on the thread that sets the clock. Returns the id to pass to ``removeObserver(_:)``.
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
