@preconcurrency internal import Glibc
internal import Perilune

/// The standard streams of the process.
enum StandardStreams {
    static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// The width of the terminal for standard error.
    static var errorColumns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Makes a write to a closed pipe end the process silently, as `perilune ... | head` requires, regardless of the parent's signal
    /// settings.
    static func endOnClosedPipe() {
        signal(SIGPIPE, SIG_DFL)
    }

    /// Writes to standard output through the buffer that scripts also use.
    static func write(_ bytes: [UInt8]) throws {
        guard fwrite(bytes, 1, bytes.count, stdout) == bytes.count else { throw failure() }
    }

    /// Flushes the buffer; also fails if an earlier write has failed.
    static func flush() throws {
        guard fflush(stdout) == 0 else { throw failure() }
        // Lua's `print` ignores write errors, so the reason is unknown here.
        guard ferror(stdout) == 0 else { throw failure("some of the output was lost") }
    }

    /// Redirects standard output to standard error.
    ///
    /// - Returns: The file descriptor to pass to ``restoreOutput(_:)``.
    static func redirectOutputToErrors() -> CInt? {
        fflush(stdout)
        let output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        guard output >= 0 else { return nil }
        dup2(STDERR_FILENO, STDOUT_FILENO)
        return output
    }

    /// Ends the redirection of standard output.
    static func restoreOutput(_ output: CInt) {
        fflush(stdout)
        dup2(output, STDOUT_FILENO)
        close(output)
    }

    /// Writes to standard error immediately, after flushing standard output.
    static func writeError(_ text: String) {
        fflush(stdout)
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Writes to standard error while another thread may be writing. Flushes standard output only if this does not block.
    static func writeErrorAtOnce(_ text: String) {
        var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&output, 1, 0) == 1, ftrylockfile(stdout) == 0 { fflush(stdout) }
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Reads standard input to its end.
    static func readInput() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandFailure(ErrorReport("cannot read standard input: \(reason)", kind: "io"))
            }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    private static func failure(_ reason: String = reason) -> CommandFailure {
        CommandFailure(ErrorReport("cannot write to standard output: \(reason)", kind: "io"))
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
