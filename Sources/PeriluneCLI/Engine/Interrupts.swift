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
        let wanted = numbers.filter { !isIgnored($0) }
        guard !wanted.isEmpty else { return }
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reading = ends[0]
        writingEnd = ends[1]
        startThread {
            var byte: UInt8 = 0
            while true {
                guard read(reading, &byte, 1) == 1 else {
                    if errno == EINTR { continue }
                    return
                }
                guard let index = numbers.firstIndex(of: CInt(byte)), !action(names[index]) else { continue }
                for number in wanted { signal(number, SIG_DFL) }
                return
            }
        }
        var handler = sigaction()
        handler.__sigaction_handler.sa_handler = { signal in
            // Only what a signal handler may do: a write to the pipe that the thread reads.
            let former = errno
            var byte = UInt8(truncatingIfNeeded: signal)
            _ = write(writingEnd, &byte, 1)
            errno = former
        }
        handler.sa_flags = SA_RESTART
        // A request to end, from anywhere, ends the script as cleanly.
        for number in wanted { sigaction(number, &handler, nil) }
    }

    private static func isIgnored(_ number: CInt) -> Bool {
        var former = sigaction()
        sigaction(number, nil, &former)
        return unsafeBitCast(former.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(body: body)).toOpaque()
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
                return nil
            }, box)
        if status == 0 { pthread_detach(thread) } else { Unmanaged<Box>.fromOpaque(box).release() }
    }

    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }
}

/// Set before the handler is installed, only read by it.
private nonisolated(unsafe) var writingEnd: CInt = -1
