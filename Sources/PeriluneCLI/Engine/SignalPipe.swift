internal import Foundation
@preconcurrency internal import Glibc

/// Signals as the bytes of a pipe, since a handler may do little more than write.
///
/// Not Dispatch's sources, which take the signal up later, on a thread of their own: one that comes before that is lost.
enum SignalPipe {
    /// Has signals written to a pipe from now on: the number of each as one byte.
    ///
    /// To be called once for each signal.
    ///
    /// - Returns: The end to read from; `nil` if no more files can be open.
    static func open(for numbers: [CInt]) -> CInt? {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A full pipe must not hold up what the signal has interrupted.
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

    /// Calls a closure with each of the signals from now on, on a thread of its own, until it answers `false`.
    ///
    /// To be called once for each signal.
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

/// By the number of the signal. Each is set before its handler is installed, and only read by that.
private nonisolated(unsafe) let writingEnds = UnsafeMutablePointer<CInt>.allocate(capacity: 65)
