internal import Foundation
internal import Glibc
internal import Synchronization

/// What Ctrl-C and the other signals do to a console: Ctrl-C ends the statement that runs, the others end the console.
final class ConsoleInterruption: Sendable {
    private struct State {
        /// Ends the statement that runs; `nil`: none does.
        var cancel: (@Sendable () -> Void)?
        /// Whether there was a Ctrl-C since a line was read, and no statement that it could end.
        var isInterrupted = false
    }

    private let state = Mutex(State())

    /// - Parameter endsWhenIdle: Whether Ctrl-C ends the console while no statement runs.
    init(endsWhenIdle: Bool) {
        Interrupts.onSignal { [self] name in
            let running = state.withLock { state in
                if state.cancel == nil { state.isInterrupted = true }
                return state.cancel
            }
            guard name == "INT" else { exit(128 + (name == "TERM" ? SIGTERM : SIGHUP)) }
            running?()
            if running == nil, endsWhenIdle { exit(ExitStatus.interrupted) }
            return true
        }
    }

    /// A line is to be read: what was interrupted before it is over.
    func beginReading() {
        state.withLock { $0.isInterrupted = false }
    }

    /// Starts a statement, which a signal ends that has come since its line was read, or will come.
    func begin<Value>(_ start: () -> Task<Value, any Error>) -> Task<Value, any Error> {
        state.withLock { state in
            let task = start()
            state.cancel = { task.cancel() }
            if state.isInterrupted { task.cancel() }
            return task
        }
    }

    /// It has ended.
    func end() {
        state.withLock { $0.cancel = nil }
    }
}
