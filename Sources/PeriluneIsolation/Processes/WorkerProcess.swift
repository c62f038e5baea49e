internal import CPeriluneIsolation
internal import Glibc
internal import Synchronization

/// A process that was started to run scripts, with a connection to it.
package final class WorkerProcess: Sendable {
    /// What is started.
    package struct Program: Sendable {
        package var path: String
        /// The arguments, with the name of the program first. Bytes: they need not be UTF-8.
        package var arguments: [[UInt8]]
        /// The whole environment: `NAME=value`.
        package var environment: [String]
        /// Whether it has standard input, output and errors of this process; otherwise it reads nothing, and writes to nowhere.
        package var sharesStandardStreams: Bool

        package init(path: String, arguments: [[UInt8]], environment: [String] = [], sharesStandardStreams: Bool = false) {
            (self.path, self.arguments) = (path, arguments)
            (self.environment, self.sharesStandardStreams) = (environment, sharesStandardStreams)
        }
    }

    /// A process that could not be started.
    package struct StartError: Error, CustomStringConvertible {
        package let description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    /// How a process has ended.
    package struct Ending: Sendable, Equatable {
        /// The signal that ended it; `nil`: it has ended itself.
        package var signal: CInt?
        /// The status with which it has ended itself.
        package var status: CInt
        /// Where its script was, as it said last: "file:line".
        package var place: String?
        /// Whether it was asked to say so.
        package var wasAsked = false

        /// What has happened: "was ended by SIGSEGV (segmentation fault)".
        package var text: String {
            guard let signal, !wasAsked else { return "has ended itself with status \(status)" }
            return "was ended by \(SignalNames.name(of: signal))"
        }

        /// The file and the line of ``place``.
        package var position: (file: String, line: Int?)? {
            guard let place else { return nil }
            guard let colon = place.lastIndex(of: ":"), let line = Int(place[place.index(after: colon)...]) else { return (place, nil) }
            return (String(place[..<colon]), line)
        }
    }

    package let id: Int32
    /// The connection to it.
    package let channel: FrameChannel
    /// Another connection, for the answers for which a thread of the process waits: that one reads them itself, so that no other thread
    /// has to wake it. Nothing comes from there.
    package let answers: FrameChannel
    private let lastWords: CInt
    private let state = Mutex(State())

    private struct State {
        var ending: Ending?
    }

    /// Starts a process that inherits nothing but the connection.
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

    /// Makes a connection: this end, and the descriptor of the other one.
    private static func connect(_ limits: FrameLimits) throws -> (FrameChannel, CInt) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw failure("cannot connect to a process", errno)
        }
        return (FrameChannel(descriptor: ends[0], limits: limits), ends[1])
    }

    deinit {
        // The end of the connection ends it, and only this waits for it now.
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
        // File actions know no "as it is" but the same number.
        let streams: [CInt] = program.sharesStandardStreams ? [0, 1, 2] : [nothing, nothing, nothing]
        var id: pid_t = 0
        let status = withCStrings(program.arguments) { arguments in
            withCStrings(program.environment.map { Array($0.utf8) }) { environment in
                program.path.withCString { path in
                    arguments.withUnsafeBufferPointer { arguments in
                        environment.withUnsafeBufferPointer { environment in
                            var description = piso_program(
                                path: path, arguments: arguments.baseAddress, environment: environment.baseAddress, connection: connection,
                                last_words: lastWords, answers: answers, input: streams[0], output: streams[1], errors: streams[2])
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

    /// Asks it where its script is, which ends it, and ends it if it does not answer. From any thread.
    ///
    /// - Parameter patience: How long it may take to answer.
    package func kill(patience: Duration = .milliseconds(50)) {
        guard send(piso_ask_signal()) else { return }
        // The end of the connection wakes who waits for frames; nothing here may wait for a process that does not end.
        if !hasEnded(within: patience) { send(SIGKILL) }
    }

    /// Lets it end by itself, and ends it if it does not. To be called by the thread that waits for its end.
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

    /// Passes on a signal. Returns whether the process is there.
    @discardableResult
    package func send(_ signal: CInt) -> Bool {
        // Under the lock: its number may belong to another process once it was waited for.
        state.withLock { state in state.ending == nil && Glibc.kill(id, signal) == 0 }
    }

    /// Passes on the signals by which this process is asked to end, from now on: for a program that only waits for the other one.
    package func forwardSignals() {
        piso_forward_signals(id)
    }

    /// Whether it has ended, also if it was not waited for.
    private var hasEnded: Bool {
        state.withLock { state in
            if state.ending != nil { return true }
            var information = siginfo_t()
            return waitid(P_PID, id_t(id), &information, WEXITED | WNOHANG | WNOWAIT) == 0 && information._sifields._sigchld.si_pid == id
        }
    }

    /// Waits for the end, on the thread that calls it; again it answers at once. To be called by one thread.
    package func waitForEnd() -> Ending {
        if let ending = state.withLock({ $0.ending }) { return ending }
        var information = siginfo_t()
        // It stays there to be signalled until this returns.
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return state.withLock { state in
            let result = piso_wait(id)
            var ending = Ending(signal: result < 256 ? result : nil, status: result < 256 ? 0 : result - 256)
            // One that still starts has no words, and the signal ends it.
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
            // Of a process that may have been taken over: any bytes, and perhaps no NUL.
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if !place.isEmpty { ending.place = place }
        if words.signal == piso_ask_signal() { ending.wasAsked = true }
    }
}

/// The names of signals.
enum SignalNames {
    private static let names: [CInt: String] = [
        SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGFPE: "SIGFPE", SIGABRT: "SIGABRT", SIGTRAP: "SIGTRAP", SIGSYS: "SIGSYS",
        SIGKILL: "SIGKILL", SIGTERM: "SIGTERM", SIGINT: "SIGINT", SIGHUP: "SIGHUP", SIGXCPU: "SIGXCPU", SIGPIPE: "SIGPIPE", SIGXFSZ: "SIGXFSZ",
    ]

    static func name(of signal: CInt) -> String {
        let description = strsignal(signal).map { String(cString: $0) } ?? "unknown"
        return names[signal].map { "\($0) (\(description.lowercased()))" } ?? "signal \(signal) (\(description.lowercased()))"
    }
}
