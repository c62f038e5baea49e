internal import Foundation
@preconcurrency internal import Glibc

/// Signals delivered as bytes through a pipe, because a signal handler can do little more than write.
///
/// Dispatch sources are unsuitable: they register the signal later, on their own thread, and lose earlier signals.
enum SignalPipe {
    /// Opens a pipe that receives the number of each signal from now on as one byte.
    ///
    /// Must be called only once for each signal.
    ///
    /// - Returns: The reading end; `nil` if no more files can be opened.
    static func open(for numbers: [CInt]) -> CInt? {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A full pipe must not block the interrupted code.
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        var handler = sigaction()
        handler.__sigaction_handler.sa_handler = { number in
            let former = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(writingEnds[Int(number)], &byte, 1)
            errno = former
        }
        handler.sa_flags = SA_RESTART
        for number in numbers {
            writingEnds[Int(number)] = ends[1]
            sigaction(number, &handler, nil)
        }
        return ends[0]
    }

    /// Calls a closure with each signal on a separate thread until it returns `false`.
    ///
    /// Must be called only once for each signal.
    static func forEach(of numbers: [CInt], _ action: @escaping @Sendable (CInt) -> Bool) {
        guard let reading = open(for: numbers) else { return }
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while true {
                let count = read(reading, &byte, 1)
                if count < 0 && errno == EINTR { continue }
                guard count == 1, action(CInt(byte)) else { return }
            }
        }
    }
}

/// The writing end of the pipe for each signal number. Safe, because each element is set before its handler is installed, and only the
/// handler reads it.
private nonisolated(unsafe) let writingEnds = UnsafeMutablePointer<CInt>.allocate(capacity: 65)
