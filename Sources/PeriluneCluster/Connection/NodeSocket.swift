internal import PeriluneRecords
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A TCP socket whose operations fail at a deadline or when the script must end.
final class NodeSocket {
    private let descriptor: CInt
    private var isOpen = true
    /// The buffer for received bytes that have not been read yet.
    private let input: UnsafeMutableRawBufferPointer
    private var first = 0, last = 0
    private let isCancelled: () -> Bool
    /// Whether more than one response is outstanding.
    var awaitsSeveral = false
    /// Whether the last bytes arrived quickly, which means that the node is on this machine or close to it.
    private var answersSoon = true

    /// The interval at which a wait checks whether the script must end.
    private static let slice = timeval(tv_sec: 0, tv_usec: 50_000)
    private static let inputSize = 64 * 1024
    /// The polling time, which is longer than a node on the same machine needs for a row and shorter than most network round trips.
    private static let soon = Duration.microseconds(200)

    /// Connects to a node.
    ///
    /// - Parameter isCancelled: Returns whether the script must end. Called at intervals during each wait.
    /// - Throws: ``ConnectionFailure``.
    init(_ address: ServerAddress, until deadline: Deadline, isCancelled: @escaping () -> Bool) throws {
        self.isCancelled = isCancelled
        descriptor = try Self.connect(
            NameLookup().address(of: address, until: deadline, isCancelled), until: deadline, isCancelled)
        input = .allocate(byteCount: Self.inputSize, alignment: 8)
    }

    deinit {
        close()
        input.deallocate()
    }

    func close() {
        if isOpen { _ = Glibc.close(descriptor) }
        isOpen = false
    }

    // MARK: - Connecting

    private static func connect(_ address: sockaddr_in, until deadline: Deadline, _ isCancelled: () -> Bool) throws -> CInt {
        let descriptor = socket(
            AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ConnectionFailure.lost(lastError()) }
        do {
            let result = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if result != 0 {
                guard errno == EINPROGRESS else { throw ConnectionFailure.lost(lastError()) }
                try waitForConnection(descriptor, until: deadline, isCancelled)
            }
            try configure(descriptor)
            return descriptor
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
    }

    private static func waitForConnection(_ descriptor: CInt, until deadline: Deadline, _ isCancelled: () -> Bool) throws {
        while true {
            var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            if poll(&item, 1, CInt(min(50, deadline.millisecondsLeft))) > 0 { break }
            if isCancelled() { throw ConnectionFailure.cancelled }
            if deadline.isOver { throw ConnectionFailure.deadline }
        }
        var code: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        if code != 0 { throw ConnectionFailure.lost(String(cString: strerror(code))) }
    }

    private static func configure(_ descriptor: CInt) throws {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        var isOn: CInt = 1, slice = slice
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<CInt>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &isOn, socklen_t(MemoryLayout<CInt>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &slice, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &slice, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func lastError() -> String { String(cString: strerror(errno)) }

    /// Makes the kernel acknowledge the next bytes immediately. A node sends small responses in separate packets and holds the
    /// second response back until the first is acknowledged, which can otherwise take 40 ms.
    func acknowledgeAtOnce() {
        #if os(Linux)
        var isOn: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_QUICKACK, &isOn, socklen_t(MemoryLayout<CInt>.size))
        #endif
    }

    // MARK: - Bytes

    /// - Throws: ``ConnectionFailure``.
    func send(_ bytes: UnsafeRawBufferPointer, until deadline: Deadline) throws {
        var sent = 0
        while sent < bytes.count {
            let count = Glibc.send(descriptor, bytes.baseAddress! + sent, bytes.count - sent, CInt(MSG_NOSIGNAL))
            if count > 0 { sent += count } else { try goOn(until: deadline) }
        }
    }

    /// Receives bytes until the buffer is full.
    ///
    /// - Throws: ``ConnectionFailure``.
    func receive(_ target: UnsafeMutableRawBufferPointer, until deadline: Deadline) throws {
        var done = 0
        while done < target.count {
            if first == last {
                // Long reads bypass the input buffer.
                let wanted = target.count - done
                if wanted >= input.count {
                    done += try receiveSome(UnsafeMutableRawBufferPointer(rebasing: target[done...]), until: deadline)
                    continue
                }
                first = 0
                last = try receiveSome(input, until: deadline)
            }
            let count = min(last - first, target.count - done)
            memcpy(target.baseAddress! + done, input.baseAddress! + first, count)
            first += count
            done += count
        }
    }

    private func receiveSome(_ target: UnsafeMutableRawBufferPointer, until deadline: Deadline) throws -> Int {
        let begin = ContinuousClock.now
        defer { answersSoon = ContinuousClock.now - begin < Self.soon }
        while true {
            let count = answersSoon ? receiveAwake(target, since: begin) : recv(descriptor, target.baseAddress!, target.count, 0)
            if count > 0 {
                if awaitsSeveral { acknowledgeAtOnce() }
                return count
            }
            if count == 0 { throw ConnectionFailure.lost("the node has closed the connection") }
            try goOn(until: deadline)
        }
    }

    /// Polls the socket if the last response was quick, because waking a sleeping thread takes longer than such a response. Yields
    /// the processor between polls.
    private func receiveAwake(_ target: UnsafeMutableRawBufferPointer, since begin: ContinuousClock.Instant) -> Int {
        repeat {
            let count = recv(descriptor, target.baseAddress!, target.count, CInt(MSG_DONTWAIT))
            if count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK) { return count }
            sched_yield()
        } while ContinuousClock.now - begin < Self.soon
        return recv(descriptor, target.baseAddress!, target.count, 0)
    }

    /// Returns if the failed system call should be repeated, and throws otherwise.
    private func goOn(until deadline: Deadline) throws {
        guard errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR else { throw ConnectionFailure.lost(Self.lastError()) }
        if isCancelled() { throw ConnectionFailure.cancelled }
        if deadline.isOver { throw ConnectionFailure.deadline }
    }
}
