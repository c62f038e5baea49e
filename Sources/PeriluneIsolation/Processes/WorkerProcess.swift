internal import CPeriluneIsolation
internal import Glibc
internal import Synchronization

/// A worker process and the connection to it.
package final class WorkerProcess: Sendable {
    /// The program to start, with its arguments and environment.
    package struct Program: Sendable {
        package var path: String
        /// The arguments, starting with the program's name. They need not be UTF-8.
        package var arguments: [[UInt8]]
        /// The complete environment, as strings of the form `NAME=value`.
        package var environment: [String]
        /// Whether the process inherits the standard streams instead of using `/dev/null`.
        package var sharesStandardStreams: Bool

        package init(path: String, arguments: [[UInt8]], environment: [String] = [], sharesStandardStreams: Bool = false) {
            (self.path, self.arguments) = (path, arguments)
            (self.environment, self.sharesStandardStreams) = (environment, sharesStandardStreams)
        }
    }

    /// The error that a process could not be started.
    package struct StartError: Error, CustomStringConvertible {
        package let description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    /// The way a process ended.
    package struct Ending: Sendable, Equatable {
        /// The signal that ended the process, or `nil` if it exited.
        package var signal: CInt?
        /// The exit status.
        package var status: CInt
        /// The last known position of the script, as "file:line".
        package var place: String?
        /// Whether the parent requested the position, which also ends the process.
        package var wasAsked = false

        /// A phrase that describes how the process ended: "was ended by SIGSEGV (segmentation fault)".
        package var text: String {
            guard let signal, !wasAsked else { return "has ended itself with status \(status)" }
            return "was ended by \(SignalNames.name(of: signal))"
        }

        /// The file and the line of ``place``.
        package var position: (file: String, line: Int?)? {
            guard let place else { return nil }
            guard let colon = place.lastIndex(of: ":"), let line = Int(place[place.index(after: colon)...]) else {
                return (place, nil)
            }
            return (String(place[..<colon]), line)
        }
    }

    package let id: Int32
    /// The connection for calls and events.
    package let channel: FrameChannel
    /// A second connection for answers to calls that block a thread of the worker. That thread reads the answer directly and needs no other
    /// thread to wake it. The worker sends nothing on this connection.
    package let answers: FrameChannel
    private let lastWords: CInt
    private let state = Mutex(State())

    private struct State {
        var ending: Ending?
    }

    /// Starts a process that inherits only the connections and the standard streams.
    ///
    /// - Throws: ``StartError``.
    package init(_ program: Program, limits: FrameLimits = FrameLimits()) throws {
        let (channel, connection) = try Self.connect(limits)
        defer { close(connection) }
        let (answers, answersConnection) = try Self.connect(limits)
        defer { close(answersConnection) }
        var words: [CInt] = [-1, -1]
        guard piso_pipe(&words) == 0 else { throw Self.failure("cannot connect to a process", errno) }
        defer { close(words[1]) }
        do {
            id = try Self.start(program, connection: connection, lastWords: words[1], answers: answersConnection)
        } catch {
            close(words[0])
            throw error
        }
        (self.channel, self.answers) = (channel, answers)
        lastWords = words[0]
    }

    /// Creates a socket pair, and returns a channel for this end and the file descriptor of the other end.
    private static func connect(_ limits: FrameLimits) throws -> (FrameChannel, CInt) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw failure("cannot connect to a process", errno)
        }
        return (FrameChannel(descriptor: ends[0], limits: limits), ends[1])
    }

    deinit {
        // Closing the connection ends the process. No other code can still wait for the process.
        channel.shutDown()
        if state.withLock({ $0.ending == nil }) {
            Glibc.kill(id, SIGKILL)
            _ = piso_wait(id)
        }
        close(lastWords)
    }

    private static func start(_ program: Program, connection: CInt, lastWords: CInt, answers: CInt) throws -> pid_t {
        let nothing = program.sharesStandardStreams ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC)
        guard program.sharesStandardStreams || nothing >= 0 else { throw failure("cannot open /dev/null", errno) }
        defer { if nothing >= 0 { close(nothing) } }
        // A descriptor stays open in the new process only if a file action duplicates it, if necessary to its own number.
        let streams: [CInt] = program.sharesStandardStreams ? [0, 1, 2] : [nothing, nothing, nothing]
        var id: pid_t = 0
        let status = withCStrings(program.arguments) { arguments in
            withCStrings(program.environment.map { Array($0.utf8) }) { environment in
                program.path.withCString { path in
                    arguments.withUnsafeBufferPointer { arguments in
                        environment.withUnsafeBufferPointer { environment in
                            var description = piso_program(
                                path: path, arguments: arguments.baseAddress, environment: environment.baseAddress,
                                connection: connection,
                                last_words: lastWords, answers: answers, input: streams[0], output: streams[1], errors: streams[2]
                            )
                            return piso_start(&description, &id)
                        }
                    }
                }
            }
        }
        guard status == 0 else { throw failure("cannot start \(program.path)", status) }
        return id
    }

    private static func failure(_ what: String, _ code: CInt) -> StartError {
        StartError("\(what): \(String(cString: strerror(code)))")
    }

    // MARK: - The end

    /// Asks the process to report its script's position and end, and kills it if it does not end in time. Any thread may call it.
    ///
    /// - Parameter patience: How long to wait before killing the process.
    package func kill(patience: Duration = .milliseconds(50)) {
        guard send(piso_ask_signal()) else { return }
        // The closed connection wakes the thread that receives frames. This thread must not block if the process does not end.
        if !hasEnded(within: patience) { send(SIGKILL) }
    }

    /// Closes the connection, waits for the process to exit, and kills it after `patience`. Call it on the thread that calls
    /// ``waitForEnd()``.
    package func end(within patience: Duration) {
        channel.shutDown()
        if !hasEnded(within: patience) { send(SIGKILL) }
        _ = waitForEnd()
    }

    private func hasEnded(within patience: Duration) -> Bool {
        let end = ContinuousClock.now + patience
        while !hasEnded {
            guard ContinuousClock.now < end else { return false }
            usleep(1000)
        }
        return true
    }

    /// Sends a signal and returns whether the process still exists.
    @discardableResult
    package func send(_ signal: CInt) -> Bool {
        // The lock keeps the process from being reaped here, because its id could then belong to another process.
        state.withLock { state in state.ending == nil && Glibc.kill(id, signal) == 0 }
    }

    /// Forwards SIGINT, SIGTERM and SIGHUP to the process from now on. Use it in a program that only waits for this process.
    package func forwardSignals() {
        piso_forward_signals(id)
    }

    /// Whether the process has ended, even if it has not been reaped yet.
    private var hasEnded: Bool {
        state.withLock { state in
            if state.ending != nil { return true }
            var information = siginfo_t()
            return waitid(P_PID, id_t(id), &information, WEXITED | WNOHANG | WNOWAIT) == 0
                && information._sifields._sigchld.si_pid == id
        }
    }

    /// Blocks until the process has ended, and returns how it ended. Later calls return immediately. Only one thread may call it.
    package func waitForEnd() -> Ending {
        if let ending = state.withLock({ $0.ending }) { return ending }
        var information = siginfo_t()
        // WNOWAIT leaves the process unreaped, which keeps its id valid for `send` until the lock is held.
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return state.withLock { state in
            let result = piso_wait(id)
            var ending = Ending(signal: result < 256 ? result : nil, status: result < 256 ? 0 : result - 256)
            // A process that is still starting has not installed the handler yet, so the signal itself ends it.
            if ending.signal == piso_ask_signal() { ending.wasAsked = true }
            readLastWords(&ending)
            if ending.wasAsked, ending.signal == nil || ending.signal == piso_ask_signal() { ending.signal = SIGKILL }
            state.ending = ending
            return ending
        }
    }

    private func readLastWords(_ ending: inout Ending) {
        var words = piso_last_words()
        let size = MemoryLayout<piso_last_words>.size
        guard read(lastWords, &words, size) == size else { return }
        let place = withUnsafeBytes(of: words.place) { bytes in
            // A script may have taken over the process, so the bytes are untrusted and may lack a NUL.
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if !place.isEmpty { ending.place = place }
        if words.signal == piso_ask_signal() { ending.wasAsked = true }
    }
}

/// The names of signals for messages.
enum SignalNames {
    private static let names: [CInt: String] = [
        SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGFPE: "SIGFPE", SIGABRT: "SIGABRT", SIGTRAP: "SIGTRAP",
        SIGSYS: "SIGSYS",
        SIGKILL: "SIGKILL", SIGTERM: "SIGTERM", SIGINT: "SIGINT", SIGHUP: "SIGHUP", SIGXCPU: "SIGXCPU", SIGPIPE: "SIGPIPE",
        SIGXFSZ: "SIGXFSZ",
    ]

    static func name(of signal: CInt) -> String {
        let description = strsignal(signal).map { String(cString: $0) } ?? "unknown"
        return names[signal].map { "\($0) (\(description.lowercased()))" } ?? "signal \(signal) (\(description.lowercased()))"
    }
}
