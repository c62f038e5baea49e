internal import CPeriluneIsolation
internal import Glibc
internal import Synchronization

/// A worker process and the connection to it.
package final class WorkerProcess: Sendable {
    /// The program to start, with its arguments and environment.
    package struct Program: Sendable {
        package var path: String
        /// The arguments, starting with the program's name, as bytes that need not be UTF-8.
        package var arguments: [[UInt8]]
        /// The complete environment as `NAME=value`.
        package var environment: [String]
        /// Whether it inherits the standard streams. Otherwise they are `/dev/null`.
        package var sharesStandardStreams: Bool

        package init(path: String, arguments: [[UInt8]], environment: [String] = [], sharesStandardStreams: Bool = false) {
            (self.path, self.arguments) = (path, arguments)
            (self.environment, self.sharesStandardStreams) = (environment, sharesStandardStreams)
        }
    }

    /// The error of a process that could not be started.
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
        /// The last known position of the script, "file:line".
        package var place: String?
        /// Whether the parent asked for the position, which also ends the process.
        package var wasAsked = false

        /// The ending as a phrase: "was ended by SIGSEGV (segmentation fault)".
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
    /// A second connection for answers that block a thread of the worker. That thread reads them itself, so no other thread has to wake
    /// it. The worker sends nothing on it.
    package let answers: FrameChannel
    private let lastWords: CInt
    private let state = Mutex(State())

    private struct State {
        var ending: Ending?
    }

    /// Starts a process that inherits only the connections.
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

    /// Makes a pair of sockets and returns the channel of this end and the descriptor of the other one.
    private static func connect(_ limits: FrameLimits) throws -> (FrameChannel, CInt) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw failure("cannot connect to a process", errno)
        }
        return (FrameChannel(descriptor: ends[0], limits: limits), ends[1])
    }

    deinit {
        // Closing the connection ends the process. Nothing else waits for it any more.
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
        // File actions can keep a descriptor open only by duplicating it to its own number.
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

    /// Ends the process after asking for the position of its script, and kills it if it does not answer. Any thread may call it.
    ///
    /// - Parameter patience: The time to wait for the answer.
    package func kill(patience: Duration = .milliseconds(50)) {
        guard send(piso_ask_signal()) else { return }
        // The closed connection wakes the thread that waits for frames. This thread must not wait for a process that does not end.
        if !hasEnded(within: patience) { send(SIGKILL) }
    }

    /// Closes the connection, waits for the process to exit, and kills it if it does not. Call it on the thread that waits for its end.
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
        // The lock prevents waiting for the process at the same time, after which its number may belong to another process.
        state.withLock { state in state.ending == nil && Glibc.kill(id, signal) == 0 }
    }

    /// Forwards SIGINT, SIGTERM and SIGHUP from now on, for a program that only waits for this process.
    package func forwardSignals() {
        piso_forward_signals(id)
    }

    /// Whether the process has ended, even if nothing has waited for it yet.
    private var hasEnded: Bool {
        state.withLock { state in
            if state.ending != nil { return true }
            var information = siginfo_t()
            return waitid(P_PID, id_t(id), &information, WEXITED | WNOHANG | WNOWAIT) == 0
                && information._sifields._sigchld.si_pid == id
        }
    }

    /// Blocks until the process has ended and returns how. Later calls return at once. Only one thread may call it.
    package func waitForEnd() -> Ending {
        if let ending = state.withLock({ $0.ending }) { return ending }
        var information = siginfo_t()
        // WNOWAIT keeps the process number valid for `send` until the lock is taken.
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return state.withLock { state in
            let result = piso_wait(id)
            var ending = Ending(signal: result < 256 ? result : nil, status: result < 256 ? 0 : result - 256)
            // A process that is still starting has no handler yet, so the signal itself ends it.
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
            // The process may have been taken over: any bytes may arrive, perhaps without a NUL.
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
