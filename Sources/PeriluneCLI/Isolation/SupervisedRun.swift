internal import Foundation
internal import Glibc
internal import Perilune
internal import PeriluneDependencies
internal import PeriluneIsolation

/// `perilune run --sandbox`: the command once more, in a process that the system keeps from files, networks and programs. This process
/// waits for it, ends it if it does not end by itself, and reports what ended it.
enum SupervisedRun {
    /// How long it may go on after its limit of time: it needs some to start, and to end by itself.
    private static let grace = Duration.seconds(1)
    /// Variables that the command reads, or the system's libraries for it.
    private static let variables = [
        "PERILUNE_DATABASE", "PERILUNE_CONTEXT", "TERM", "NO_COLOR", "COLORTERM", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS",
        "LINES", "TZ", "LANG", "LC_ALL", "LC_CTYPE", "TSAN_OPTIONS", "ASAN_OPTIONS", "PERILUNE_LIBRARY",
    ]

    /// Starts the process, and waits for its end.
    ///
    /// - Parameters:
    ///   - timeout: The limit of the script.
    ///   - scripts: The files of the scripts, for reports.
    ///   - isRequired: Whether it is an error if the process cannot be started; otherwise a note says so.
    /// - Returns: The exit status; `nil` if the process could not be started.
    /// - Throws: ``CommandFailure`` if a signal has ended it.
    static func start(timeout: Duration?, scripts: [String?], _ colors: Colors, isRequired: Bool) async throws -> Int32? {
        let process: WorkerProcess
        do {
            process = try WorkerProcess(try program())
        } catch {
            guard !isRequired else { throw CommandFailure(ErrorReport("the script cannot be isolated: \(error)", kind: "io")) }
            CommandOutput.note("the script runs in this process, since another one cannot be started: \(error)", colors)
            return nil
        }
        process.forwardSignals()
        let watch = timeout.map { timeout in
            Task.detached {
                try await Task.sleep(for: timeout + grace)
                process.kill(patience: .milliseconds(200))
            }
        }
        defer { watch?.cancel() }
        let ending = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: process.waitForEnd()) }
        }
        return try status(of: ending, timeout, scripts)
    }

    private static func program() throws -> WorkerProcess.Program {
        let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let own = (0..<Int(CommandLine.argc)).map { index in
            CommandLine.unsafeArgv[index].map { text in Array(UnsafeBufferPointer(start: text, count: strlen(text))).map { UInt8(bitPattern: $0) } } ?? []
        }
        // perilune run --supervised ...
        let arguments = Array(own.prefix(2)) + [Array("--supervised".utf8)] + own.dropFirst(2)
        // Whatever is written there is gone with this process.
        let folder = try TemporaryFolder.makeFolder("isolated")
        var environment = ["SWIFT_BACKTRACE=enable=no", "TMPDIR=\(folder)", "SQLITE_TMPDIR=\(folder)"]
        for name in variables { if let value = ProcessInfo.processInfo.environment[name] { environment.append("\(name)=\(value)") } }
        return WorkerProcess.Program(path: path, arguments: arguments, environment: environment, sharesStandardStreams: true)
    }

    private static func status(of ending: WorkerProcess.Ending, _ timeout: Duration?, _ scripts: [String?]) throws -> Int32 {
        guard let signal = ending.signal else { return ending.status }
        // As a shell sees a command that was asked to end, and did.
        if [SIGINT, SIGTERM, SIGHUP, SIGPIPE].contains(signal) { return 128 + signal }
        var report: ErrorReport
        if ending.wasAsked || signal == SIGKILL, let timeout {
            report = ErrorReport("the script ran longer than its limit of \(timeout), and its process was killed", kind: "timeout")
            report.help = "the limit was set by --timeout"
        } else {
            report = ErrorReport("the process of the script was ended by \(ending.signalName ?? "a signal")", kind: "crashed")
            report.help = "nothing that it had not committed is in the database"
        }
        if let position = ending.position { (report.file, report.line) = position }
        var texts = SourceTexts(moduleFolder: nil)
        for case let script? in scripts { if let bytes = try? ScriptHost.read(script) { texts.add(bytes, named: script) } }
        report.addSource(from: texts)
        throw CommandFailure(report)
    }

    // MARK: - In the other process

    /// Takes from this process what a script has no use for, and ends it with the one that has started it.
    ///
    /// - Throws: ``CommandFailure`` if a layer is missing that is required.
    static func enclose(_ command: RunCommand) throws {
        guard WorkerEntry.isConnected else {
            throw CommandFailure(ErrorReport("--supervised is for processes that perilune starts itself", kind: "usage"))
        }
        let rules = rules(for: command)
        let layers = rules.enclose().union(rules.seal())
        let missing = command.isolating.requireLayers.subtracting(layers)
        guard missing.isEmpty else {
            let names = missing.map(\.description).sorted().joined(separator: ", ")
            throw CommandFailure(ErrorReport("the system does not give the layers that --require-layers names: \(names)", kind: "isolation"))
        }
        let channel = WorkerEntry.openChannel()
        Thread.detachNewThread {
            while let frame = try? channel.receive() { _ = frame }
            // The other process has gone: SQLite rolls back what is open.
            _exit(ExitStatus.failure)
        }
    }

    private static func rules(for command: RunCommand) -> IsolationRules {
        var rules = IsolationRules()
        rules.descriptorCount = 256
        rules.memoryInBytes = command.limits.memory.map { UInt64($0) + 512 << 20 }
        rules.readable = [command.file].compactMap { $0 }
        if let database = command.database.path {
            let folder = IsolationRules.folder(ofFile: database)
            // Those who only read a database in WAL mode write to its index.
            rules.writable.append(folder)
        }
        if let plan = command.previewing.request.planPath { rules.writable.append(IsolationRules.folder(ofFile: plan)) }
        if let folder = ProcessInfo.processInfo.environment["TMPDIR"] { rules.writable.append(folder) }
        return rules
    }
}
