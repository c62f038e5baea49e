import ArgumentParser
internal import Foundation
internal import Glibc
internal import Perilune
internal import PeriluneDependencies
internal import PeriluneIsolation

/// The run of a command with `--sandbox` in a second process, which has no access to other files, networks and programs. This process waits
/// for the second one, ends it if necessary, and reports why it ended.
enum SupervisedRun {
    /// The time beyond the time limit that the second process has to start, and to enforce the limit itself.
    private static let grace = Duration.seconds(1)
    /// The additional time of a preview, which compares the databases after its scripts.
    private static let previewGrace = Duration.seconds(60)
    /// The environment variables that the command or its libraries read.
    private static let variables = [
        "PERILUNE_DATABASE", "PERILUNE_CONTEXT", "TERM", "NO_COLOR", "COLORTERM", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR",
        "COLUMNS",
        "LINES", "TZ", "LANG", "LC_ALL", "LC_CTYPE", "TSAN_OPTIONS", "ASAN_OPTIONS", "PERILUNE_LIBRARY",
    ]

    /// The environment variable that marks the second process.
    private static let mark = "PERILUNE_SUPERVISED"
    /// Whether this process is the second process.
    static let isOngoing = EnvironmentVariables.ofProcess[mark] != nil && WorkerEntry.isConnected

    /// Starts the second process and waits for its end.
    ///
    /// - Parameter request: The request to run.
    /// - Returns: Whether the second process ran. If it could not be started, a note explains why.
    /// - Throws: `ExitCode` with a nonzero status of the process; ``CommandFailure`` if a signal ended it, if isolation is required
    ///   but impossible, or if the database is in a cluster.
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
            guard !options.isRequired else {
                throw CommandFailure(ErrorReport("the script cannot be isolated: \(error)", kind: "io"))
            }
            CommandOutput.note("the script runs in this process, since another one cannot be started: \(error)", colors)
            return false
        }
        process.forwardSignals()
        UsedFiles.noteIfWatched(request.sources.compactMap(\.path))
        // For a task, the limit applies to each run of its automations, and the second process enforces it.
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
        // The folder is removed together with this process.
        let folder = try TemporaryFolder.makeFolder("isolated")
        var environment = ["\(mark)=1", "SWIFT_BACKTRACE=enable=no", "TMPDIR=\(folder)", "SQLITE_TMPDIR=\(folder)"]
        for name in variables { if let value = EnvironmentVariables.ofProcess[name] { environment.append("\(name)=\(value)") } }
        return WorkerProcess.Program(
            path: path, arguments: RawArguments.all, environment: environment, sharesStandardStreams: true)
    }

    private static func status(of ending: WorkerProcess.Ending, _ request: ScriptRequest) throws -> Int32 {
        guard let signal = ending.signal else { return ending.status }
        // The exit status that a shell reports for a command ended by such a signal.
        if [SIGINT, SIGTERM, SIGHUP, SIGPIPE].contains(signal) { return 128 + signal }
        var report: ErrorReport
        if ending.wasAsked || signal == SIGKILL, let timeout = request.timeout {
            report = ErrorReport(
                "the script ran longer than its limit of \(timeout), and its process was killed", kind: "timeout")
        } else {
            report = ErrorReport("the process of the script \(ending.text)", kind: "crashed")
        }
        report.addHelp(for: request)
        if let position = ending.position { (report.file, report.line) = position }
        var texts = SourceTexts(moduleFolder: nil)
        for script in request.sources.compactMap(\.path) {
            if let bytes = try? ScriptHost.read(script) { texts.add(bytes, named: script) }
        }
        report.addSource(from: texts)
        throw CommandFailure(report)
    }

    // MARK: - In the second process

    /// Drops the privileges that a script does not need, and ends this process when its parent ends.
    ///
    /// - Throws: ``CommandFailure`` if a required layer is missing.
    static func enclose(_ command: any IsolatingCommand) throws {
        let rules = rules(for: try command.makeRequest())
        let layers = rules.enclose().union(rules.seal())
        let missing = command.isolating.requireLayers.subtracting(layers)
        guard missing.isEmpty else {
            let names = IsolationLayer.names(of: missing)
            throw CommandFailure(
                ErrorReport("the system does not support these layers of --require-layers: \(names)", kind: "isolation"))
        }
        let channel = WorkerEntry.openChannel()
        Thread.detachNewThread {
            while let frame = try? channel.receive() { _ = frame }
            // The parent process has ended. SQLite rolls back open transactions.
            _exit(ExitStatus.failure)
        }
    }

    private static func rules(for request: ScriptRequest) -> IsolationRules {
        var rules = IsolationRules()
        rules.descriptorCount = 256
        rules.memoryInBytes = request.memoryInBytes.map { UInt64($0) + 512 << 20 }
        // Automations need the whole folder: they are reloaded when their file is replaced by a new one.
        rules.readable = request.sources.compactMap(\.path).map { request.task == nil ? $0 : IsolationRules.folder(ofFile: $0) }
        if let database = request.database { _ = rules.allowDatabase(at: database) }
        for path in [request.preview?.planPath, request.preview?.pagePath].compactMap({ $0 }) {
            rules.writable.append(IsolationRules.folder(ofFile: path))
        }
        if let folder = EnvironmentVariables.ofProcess["TMPDIR"] { rules.writable.append(folder) }
        return rules
    }
}
