internal import Foundation
@preconcurrency internal import Glibc
internal import Perilune
internal import PeriluneDependencies
internal import PeriluneIsolation
internal import Synchronization

/// A session of `run --watch`, which runs a script in a separate process, again after each change of a file that it used.
///
/// With separate processes, each run starts with a clean state and can always be killed.
final class WatchSession: Sendable {
    private let arguments: [[UInt8]]
    private let file: String
    private let colors: Colors
    /// The signal that ended the session.
    private let signal = Mutex<CInt?>(nil)
    /// The time that a running script has to stop before it is killed.
    private static let patience = Duration.seconds(5)

    /// - Parameters:
    ///   - arguments: The `perilune` arguments for one run.
    ///   - file: The script.
    init(arguments: [[UInt8]], file: String, colors: Colors) {
        (self.arguments, self.file, self.colors) = (arguments, file, colors)
    }

    /// Returns the `perilune` arguments for one run, derived from this process's arguments.
    static func arguments(of process: [String]) -> [String] {
        var arguments = ["run"] + RunArguments.arranged(Array(process.dropFirst()))
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        if let index = arguments[..<end].firstIndex(of: "--watch") { arguments.remove(at: index) }
        return arguments
    }

    /// Runs the session until Ctrl-C, and returns the exit status.
    func run() throws -> Int32 {
        Interrupts.onSignal { [self] name in
            signal.withLock { $0 = name == "TERM" ? SIGTERM : name == "HUP" ? SIGHUP : SIGINT }
            return false
        }
        let list = try TemporaryFolder.path("used-files")
        defer { unlink(list) }
        let files = try WatchedFiles()
        files.add(file)
        var changed: [String] = []
        for number in 1... {
            if number > 1 { showRule("run \(number): \(changed.joined(separator: ", ")) changed") }
            guard FileManager.default.createFile(atPath: list, contents: nil) else {
                throw CommandFailure(ErrorReport("cannot write \(list)", kind: "io"))
            }
            let child = try ChildProcess(arguments, environment: UsedFiles.environment(list: list))
            guard let next = waitForChanges(child, files, list) else { return ExitStatus.interrupted }
            changed = next
        }
        return ExitStatus.success
    }

    /// Waits until files change, and ends the run if it is still active. Returns the changed files; `nil` when the session must end.
    private func waitForChanges(_ child: ChildProcess, _ files: WatchedFiles, _ list: String) -> [String]? {
        let (start, date) = (ContinuousClock.now, Date())
        var status: Int32?
        var changed: Set<String> = []
        while true {
            let hasEnded = status == nil ? child.status() : nil
            for path in UsedFiles.read(list) where files.add(path) && Self.hasChanged(path, since: date) { changed.insert(path) }
            if let hasEnded {
                status = hasEnded
                showEnd(hasEnded, after: ContinuousClock.now - start)
            }
            if let signal = signal.withLock({ $0 }) {
                // Ctrl-C on a terminal reaches both processes.
                if status == nil {
                    child.end(by: signal == SIGINT && StandardStreams.isInputTerminal ? nil : signal, within: Self.patience)
                }
                return nil
            }
            let events = files.changes(within: 50)
            changed.formUnion(events)
            // Wait for more events, because editors write several files.
            guard events.isEmpty, !changed.isEmpty else { continue }
            if status == nil { child.end(by: SIGTERM, within: Self.patience) }
            return changed.sorted()
        }
    }

    /// Returns whether a file was written after the run started but before it was watched.
    private static func hasChanged(_ path: String, since date: Date) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.modificationDate] as? Date).map { $0 > date } ?? false
    }

    private func showRule(_ text: String) {
        let line = DisplayText.cut("── \(DisplayText.escaped(text)) ", to: StandardStreams.errorColumns - 1, ellipsis: "… ")
        let rest = max(0, min(StandardStreams.errorColumns - 1, 78) - DisplayText.width(line))
        StandardStreams.writeError(colors.bold(line + String(repeating: "─", count: rest)) + "\n")
    }

    private func showEnd(_ status: Int32, after duration: Duration) {
        let end = status == 0 ? "\(file) ended" : "\(file) failed with status \(status)"
        CommandOutput.note("\(end) after \(TimeText.text(duration)); waiting for changes; press Ctrl-C to stop", colors)
    }
}

/// A `perilune` process that shares the streams of this one.
struct ChildProcess {
    private let id: pid_t

    /// - Throws: ``CommandFailure`` if the process cannot be started.
    init(_ arguments: [[UInt8]], environment: [String: String]) throws {
        try StandardStreams.flush()
        var id: pid_t = 0
        let code = withCStrings([Array("perilune".utf8)] + arguments) { words in
            withCStrings(ProcessInfo.processInfo.environment.merging(environment) { $1 }) { variables in
                posix_spawn(&id, "/proc/self/exe", nil, nil, words, variables)
            }
        }
        guard code == 0 else {
            throw CommandFailure(ErrorReport("cannot run the script: \(String(cString: strerror(code)))", kind: "io"))
        }
        self.id = id
    }

    /// Returns the exit status like a shell: 128 plus the signal number if a signal ended the process. `nil` while the process is running.
    func status() -> Int32? {
        var state: CInt = 0
        guard waitpid(id, &state, WNOHANG) == id else { return nil }
        return state & 0x7F == 0 ? (state >> 8) & 0xFF : 128 + (state & 0x7F)
    }

    /// Waits for the end of the process, and kills it after a timeout.
    ///
    /// - Parameter signal: The signal to send first; `nil` if it has already been sent.
    func end(by signal: CInt?, within time: Duration) {
        if let signal { kill(id, signal) }
        let end = ContinuousClock.now + time
        while status() == nil {
            guard ContinuousClock.now < end else {
                kill(id, SIGKILL)
                var state: CInt = 0
                waitpid(id, &state, 0)
                return
            }
            usleep(5000)
        }
    }
}
