internal import Foundation
internal import Glibc
internal import Synchronization

/// What Ctrl-C and the other signals do to a console: Ctrl-C ends the statement that runs, the others end the console.
final class ConsoleInterruption: Sendable {
    private let cancel = Mutex<(@Sendable () -> Void)?>(nil)

    /// - Parameter endsWhenIdle: Whether Ctrl-C ends the console while no statement runs.
    init(endsWhenIdle: Bool) {
        Interrupts.onSignal { [self] name in
            let running = cancel.withLock { $0 }
            guard name == "INT" else { exit(128 + (name == "TERM" ? SIGTERM : SIGHUP)) }
            running?()
            if running == nil, endsWhenIdle { exit(ExitStatus.interrupted) }
            return true
        }
    }

    /// Starts a statement, which a signal ends from the first moment on.
    func begin<Value>(_ start: () -> Task<Value, any Error>) -> Task<Value, any Error> {
        cancel.withLock { cancel in
            let task = start()
            cancel = { task.cancel() }
            return task
        }
    }

    /// It has ended.
    func end() {
        cancel.withLock { $0 = nil }
    }
}
