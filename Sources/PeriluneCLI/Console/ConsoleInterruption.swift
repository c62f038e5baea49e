internal import Foundation
internal import Glibc
internal import Synchronization

/// The handler of signals in a console: Ctrl-C cancels the running statement, other signals end the console.
final class ConsoleInterruption: Sendable {
    private struct State {
        /// Cancels the running statement; `nil` if none is running.
        var cancel: (@Sendable () -> Void)?
        /// Whether Ctrl-C was pressed since the last line was read, while no statement was running.
        var isInterrupted = false
    }

    private let state = Mutex(State())

    /// - Parameter endsWhenIdle: Whether Ctrl-C ends the console when no statement is running.
    init(endsWhenIdle: Bool) {
        Interrupts.onSignal { [self] name in
            let running = state.withLock { state in
                if state.cancel == nil { state.isInterrupted = true }
                return state.cancel
            }
            guard name == "INT" else { Self.end(128 + (name == "TERM" ? SIGTERM : SIGHUP)) }
            running?()
            if running == nil, endsWhenIdle { Self.end(ExitStatus.interrupted) }
            return true
        }
    }

    private static func end(_ status: Int32) -> Never {
        OpenHosts.close()
        exit(status)
    }

    /// Forgets earlier interruptions before a line is read.
    func beginReading() {
        state.withLock { $0.isInterrupted = false }
    }

    /// Starts a statement that Ctrl-C cancels, even if it was pressed between reading the line and starting.
    func begin<Value>(_ start: () -> Task<Value, any Error>) -> Task<Value, any Error> {
        state.withLock { state in
            let task = start()
            state.cancel = { task.cancel() }
            if state.isInterrupted { task.cancel() }
            return task
        }
    }

    /// Marks the current statement as finished.
    func end() {
        state.withLock { $0.cancel = nil }
    }
}
