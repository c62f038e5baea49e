internal import CPeriluneIsolation
internal import Dispatch
internal import Glibc
internal import Synchronization

/// One end of a pair of sockets, over which frames go both ways. Sent from any thread; received by one.
package final class FrameChannel: Sendable {
    package let descriptor: CInt
    private let limits: FrameLimits
    /// Held while a frame is written, so that frames do not mix.
    private let outgoing = Mutex(Outgoing())
    /// Sends what was posted and could not be sent at once.
    private let sender = DispatchQueue(label: "perilune.frames")
    private let parser: Mutex<FrameParser>
    /// Whether the other end has answered at once last.
    private let comesSoon = Atomic(false)

    /// Takes a socket, which it closes at its end.
    package init(descriptor: CInt, limits: FrameLimits = FrameLimits()) {
        self.descriptor = descriptor
        self.limits = limits
        parser = Mutex(FrameParser(limits: limits))
    }

    deinit {
        close(descriptor)
    }

    /// What was posted and waits for the other end.
    private struct Outgoing {
        var bytes: [UInt8] = []
        var isBeingSent = false
    }

    /// What goes wrong with a frame that is sent.
    package enum SendingError: Error {
        /// The frame is too large; nothing of it was sent.
        case refused(FrameError)
        /// The other end is closed, or has been sent far more than it reads.
        case closed
    }

    /// How many bytes may wait for the other end.
    private static let waitingLimitInBytes = 64 << 20

    /// Sends a frame; waits while the other end reads nothing.
    package func send(_ frame: Frame) throws(SendingError) {
        let bytes = try encode(frame)
        let isSent = outgoing.withLock { _ in Self.send(bytes[...], to: descriptor) }
        guard isSent else { throw .closed }
    }

    /// Sends a frame, also if the other end reads nothing: the thread never waits, as those of Swift's concurrency must not for a
    /// process that may have been taken over. Not on a channel on which ``send(_:)`` is used at the same time.
    package func post(_ frame: Frame) throws(SendingError) {
        let bytes = try encode(frame)
        let isPosted = outgoing.withLock { outgoing in
            if outgoing.isBeingSent {
                guard outgoing.bytes.count + bytes.count <= Self.waitingLimitInBytes else { return false }
                outgoing.bytes += bytes
                return true
            }
            let count = bytes.withUnsafeBytes { piso_try_send(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else { return false }
            guard count < bytes.count else { return true }
            (outgoing.bytes, outgoing.isBeingSent) = (Array(bytes[count...]), true)
            sender.async { self.sendWhatWaits() }
            return true
        }
        guard isPosted else {
            shutDown()
            throw .closed
        }
    }

    private func sendWhatWaits() {
        while true {
            let bytes = outgoing.withLock { outgoing in
                defer { outgoing.bytes = [] }
                outgoing.isBeingSent = !outgoing.bytes.isEmpty
                return outgoing.bytes
            }
            // The lock is free meanwhile: more may be posted.
            guard !bytes.isEmpty else { return }
            guard Self.send(bytes[...], to: descriptor) else { return shutDown() }
        }
    }

    private func encode(_ frame: Frame) throws(SendingError) -> [UInt8] {
        do {
            return try frame.encoded(limits: limits)
        } catch {
            throw .refused(error)
        }
    }

    private static func send(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) -> Bool {
        bytes.withUnsafeBytes { piso_send(descriptor, $0.baseAddress, $0.count) }
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
            let bytes = [UInt8](unsafeUninitializedCapacity: 32 << 10) { buffer, count in
                var soon = comesSoon.load(ordering: .relaxed)
                count = piso_receive(descriptor, buffer.baseAddress, buffer.count, &soon)
                comesSoon.store(soon, ordering: .relaxed)
            }
            guard !bytes.isEmpty else { return nil }
            parser.withLock { $0.add(bytes) }
        }
    }

    /// Closes both directions, so that the thread that waits for a frame goes on. From any thread.
    package func shutDown() {
        _ = shutdown(descriptor, CInt(SHUT_RDWR))
    }
}
