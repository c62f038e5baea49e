@preconcurrency internal import Glibc

/// Ctrl-C, and the other signals by which a program is asked to end.
enum Interrupts {
    /// Calls a closure, on a thread of its own, at the first Ctrl-C; a second one ends the process at once.
    ///
    /// Signals that the parent process has asked to ignore stay so, as Ctrl-C does in shells for jobs in the background. To be
    /// called once.
    static func onFirst(_ action: @escaping @Sendable () -> Void) {
        onSignal { _ in
            action()
            return false
        }
    }

    /// The names of the signals, without "SIG".
    static let names = ["INT", "TERM", "HUP"]
    private static let numbers = [SIGINT, SIGTERM, SIGHUP]

    /// Calls a closure, on a thread of its own, with the name of each signal; when it answers `false` that was the last, and
    /// the next signal ends the process at once.
    static func onSignal(_ action: @escaping @Sendable (String) -> Bool) {
        // A request to end, from anywhere, ends the script as cleanly.
        let wanted = numbers.filter { !isIgnored($0) }
        guard !wanted.isEmpty else { return }
        SignalPipe.forEach(of: wanted) { number in
            guard let index = numbers.firstIndex(of: number), !action(names[index]) else { return true }
            for number in wanted { signal(number, SIG_DFL) }
            return false
        }
    }

    private static func isIgnored(_ number: CInt) -> Bool {
        var former = sigaction()
        sigaction(number, nil, &former)
        return unsafeBitCast(former.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
