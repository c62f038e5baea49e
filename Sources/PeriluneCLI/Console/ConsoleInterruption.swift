internal import Foundation
internal import Glibc
internal import Synchronization

/// The signal handler of a console: Ctrl-C cancels the running statement, other signals end the console.
final class ConsoleInterruption: Sendable {
    private struct State {
        /// Cancels the running statement; `nil` if none is running.
        var cancel: (@Sendable () -> Void)?
        /// Whether a signal has arrived after the console began to read a line and before it started the statement.
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

    /// Starts a statement that Ctrl-C cancels, even if the key was pressed after the line was read and before the statement started.
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
