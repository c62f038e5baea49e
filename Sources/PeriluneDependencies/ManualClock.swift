public import Foundation
internal import Synchronization

/// A clock that changes only when it is set or advanced. The default in tests.
///
/// Timers and `perilune.sleep` in scripts use it: they take no real time, and fire in the order of their due times. When everything waits
/// and a script sleeps, the clock advances to the next due time.
///
/// ```swift
/// let clock = ManualClock()
/// try await DependencyContainer.with { $0.date = .manual(clock) } operation: {
///     let host = try await ScriptHost()
///     try await host.run(source: """
///         hours = 0
///         perilune.every("1h", function() hours = hours + 1 end)
///         """)
///     clock.advance(by: 3600)
///     try await host.run(source: "perilune.sleep(0)")
///     let hours: Int = try await host.run(source: "return hours")
///     #expect(hours == 1)
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

    /// Sets the clock forward or back. Timers whose time has come fire: their functions become due, and run on the threads of their hosts.
    /// A script that calls `perilune.sleep(0)` waits for the functions of its host.
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
