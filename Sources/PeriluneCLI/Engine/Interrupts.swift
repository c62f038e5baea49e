@preconcurrency internal import Glibc

/// Handlers of Ctrl-C and the other signals that ask a program to end.
enum Interrupts {
    /// Calls a closure on a separate thread at the first signal; a second one ends the process immediately.
    ///
    /// Signals that the parent process ignores stay ignored; shells do this to Ctrl-C for background jobs. Must be called only once.
    static func onFirst(_ action: @escaping @Sendable () -> Void) {
        onSignal { _ in
            action()
            return false
        }
    }

    /// The names of the signals, without "SIG".
    static let names = ["INT", "TERM", "HUP"]
    private static let numbers = [SIGINT, SIGTERM, SIGHUP]

    /// Calls a closure on a separate thread with the name of each signal. If it returns `false`, the next signal ends the process
    /// immediately.
    static func onSignal(_ action: @escaping @Sendable (String) -> Bool) {
        // Each of these signals, including SIGTERM, ends the script cleanly.
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
