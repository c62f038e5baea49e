import ArgumentParser
internal import Foundation
internal import Glibc
internal import Perilune
internal import PeriluneDependencies
internal import PeriluneIsolation

/// `--sandbox`: the command once more, in a process that the system keeps from files, networks and programs. This process waits for it,
/// ends it if it does not end by itself, and reports what ended it.
enum SupervisedRun {
    /// How long it may go on after its limit of time: it needs some to start, and to end by itself.
    private static let grace = Duration.seconds(1)
    /// The same for a preview, which compares the databases after its scripts have ended.
    private static let previewGrace = Duration.seconds(60)
    /// Variables that the command reads, or the system's libraries for it.
    private static let variables = [
        "PERILUNE_DATABASE", "PERILUNE_CONTEXT", "TERM", "NO_COLOR", "COLORTERM", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS",
        "LINES", "TZ", "LANG", "LC_ALL", "LC_CTYPE", "TSAN_OPTIONS", "ASAN_OPTIONS", "PERILUNE_LIBRARY",
    ]

    /// The variable by which the process knows what it is.
    private static let mark = "PERILUNE_SUPERVISED"
    /// Whether this process was started by another one for its scripts.
    static let isOngoing = EnvironmentVariables.ofProcess[mark] != nil && WorkerEntry.isConnected

    /// Starts the process, and waits for its end.
    ///
    /// - Parameter request: What the process is to run.
    /// - Returns: Whether it has run; otherwise it could not be started, which a note says.
    /// - Throws: `ExitCode` with its status if that is not 0; ``CommandFailure`` if a signal has ended it, if it could not be started
    ///   and has to be, or if the database is in a cluster.
    static func run(_ request: ScriptRequest, _ options: IsolationOptions, _ colors: Colors) async throws -> Bool {
        if let database = request.database, DatabaseFile.isCluster(database) {
            var report = ErrorReport(ScriptHost.Configuration.noNetwork.message, kind: "usage")
            report.help = "--no-isolate runs the script in this process"
            throw CommandFailure(report)
        }
        let process: WorkerProcess
        do {
            process = try WorkerProcess(try program())
        } catch {
            guard !options.isRequired else { throw CommandFailure(ErrorReport("the script cannot be isolated: \(error)", kind: "io")) }
            CommandOutput.note("the script runs in this process, since another one cannot be started: \(error)", colors)
            return false
        }
        process.forwardSignals()
        UsedFiles.noteIfWatched(request.sources.compactMap(\.path))
        // Automations go on; their limit is that of each run, which the process sees to.
        let timeout = request.task == nil ? request.timeout : nil
        let watch = timeout.map { timeout in
            Task.detached {
                try await Task.sleep(for: timeout + (request.preview == nil ? grace : previewGrace))
                process.kill(patience: .milliseconds(200))
            }
        }
        defer { watch?.cancel() }
        let ending = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: process.waitForEnd()) }
        }
        let status = try status(of: ending, request)
        if status != 0 { throw ExitCode(status) }
        return true
    }

    private static func program() throws -> WorkerProcess.Program {
        let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        // Whatever is written there is gone with this process.
        let folder = try TemporaryFolder.makeFolder("isolated")
        var environment = ["\(mark)=1", "SWIFT_BACKTRACE=enable=no", "TMPDIR=\(folder)", "SQLITE_TMPDIR=\(folder)"]
        for name in variables { if let value = EnvironmentVariables.ofProcess[name] { environment.append("\(name)=\(value)") } }
        return WorkerProcess.Program(path: path, arguments: RawArguments.all, environment: environment, sharesStandardStreams: true)
    }

    private static func status(of ending: WorkerProcess.Ending, _ request: ScriptRequest) throws -> Int32 {
        guard let signal = ending.signal else { return ending.status }
        // As a shell sees a command that was asked to end, and did.
        if [SIGINT, SIGTERM, SIGHUP, SIGPIPE].contains(signal) { return 128 + signal }
        var report: ErrorReport
        if ending.wasAsked || signal == SIGKILL, let timeout = request.timeout {
            report = ErrorReport("the script ran longer than its limit of \(timeout), and its process was killed", kind: "timeout")
        } else {
            report = ErrorReport("the process of the script \(ending.text)", kind: "crashed")
        }
        report.addHelp(for: request)
        if let position = ending.position { (report.file, report.line) = position }
        var texts = SourceTexts(moduleFolder: nil)
        for script in request.sources.compactMap(\.path) { if let bytes = try? ScriptHost.read(script) { texts.add(bytes, named: script) } }
        report.addSource(from: texts)
        throw CommandFailure(report)
    }

    // MARK: - In the other process

    /// Takes from this process what a script has no use for, and ends it with the one that has started it.
    ///
    /// - Throws: ``CommandFailure`` if a layer is missing that is required.
    static func enclose(_ command: any IsolatingCommand) throws {
        let rules = rules(for: try command.makeRequest())
        let layers = rules.enclose().union(rules.seal())
        let missing = command.isolating.requireLayers.subtracting(layers)
        guard missing.isEmpty else {
            let names = IsolationLayer.names(of: missing)
            throw CommandFailure(ErrorReport("the system does not give the layers that --require-layers names: \(names)", kind: "isolation"))
        }
        let channel = WorkerEntry.openChannel()
        Thread.detachNewThread {
            while let frame = try? channel.receive() { _ = frame }
            // The other process has gone: SQLite rolls back what is open.
            _exit(ExitStatus.failure)
        }
    }

    private static func rules(for request: ScriptRequest) -> IsolationRules {
        var rules = IsolationRules()
        rules.descriptorCount = 256
        rules.memoryInBytes = request.memoryInBytes.map { UInt64($0) + 512 << 20 }
        // Automations are loaded again when their file is replaced: by a new one, of the same folder.
        rules.readable = request.sources.compactMap(\.path).map { request.task == nil ? $0 : IsolationRules.folder(ofFile: $0) }
        if let database = request.database { _ = rules.allowDatabase(at: database) }
        for path in [request.preview?.planPath, request.preview?.pagePath].compactMap({ $0 }) {
            rules.writable.append(IsolationRules.folder(ofFile: path))
        }
        if let folder = EnvironmentVariables.ofProcess["TMPDIR"] { rules.writable.append(folder) }
        return rules
    }
}
