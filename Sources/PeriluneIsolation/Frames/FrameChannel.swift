internal import CPeriluneIsolation
internal import Dispatch
internal import Glibc
internal import Synchronization

/// One end of a socket pair that carries frames in both directions. Any thread may send; only one thread may receive.
package final class FrameChannel: Sendable {
    package let descriptor: CInt
    private let limits: FrameLimits
    /// The lock is held while a frame is written, so that frames of different threads do not mix.
    private let outgoing = Mutex(Outgoing())
    /// The queue that sends posted bytes that did not fit into the socket's buffer.
    private let sender = DispatchQueue(label: "perilune.frames")
    private let parser: Mutex<FrameParser>
    /// Whether the last answer arrived within microseconds, in which case polling is faster than blocking.
    private let comesSoon = Atomic(false)

    /// Takes ownership of a socket and closes it in `deinit`.
    package init(descriptor: CInt, limits: FrameLimits = FrameLimits()) {
        self.descriptor = descriptor
        self.limits = limits
        parser = Mutex(FrameParser(limits: limits))
    }

    deinit {
        close(descriptor)
    }

    /// The posted bytes that wait for space in the socket's buffer.
    private struct Outgoing {
        var bytes: [UInt8] = []
        var isBeingSent = false
    }

    /// An error of sending a frame.
    package enum SendingError: Error {
        /// The frame exceeds the limits. No part of it was sent.
        case refused(FrameError)
        /// The other end is closed, or too many unsent bytes are waiting.
        case closed
    }

    /// The maximum number of posted bytes that may wait to be sent.
    private static let waitingLimitInBytes = 64 << 20

    /// Sends a frame. Blocks while the socket's buffer is full.
    package func send(_ frame: Frame) throws(SendingError) {
        let bytes = try encode(frame)
        let isSent = outgoing.withLock { _ in Self.send(bytes[...], to: descriptor) }
        guard isSent else { throw .closed }
    }

    /// Sends a frame without blocking, so that a worker that does not read cannot stall a thread of Swift concurrency.
    ///
    /// Do not mix with ``send(_:)`` on the same channel.
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
            // The lock is released while bytes are sent, so more may have been posted in the meantime.
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

    /// Waits for the next frame and returns it. Returns `nil` once the other end is closed.
    ///
    /// - Throws: ``FrameError`` if the received bytes are not a frame.
    package func receive() throws(FrameError) -> Frame? {
        // Receiving outside of the lock is safe, because only one thread receives.
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

    /// Closes both directions of the connection, which wakes the receiving thread. Any thread may call it.
    package func shutDown() {
        _ = shutdown(descriptor, CInt(SHUT_RDWR))
    }
}
