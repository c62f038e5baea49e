internal import Foundation
internal import GRDB
internal import Logging
internal import PeriluneBindings
internal import PeriluneCluster
internal import PeriluneDependencies
internal import PeriluneIsolation
internal import PeriluneLua

/// A host whose scripts run in a separate process: it sends requests and answers the scripts' questions.
extension ScriptHost {
    /// Creates a host and starts the process of its scripts.
    init(
        _ isolation: ScriptIsolation.Process, _ configuration: Configuration, database: IsolatedDatabase,
        environment: ScriptEnvironment
    ) async throws {
        try configuration.checkIsolation()
        var setup = WorkerSetup()
        (setup.database, setup.connection) = (database.path, database.settings)
        setup.diskQuota = configuration.diskQuota
        let trace = database.makeTrace(in: environment)
        if let trace { (setup.trace, setup.tracesValues) = (trace.events, trace.showsValues) }
        setup.libraries = configuration.libraries
        setup.isDeterministic = configuration.isDeterministic
        setup.limits = configuration.limits
        setup.outputLimitInBytes = configuration.output.limitInBytes
        if case .none = configuration.output { setup.prints = false }
        setup.context = environment.context
        let clock = environment.date.manualClock
        setup.clock = clock.flatMap { ClockLink.microseconds(of: $0) }
        setup.asksForDate = !environment.date.isSystem && clock == nil
        setup.hasModules = !configuration.moduleSources.isEmpty
        setup.reportsCommits = database.writer != nil && !database.settings.isReadonly
        setup.asksForRandom = !environment.random.isSystem
        setup.asksForUUID = !environment.uuid.isRandom
        if case .fail = configuration.callbackErrors { setup.failsForCallbacks = true }
        setup.signals = configuration.signals
        setup.logLevel = environment.logger.logLevel.rawValue
        let worker = try await WorkerConnection.start(isolation, setup, environment: environment)
        if let clock { worker.share(clock) }
        var own = configuration
        own.limits = .none
        own.diskQuota = nil
        // Not used by scripts, whose default database is open in their process.
        try self.init(own, database: DatabaseQueue(), environment: environment, worker: worker)
        runTimeLimit = configuration.limits.time
        isolatedTrace = trace
        foreignCommits = database.writer.map { ForeignCommits($0) }
    }

    /// Sends a request, and answers the scripts' questions until it ends.
    func request(_ message: HostMessage, _ values: [WireValue], of worker: WorkerConnection) async throws -> [WireValue] {
        let pending = PendingRequest()
        let number = try worker.begin(message, values, pending)
        defer { worker.forget(number) }
        let watch = timeLimit(of: message).map { limit in
            worker.watch(number, limit: limit, LuaError(.timeout, "the script ran longer than its limit of \(limit)"))
        }
        defer { watch?.cancel() }
        return try await withTaskCancellationHandler {
            // After each wait, a task without a preferred executor continues on the shared threads, which wakes two more threads.
            try await withTaskExecutorPreference(thread.preference) {
                while true {
                    switch await pending.next() {
                    case .question(let question): answer(question)
                    case .ended(.success(let values)):
                        isolatedFigures = pending.figures
                        return values
                    case .ended(.failure(let error)):
                        isolatedFigures = pending.figures
                        if (error as? LuaError)?.code == .cancelled, Task.isCancelled { throw CancellationError() }
                        throw error
                    }
                }
            }
        } onCancel: {
            worker.cancel(number)
        }
    }

    private func timeLimit(of message: HostMessage) -> Duration? {
        switch message {
        case .run, .runCommand, .call: RunOptions.current?.limits?.time ?? runTimeLimit
        default: nil
        }
    }

    /// Answers a question, in the task that waits for the script: a function may run the host again.
    func answer(_ question: WorkerQuestion) {
        guard let worker else { return }
        // A task costs more than such an answer.
        if let value = environment.answer(to: question.message) { return worker.answer(question, .success([value])) }
        if question.message == .callAtOnce { return worker.answer(question, Result { try callAtOnce(question) }) }
        let task = Task.immediate {
            let result: Result<[WireValue], any Error>
            do {
                result = .success(try await values(answering: question))
            } catch {
                result = .failure(error)
            }
            worker.answer(question, result)
        }
        worker.keep(task, of: question)
    }

    private func values(answering question: WorkerQuestion) async throws -> [WireValue] {
        let values = question.values
        switch question.message {
        case .findModule:
            do {
                return try module(named: values.first?.text ?? "")
            } catch {
                guard !(error is LuaError || error is any LuaErrorDescribing) else { throw error }
                var shown = LuaError(.host, disclosure.text(of: error))
                shown.underlying = error
                throw shown
            }
        case .callFunction: return try await call(question)
        default: throw Self.unknownQuestion
        }
    }

    private static var unknownQuestion: LuaError { LuaError(.usage, "the host does not know this request of its worker process") }

    private func module(named name: String) throws -> [WireValue] {
        if let module = modules.module(required: name) {
            return [.text("functions"), .list(module.functions.map { .list([.text($0.name), .boolean($0.isAsynchronous)]) })]
        }
        for source in moduleSources {
            if let found = try source.module(named: name) {
                sourceTexts.add(found.text, named: found.file)
                return [.text("source"), .string(found.text), .text(found.file)]
            }
        }
        return []
    }

    /// Calls a function that may wait.
    private func call(_ question: WorkerQuestion) async throws -> [WireValue] {
        let (function, arguments) = try function(of: question)
        do {
            return try copies(try await function.callAsync(arguments), of: question)
        } catch {
            throw asRaised(error)
        }
    }

    /// Calls a function that does not wait, without a task.
    private func callAtOnce(_ question: WorkerQuestion) throws -> [WireValue] {
        let (function, arguments) = try function(of: question)
        do {
            return try copies(try function.call(arguments), of: question)
        } catch {
            throw asRaised(error)
        }
    }

    /// The function to call, and its arguments.
    private func function(of question: WorkerQuestion) throws -> (LuaFunction, [LuaValue]) {
        let values = question.values
        guard values.count == 3, let module = values[0].text, let name = values[1].text, let arguments = values[2].elements else {
            throw Self.unknownQuestion
        }
        guard let table = try functions(of: module), case .function(let function) = try table.rawGet(.string(LuaString(name)))
        else {
            throw LuaError(.usage, "the host has no function \(module).\(name)")
        }
        return (function, try arguments.lua(in: state))
    }

    private func copies(_ results: [LuaValue], of question: WorkerQuestion) throws(LuaError) -> [WireValue] {
        var copies: [WireValue] = []
        for result in results {
            let copy = try WireValue(result)
            if let type = copy.firstOpaque {
                let name = question.functionName ?? "the host"
                throw LuaError(.conversion, "\(name): the result is \(type), which cannot go to another process")
            }
            copies.append(copy)
        }
        return copies
    }

    /// The functions of a module, made once.
    private func functions(of module: String) throws -> LuaTable? {
        if let table = isolatedModules[module] { return table }
        isolatedModules[module] = try modules.table(of: module, in: state)
        return isolatedModules[module]
    }

    /// The isolation layers that are active in the process of the scripts; empty if scripts run in this process.
    public nonisolated var isolationLayers: Set<IsolationLayer> { worker?.layers ?? [] }

    /// Whether the process of the scripts has ended, so that nothing can run any more.
    package nonisolated var hasCrashed: Bool { worker?.hasEnded ?? false }

    /// The id of the process in which the scripts run, if it is another one.
    package nonisolated var workerProcessID: Int32? { worker?.process.id }

    /// Returns the error as scripts see it, without a position, because it was not raised in a script.
    private func asRaised(_ error: LuaError) -> LuaError {
        var raised = error
        (raised.file, raised.line, raised.traceback, raised.hints) = (nil, nil, nil, nil)
        raised.fields["file"] = nil
        raised.fields["line"] = nil
        return raised
    }

    /// Rejects features that need the Lua state of the scripts, if it is in another process.
    func requireOwnState(for what: String) throws {
        guard worker != nil else { return }
        throw LuaError(.usage, "scripts in a process of their own cannot have \(what); make a host without isolation")
    }

    // MARK: - What comes unasked

    /// Writes the scripts' output.
    func write(_ bytes: [UInt8], endsLine: Bool) {
        let output = isolatedOptions?.output ?? output
        switch output {
        case .standardOutput: WorkerEntry.print(endsLine ? bytes + [UInt8(ascii: "\n")] : bytes)
        case .log, .closure:
            printedLine += bytes
            guard endsLine else { return }
            let line = String(decoding: printedLine, as: UTF8.self)
            printedLine = []
            if case .closure(let body) = output { return body(line) }
            environment.logger.info("\(line)", metadata: runMetadata.isEmpty ? nil : runMetadata, source: "script")
        case .none: break
        }
    }

    /// The metadata that the options of the run add to log messages.
    private var runMetadata: Logger.Metadata { (isolatedOptions?.logMetadata ?? [:]).mapValues { "\($0)" } }

    func log(_ values: [WireValue]) {
        guard values.count == 4, let level = values[0].text.flatMap({ Logger.Level(rawValue: $0) }), let message = values[1].text
        else { return }
        var metadata = runMetadata
        if case .table(let pairs) = values[3] {
            for pair in pairs { if let key = pair.key.text, let value = pair.value.text { metadata[key] = "\(value)" } }
        }
        environment.logger.log(
            level: level, "\(message)", metadata: metadata.isEmpty ? nil : metadata, source: values[2].text ?? "script")
    }
}

extension ScriptEnvironment {
    /// Answers a question about the current time, a UUID or a random number; `nil` for other questions.
    func answer(to message: WorkerMessage) -> WireValue? {
        switch message {
        case .now: (try? now().microsecondsSince1970).map { .integer($0) }
        case .uuid: .text(uuid().uuidString)
        case .random: .integer(Int64(bitPattern: random.next()))
        default: nil
        }
    }
}

/// The database of scripts in another process.
struct IsolatedDatabase {
    /// `nil` for a database in the memory of the process.
    var path: String?
    var settings: ConnectionSettings
    /// The trace with which the database was opened.
    var trace: SQLTrace?
    /// The same database in this process, if it is open.
    var writer: (any DatabaseWriter)?

    func makeTrace(in environment: ScriptEnvironment) -> SQLTrace? {
        guard let (trace, slow) = trace?.make(environment) else { return nil }
        if let writer { slow?.begin(with: writer) }
        return trace
    }
}

extension ScriptHost.Configuration {
    /// The default database, for another process.
    ///
    /// - Throws: `LuaError` with code `usage` for a database in the memory of this process.
    func isolatedDatabase(in container: DependencyContainer) async throws -> IsolatedDatabase {
        guard let source = databaseToMake else { return try await isolated(container.value(for: DefaultDatabaseKey.self)) }
        let environment = try await ScriptEnvironment.resolve(in: container)
        let isLive = source.isInEveryContext || environment.context == .live
        switch source.kind {
        case .cluster where isLive: throw Self.noNetwork
        case .inMemory where source.migrations == nil:
            return IsolatedDatabase(path: nil, settings: try source.connectionSettings(), trace: source.trace)
        case .pool, .queue:
            // The process opens the file. This process opens the database only to migrate it.
            guard isLive, source.migrations == nil || source.isReadonly else { break }
            return IsolatedDatabase(path: try source.path(), settings: try source.connectionSettings(), trace: source.trace)
        case .existing, .inMemory, .cluster: break
        }
        return try await isolated(DatabaseMaker(source: source, environment: environment, needsFile: true).make())
    }

    /// The error of scripts in a separate process that use a database in a cluster.
    package static let noNetwork = LuaError(
        .usage,
        "a process of its own reaches no cluster, because it has no network; use a copy of the database in a file, or no isolation"
    )

    /// Returns the file of an open database.
    private func isolated(_ writer: any DatabaseWriter) async throws -> IsolatedDatabase {
        guard ClusterDatabase.of(writer) == nil else { throw Self.noNetwork }
        let source = OpenedDatabases.source(of: writer)
        let settings = try source?.connectionSettings() ?? ConnectionSettings(writer.configuration)
        // SQLite returns a general error if it is interrupted while it prepares a statement.
        let path = try await Task.preferringCancellation {
            // Does not use the path, which is a URI in tests.
            try await writer.read { db in
                try String.fetchOne(db, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'") ?? ""
            }
        }
        guard FileManager.default.fileExists(atPath: path) else {
            throw LuaError(
                .usage, "the default database is in memory, where the process of the scripts cannot reach it; use one in a file")
        }
        return IsolatedDatabase(path: path, settings: settings, trace: source?.trace, writer: writer)
    }

    /// Rejects settings that do not work in another process.
    func checkIsolation() throws {
        func refuse(_ what: String) -> LuaError { LuaError(.usage, "scripts in a process of their own cannot have \(what)") }
        guard libraries.isSubset(of: .sandboxed) else { throw refuse("libraries that reach files or programs: use .sandboxed") }
        guard !allowsFiles else { throw refuse("other database files (allowsFiles)") }
        guard moduleFolder == nil else { throw refuse("a package.path (moduleFolder): use moduleSources") }
        guard sqliteExtensions.isEmpty else { throw refuse("extensions of SQLite, which are native code") }
        guard previewWithholds == nil else { throw refuse("previews") }
        guard libraryModules.isEmpty, extending == nil else { throw refuse("modules that are part of a program") }
    }
}
