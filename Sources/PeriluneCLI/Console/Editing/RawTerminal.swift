@preconcurrency internal import Glibc

/// A terminal in raw mode, which delivers each key when it is pressed.
final class RawTerminal: Sendable {
    enum Event {
        case bytes([UInt8])
        /// Nothing arrived before the timeout.
        case nothing
        /// The window size may have changed.
        case resized
        case end
    }

    /// The previous terminal settings. Allocated separately, because Swift's `termios` may be smaller than the C type.
    private nonisolated(unsafe) let former = UnsafeMutablePointer<termios>.allocate(capacity: 2)
    /// The number of unread bytes that were typed before raw mode was enabled. Only used by the reading thread.
    private nonisolated(unsafe) var early = 0

    init() {
        _ = WindowSignal.end
    }

    deinit {
        former.deallocate()
    }

    func begin() {
        guard tcgetattr(STDIN_FILENO, former) == 0 else { return }
        let raw = former + 1
        raw.pointee = former.pointee
        raw.pointee.c_iflag &= ~tcflag_t(ICRNL | INLCR | IXON)
        // From now on, Enter sends a carriage return. Input typed earlier still has line feeds: every complete line waiting in it ends with
        // one.
        tcsetattr(STDIN_FILENO, TCSADRAIN, raw)
        var count: CInt = 0
        if ioctl(STDIN_FILENO, UInt(FIONREAD), &count) == 0 { early = Int(count) }
        raw.pointee.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        // Not TCSAFLUSH, which would discard the keys pressed in the meantime.
        tcsetattr(STDIN_FILENO, TCSADRAIN, raw)
    }

    func end() {
        tcsetattr(STDIN_FILENO, TCSADRAIN, former)
    }

    /// The number of columns and rows.
    var size: (Int, Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    func write(_ text: String) {
        guard !text.isEmpty else { return }
        fflush(stdout)
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Waits for keys or a change of the window size.
    ///
    /// - Parameter timeout: Milliseconds; negative to wait forever.
    func read(timeout: Int32) -> Event {
        var requests = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: WindowSignal.end, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&requests, 2, timeout)
        if count == 0 { return .nothing }
        if count < 0 { return errno == EINTR ? .resized : .end }
        var bytes = [UInt8](repeating: 0, count: 4096)
        if requests[1].revents != 0 {
            _ = Glibc.read(WindowSignal.end, &bytes, bytes.count)
            return .resized
        }
        let length = Glibc.read(STDIN_FILENO, &bytes, bytes.count)
        if length < 0 && errno == EINTR { return .resized }
        guard length > 0 else { return .end }
        for index in 0..<min(early, length) where bytes[index] == 0x0A { bytes[index] = 0x0D }
        // Linux delivers an early Ctrl-D as a NUL.
        if early > 0 { for index in 0..<length where bytes[index] == 0 { bytes[index] = 0x04 } }
        early = max(0, early - length)
        return .bytes(Array(bytes[..<length]))
    }
}

/// A pipe that signals changes of the window size, so that a single `poll` can wait for these and for keys.
private enum WindowSignal {
    /// The reading end of the pipe. The first access installs the signal handler.
    static let end = SignalPipe.open(for: [SIGWINCH]) ?? -1
}
