internal import Glibc
internal import Perilune
internal import PeriluneIsolation
internal import PeriluneLua
internal import PeriluneRecords

/// A runner for the scripts or the task of a request.
struct ScriptRunner {
    let request: ScriptRequest
    let colors: Colors

    /// Runs all sources and stops at the first failure.
    ///
    /// - Returns: The exit status requested by a script with `os.exit`, otherwise success.
    /// - Throws: ``CommandFailure``.
    func run() async throws -> Int32 {
        var texts = SourceTexts(moduleFolder: request.isSandboxed ? nil : request.moduleFolder)
        // Read the sources before the database is opened and possibly created.
        let scripts = try request.sources.map { Script(name: $0.name, bytes: try read($0), isCode: $0.isCode) }
        for script in scripts { texts.add(script.bytes, named: script.name) }
        // Remove the folders of killed previews.
        TemporaryFolder.removeAbandoned()
        let note = try checkDatabase()
        if request.preview != nil || request.usesCopy, let note { CommandOutput.note(note, colors) }
        if let preview = request.preview { return try await self.preview(preview, scripts, texts) }
        if request.usesCopy { return try await runOnCopy(scripts, texts) }
        let trace = makeTrace()
        // For a task, the limit applies to each run of its automations.
        let timeLimit = request.task == nil ? request.timeout.map { TimeLimit($0, help: request.help(onLimit: .timeout)) } : nil
        if request.memoryInBytes != nil { WorkerEntry.returnFreedBlocks() }
        let host: ScriptHost
        do {
            let configuration = makeConfiguration(trace)
            host = try await TimeLimit.bounding(timeLimit) { try await ScriptHost(configuration) }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            var report = ErrorReport(opening: request.database, error: error)
            if report.kind == "memory" { report.addHelp(for: request) }
            throw CommandFailure(report)
        }
        OpenHosts.add(host)
        if request.isReadonly, let path = request.database { OpenHosts.addReading(path) }
        if let note { CommandOutput.note(note, colors) }
        // With this signal, a loop can be cancelled even in a run without limits.
        await host.listen(for: SIGUSR2)
        let gracefulStop = GracefulStop(status: request.gracefulStopStatus)
        Interrupts.onSignal { name in
            if host.deliver(signal: name) { return true }
            gracefulStop.stop(host, by: name)
            return false
        }
        let runLimit = request.task == nil ? nil : request.timeout.map { RunLimit($0, help: request.help(onLimit: .timeout)) }
        runLimit?.watch(host)
        defer { runLimit?.end() }
        let ending = await run(scripts, on: host, texts, gracefulStop, within: timeLimit)
        await trace?.writeSlowStatements(of: host)
        if let failure = ending.failure {
            if note != nil { removeEmptyDatabase() }
            throw failure
        }
        return ending.status
    }

    /// Removes the database file that a failed script has created, unless something is in it. Otherwise, later commands would accept a
    /// file that exists only because of a mistyped line.
    private func removeEmptyDatabase() {
        guard let path = request.database, !DatabaseFile.isMissing(path) else { return }
        DatabaseFile.removeIfEmpty(path)
        if DatabaseFile.isMissing(path) { CommandOutput.note("removed \(path), which is empty", colors) }
    }

    /// Fails if the request requires an existing database and the file is missing.
    ///
    /// - Returns: A note to print after a missing database is opened; `nil` if it exists.
    private func checkDatabase() throws -> String? {
        guard let path = request.database, DatabaseFile.isMissing(path) else { return nil }
        if request.isReadonly || !request.makesDatabase {
            let option = request.isReadonly ? nil : DatabaseFile.creating
            try DatabaseFile.requireExisting(path, option: option)
        }
        let isMade = request.preview == nil && !request.usesCopy
        return isMade ? "created the database \(path)" : "the database \(path) does not exist; the script uses an empty one"
    }

    /// A script with its text.
    struct Script {
        let name: String
        let bytes: [UInt8]
        /// Whether the source is code on the command line, whose values are shown.
        var isCode = false

        /// Whether the first statement returns a function, or a table that begins with the functions of a migration.
        var isMigration: Bool {
            var rest = bytes[...]
            func skip(_ word: StaticString) -> Bool {
                rest = rest.drop { $0 == 0x20 || $0 &- 0x09 < 5 }
                let word = Array("\(word)".utf8)
                guard rest.starts(with: word) else { return false }
                rest = rest.dropFirst(word.count)
                return true
            }
            if bytes.first == UInt8(ascii: "#") { rest = rest.drop { $0 != 0x0A } }
            while skip("--") {
                // A long comment may contain anything, so scripts that begin with one are not examined.
                if rest.starts(with: [0x5B, 0x5B]) || rest.starts(with: [0x5B, 0x3D]) { return false }
                rest = rest.drop { $0 != 0x0A }
            }
            guard skip("return") else { return false }
            if skip("function") { return rest.first == UInt8(ascii: "(") || rest.first == 0x20 }
            guard skip("{"), skip("up") || skip("down") else { return false }
            return skip("=")
        }
    }

    /// The result of running scripts: an exit status or a failure.
    struct Ending {
        var status = ExitStatus.success
        var failure: CommandFailure?
    }

    /// Runs scripts one after the other, and waits for their timers, observations and tasks.
    ///
    /// - Parameter timeLimit: The time limit for the scripts and for this work.
    func run(
        _ scripts: [Script], on host: ScriptHost, _ texts: SourceTexts, _ gracefulStop: GracefulStop? = nil,
        within timeLimit: TimeLimit?
    ) async -> Ending {
        timeLimit?.watch(host)
        defer { timeLimit?.end() }
        var ending = await runAll(scripts, on: host, texts, gracefulStop)
        guard let timeLimit, timeLimit.hasPassed else { return ending }
        if let report = ending.failure?.report, report.kind == "cancelled" {
            ending.failure = timeLimit.failure(at: report)
        } else if ending.failure == nil, gracefulStop?.status == nil {
            ending.failure = timeLimit.failure
        }
        return ending
    }

    private func runAll(_ scripts: [Script], on host: ScriptHost, _ texts: SourceTexts, _ gracefulStop: GracefulStop?) async
        -> Ending
    {
        if request.isSupervised { host.prepareLastWords() }
        let ending = await end(texts, host, gracefulStop) {
            if let task = request.task {
                try await task(host)
            } else {
                for script in scripts {
                    if script.isCode {
                        try await showValues(of: script, on: host)
                    } else {
                        try await host.run(bytes: script.bytes, named: script.name, commandLineBytes: request.arguments)
                        if script.isMigration {
                            CommandOutput.note(
                                "\(script.name) only returns functions, which were not called; `perilune migrate FOLDER` runs "
                                    + "the migrations of a folder", colors)
                        }
                    }
                }
            }
            gracefulStop?.beginWaiting()
            try await host.waitUntilIdle()
        }
        await host.endCallbacks()
        return ending
    }

    private func end(
        _ texts: SourceTexts, _ host: ScriptHost, _ gracefulStop: GracefulStop?, _ operation: () async throws -> Void
    ) async -> Ending {
        do {
            do {
                try await operation()
            } catch let error as LuaError where error.code == .cancelled {
                // If the failure of a callback, such as a timer function, caused the cancellation, that failure is reported instead.
                let failure = await host.takeCallbackFailure()
                if let failure, (failure as? LuaError)?.code != .cancelled { throw failure }
                guard let status = gracefulStop?.status else { throw failure ?? error }
                return Ending(status: status)
            }
            return Ending(status: gracefulStop?.status ?? ExitStatus.success)
        } catch let error as LuaError {
            if error.code == .exit, case .integer(let status) = error.fields["status"] {
                return Ending(status: ExitStatus.status(requested: status))
            }
            return Ending(failure: CommandFailure(ofScript: await report(error, texts, host)))
        } catch {
            return Ending(failure: CommandFailure(ErrorReport("\(error)", kind: "host")))
        }
    }

    /// Runs code from the command line and shows its values like the console, but not the outcomes of SQL statements.
    private func showValues(of script: Script, on host: ScriptHost) async throws {
        let width = TerminalSize.outputColumns
        let evaluator = ConsoleEvaluator(host: host)
        let values = try await evaluator.run(code: script.bytes, named: script.name, request.arguments)
        let shown = values.filter { value in if case .outcome = value { false } else { true } }
        let renderer = ConsoleRenderer(colors: CommandOutput.outputColors(request.color), width: width)
        if !shown.isEmpty { try StandardStreams.write(Array(renderer.text(shown).utf8)) }
    }

    private func read(_ source: ScriptSource) throws -> [UInt8] {
        switch source {
        case .code(let text, _): return Array(text.utf8)
        case .standardInput: return try StandardStreams.readInput()
        case .file(let path):
            let bytes: [UInt8]
            do {
                bytes = try ScriptHost.read(path)
            } catch {
                let help =
                    "the first argument after -e CODE is FILE; with /dev/null as FILE, only the code runs, with the other arguments"
                let isCode = request.sources.contains(where: \.isCode)
                throw CommandFailure(ErrorReport("\(error)", kind: "io", help: isCode ? help : nil))
            }
            guard !bytes.starts(with: DatabaseFile.header) else {
                throw CommandFailure(
                    ErrorReport("\(path) is a database, and not a script", kind: "usage", help: "use --database \(path)"))
            }
            return bytes
        }
    }

    func makeTrace() -> TraceWriter? {
        request.trace.isEmpty ? nil : TraceWriter(request: request.trace, colors: colors)
    }

    func makeConfiguration(_ trace: TraceWriter?) -> ScriptHost.Configuration {
        var configuration = ScriptHost.Configuration(
            database: .command(request.database, readonly: request.isReadonly, trace: trace?.trace))
        configuration.isDeterministic = request.isDeterministic
        configuration.definesGlobalDatabase = request.definesGlobalDatabase
        configuration.libraries = request.isSandboxed ? .sandboxed : .trusted
        configuration.limits = LuaLimits(
            memoryInBytes: request.memoryInBytes, time: request.timeout, diskInBytes: request.diskInBytes)
        configuration.output = .standardOutput(limitInBytes: request.outputInBytes)
        configuration.allowsFiles = !request.isSandboxed
        configuration.sqliteExtensions = request.extensions
        configuration.moduleFolder = request.isSandboxed ? nil : request.moduleFolder
        configuration.errorDisclosure = .all
        configuration.carriesTaskLocalValues = false
        configuration.callbackErrors = .fail
        configuration.signals = Interrupts.names
        // Code on the command line is evaluated like a console line; script files see only the usual globals.
        if request.task == nil, request.sources.contains(where: \.isCode) {
            ConsoleEvaluator.prepare(&configuration, definesGlobals: request.sources.allSatisfy(\.isCode))
        }
        UsedFiles.noteIfWatched(request.sources.compactMap(\.path), in: &configuration)
        return configuration
    }

    private func report(_ error: LuaError, _ texts: SourceTexts, _ host: ScriptHost) async -> ErrorReport {
        var report = ErrorReport(error, source: texts)
        report.addHelp(for: request)
        let concernsDatabase = report.sql != nil || report.kind == "unknown_table"
        if report.help == nil, concernsDatabase, !error.code.isLimit, let names = await host.databaseNames() {
            report.addSuggestion(from: names)
            report.addHelpForEmptyDatabase(request.database, names)
        }
        return report
    }
}

extension ErrorReport {
    /// Adds help for the user who ran the command.
    mutating func addHelp(for request: ScriptRequest) {
        switch kind {
        case "syntax": help = request.sources.lazy.compactMap(SQLSource.help).first ?? help
        case "crashed": help = "nothing that it had not committed is in the database"
        case "timeout": help = request.help(onLimit: .timeout)
        case "output" where request.outputInBytes != nil: help = request.help(onLimit: .output)
        case "disk" where request.diskInBytes != nil: help = request.help(onLimit: .disk)
        case "memory" where request.memoryInBytes.map { $0 < 1 << 16 } == true:
            help = "--memory is in bytes unless it has a unit, as in 64M"
        case "memory" where request.memoryInBytes != nil: help = request.help(onLimit: .memory)
        case "cancelled": message = "interrupted; open transactions were rolled back"
        case "sandbox": help = "the script runs with --sandbox"
        case "forbidden" where request.isSandboxed: help = "the script runs with --sandbox"
        case "preview" where message.contains("database files"):
            help = "run it without --preview"
        case "preview": help = "use --allow-effects to perform it"
        case "runtime" where request.isSandboxed && ScriptNames.isTakenAway(message):
            help = "--sandbox removes it"
        case "runtime" where help == nil && !request.isSandboxed && message.prefixMatch(of: /module '[^']+' not found:/) != nil:
            let folder = request.moduleFolder
            let searched = folder == "." ? "the current folder" : "`\(folder)`, the folder of the script,"
            help = "modules are searched in \(searched) and in the paths of LUA_PATH, as in LUA_PATH='lib/?.lua;;'"
        case _ where kind.hasPrefix("readonly") && request.isReadonly: help = "the database was opened with --readonly"
        case _ where isLock: addHelp(forLockOf: request.database)
        default: break
        }
    }
}
