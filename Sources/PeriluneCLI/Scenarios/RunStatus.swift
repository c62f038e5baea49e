internal import Foundation
internal import Perilune
internal import PeriluneScenarios
internal import Synchronization

/// The current run, shared with the handlers of signals, keys and Ctrl-C.
final class RunStatus: Sendable {
    private struct State {
        var run: ScenarioRun?
        var write: (@Sendable (String) -> Void)?
        var isInterrupted = false
    }

    private let state = Mutex(State())

    /// Whether the user has interrupted the program.
    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    /// - Parameter write: Writes a status between the lines of the run.
    func begin(_ run: ScenarioRun, write: @escaping @Sendable (String) -> Void) {
        let isInterrupted = state.withLock { state in
            (state.run, state.write) = (run, write)
            return state.isInterrupted
        }
        if isInterrupted { run.interrupt() }
    }

    func interrupt() {
        let run = state.withLock { state in
            state.isInterrupted = true
            return state.run
        }
        run?.interrupt()
    }

    /// Shows the running scenarios and their durations, one per line.
    func show() {
        let (run, write) = state.withLock { ($0.run, $0.write) }
        let status = run?.status ?? []
        let lines = status.map { scenario, duration in
            "running for \(TimeText.text(duration))  \(scenario.place)  \(DisplayText.escaped(scenario.title))\n"
        }
        write?(lines.isEmpty ? "nothing is running\n" : lines.joined())
    }
}

/// Requests to show the running scenarios: the signal USR1 or the key `t`.
enum StatusRequests {
    /// Calls a closure on another thread at each request until the process ends.
    ///
    /// Must be called only once.
    static func forEach(_ show: @escaping @Sendable () -> Void) {
        SignalPipe.forEach(of: [SIGUSR1]) { _ in
            show()
            return true
        }
        TerminalKeys.forEach { key in if key == UInt8(ascii: "t") { show() } }
    }

    /// Ignores the signal in a worker process, because `pkill -USR1 perilune` sends it to the parent as well.
    static func ignore() {
        signal(SIGUSR1, SIG_IGN)
    }
}

/// Single key presses on the terminal, read until the process ends.
private enum TerminalKeys {
    /// The previous terminal settings, to be restored at exit. Written once, before `atexit` is called.
    ///
    /// Allocated separately: for a static property initialized with `termios()`, Swift 6.3 reserves only the sum of the fields, 57
    /// bytes, without the three bytes of padding in C, but `tcgetattr` writes 60.
    private nonisolated(unsafe) static let former = UnsafeMutablePointer<termios>.allocate(capacity: 1)

    /// Calls a closure for each key. Does nothing if standard input is not a terminal or belongs to another job.
    static func forEach(_ press: @escaping @Sendable (UInt8) -> Void) {
        guard StandardStreams.isInputTerminal, tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, former) == 0
        else { return }
        var settings = former.pointee
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        atexit { tcsetattr(STDIN_FILENO, TCSANOW, TerminalKeys.former) }
        Thread.detachNewThread {
            var key: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &key, 1)
                if count == 1 { press(key) } else if count == 0 || errno != EINTR { return }
            }
        }
    }
}
