internal import CPeriluneIsolation
internal import Glibc
internal import Synchronization

/// One end of a pair of sockets, over which frames go both ways. Sent from any thread; received by one.
package final class FrameChannel: Sendable {
    package let descriptor: CInt
    private let limits: FrameLimits
    /// Held while a frame is written, so that frames do not mix.
    private let writing = Mutex(())
    private let parser: Mutex<FrameParser>

    /// Takes a socket, which it closes at its end.
    package init(descriptor: CInt, limits: FrameLimits = FrameLimits()) {
        self.descriptor = descriptor
        self.limits = limits
        parser = Mutex(FrameParser(limits: limits))
    }

    deinit {
        close(descriptor)
    }

    /// What goes wrong with a frame that is sent.
    package enum SendingError: Error {
        /// The frame is too large; nothing of it was sent.
        case refused(FrameError)
        /// The other end is closed.
        case closed
    }

    /// Sends a frame; waits while the other end reads nothing.
    package func send(_ frame: Frame) throws(SendingError) {
        let bytes: [UInt8]
        do {
            bytes = try frame.encoded(limits: limits)
        } catch {
            throw .refused(error)
        }
        let isSent = writing.withLock { _ in
            bytes.withUnsafeBytes { piso_send(descriptor, $0.baseAddress, $0.count) }
        }
        guard isSent else { throw .closed }
    }

    /// Waits for the next frame; `nil` when the other end is closed.
    ///
    /// - Throws: ``FrameError`` if what has come is no frame.
    package func receive() throws(FrameError) -> Frame? {
        // Not under the lock of a closure that cannot throw typed errors: only one thread receives.
        while true {
            let result: Result<Frame?, FrameError> = parser.withLock { parser in
                do throws(FrameError) {
                    return .success(try parser.next())
                } catch {
                    return .failure(error)
                }
            }
            if let frame = try result.get() { return frame }
            var buffer = [UInt8](repeating: 0, count: 32 << 10)
            let count = buffer.withUnsafeMutableBytes { piso_receive(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return nil }
            parser.withLock { $0.add(buffer[..<count]) }
        }
    }

    /// Closes both directions, so that the thread that waits for a frame goes on. From any thread.
    package func shutDown() {
        _ = shutdown(descriptor, CInt(SHUT_RDWR))
    }
}
