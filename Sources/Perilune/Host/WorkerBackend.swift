internal import GRDB
internal import Logging
internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneLua

/// The backend of scripts in another process: sends requests to the process, and answers the questions that it asks.
final class WorkerBackend: ScriptBackend {
    let connection: WorkerConnection
    /// The default time limit of runs.
    private var timeLimit: Duration?
    let databasePath: String?
    /// The trace that receives the scripts' SQL statements.
    private let trace: SQLTrace?
    /// Notifies observers in this process about commits of the scripts.
    private let commits: ForeignCommits?
    /// Notifies the scripts' process about commits in this process. Created when the first automation or observation starts.
    private var reporter: CommitReporter?
    /// The function tables of the Swift modules that scripts have called, by module name.
    private var modules: [String: LuaTable] = [:]
    /// Printed text that has not been terminated by a newline yet.
    private var printedLine: [UInt8] = []
    /// The options of the current run.
    private var options: RunOptions?
    /// The figures of the last run.
    private var figures: RunFigures?
    /// The runs that the process has started without a request, by their number in the process.
    private var ownRuns: [Int64: OwnRun] = [:]

    init(_ connection: WorkerConnection, timeLimit: Duration?, trace: SQLTrace?, database: IsolatedDatabase) {
        (self.connection, self.timeLimit, self.trace) = (connection, timeLimit, trace)
        databasePath = database.path
        commits = database.writer.map { ForeignCommits($0) }
    }

    var usesHostState: Bool { false }
    var control: any ScriptControl { connection }

    // MARK: - Runs

    func run(
        _ source: [UInt8], named name: String, _ makeArguments: (LuaState) throws -> [LuaValue], in host: isolated ScriptHost
    ) async throws -> [LuaValue] {
        let arguments = try copies(of: makeArguments(host.state))
        return try await request(.run, [.string(source), .text(name), arguments, ownLimits], in: host).lua(in: host.state)
    }

    func runCommand(_ source: [UInt8], named name: String, _ arguments: [[UInt8]], in host: isolated ScriptHost) async throws {
        let arguments = WireValue.list(arguments.map { .string($0) })
        _ = try await request(.runCommand, [.string(source), .text(name), arguments, ownLimits], in: host)
    }

    func call(
        _ function: String, _ makeArguments: (LuaState) throws -> [LuaValue], in host: isolated ScriptHost
    ) async throws -> [LuaValue] {
        let arguments = try copies(of: makeArguments(host.state))
        return try await request(.call, [.text(function), arguments, ownLimits], in: host).lua(in: host.state)
    }

    func defines(_ function: String, in host: isolated ScriptHost) async throws -> Bool {
        try await request(.defines, [.text(function)], in: host).first?.booleanValue == true
    }

    func compile(_ source: [UInt8], named name: String, in host: isolated ScriptHost) async throws {
        let values = try await request(.compile, [.string(source), .text(name)], in: host)
        if let value = values.first, value != .nil { throw LuaError(value) }
    }

    func exchangeOptions(_ options: RunOptions?) -> RunOptions? {
        defer {
            self.options = options
            figures = nil
        }
        return self.options
    }

    var lastFigures: RunFigures? { figures ?? RunFigures() }

    func limitTime(to time: Duration, in host: isolated ScriptHost) {
        timeLimit = time
        connection.limitTime(to: time)
    }

    /// The limits in the options of the current run, which replace the host's limits; nil if the options set no limits.
    private var ownLimits: WireValue { RunOptions.current?.limits.map { WireValue(runLimits: $0) } ?? .nil }

    func copies(of arguments: [LuaValue]) throws -> WireValue {
        let copies = try WireValue.copies(of: arguments)
        if let type = copies.firstOpaque {
            throw LuaError(.conversion, "an argument is, or has in it, \(type), which cannot go to another process")
        }
        return copies
    }

    // MARK: - Callbacks

    func waitUntilIdle(in host: isolated ScriptHost) async throws {
        _ = try await request(.wait, [], in: host)
    }

    func isIdle(in host: isolated ScriptHost) async -> Bool {
        (try? await request(.isIdle, [], in: host).first?.booleanValue) ?? true
    }

    func endCallbacks(in host: isolated ScriptHost) async {
        _ = try? await request(.endCallbacks, [], in: host)
        // Swift functions of the program may have started callbacks in this process.
        host.loop.endAll()
    }

    func takeCallbackFailure(in host: isolated ScriptHost) async -> (any Error)? {
        let failure = try? await request(.takeFailure, [], in: host).first
        return failure.map { LuaError($0) }
    }

    func close(in host: isolated ScriptHost) {
        (modules, reporter) = ([:], nil)
        connection.close()
    }

    // MARK: - Requests

    /// Sends a request and waits for its result. Answers the scripts' questions in the meantime.
    func request(
        _ message: HostMessage, _ values: [WireValue], in host: isolated ScriptHost
    ) async throws -> [WireValue] {
        let (pending, connection) = (PendingRequest(), connection)
        let number = try connection.begin(message, values, pending)
        defer { connection.forget(number) }
        let watch = limit(of: message).map { limit in
            connection.watch(number, limit: limit, LuaError(.timeout, "the script ran longer than its limit of \(limit)"))
        }
        defer { watch?.cancel() }
        return try await withTaskCancellationHandler {
            // Without a preferred executor, the task would resume on the shared threads after each wait, which wakes two more threads.
            try await withTaskExecutorPreference(host.thread.preference) {
                while true {
                    switch await pending.next() {
                    case .question(let question): answer(question, in: host)
                    case .ended(.success(let values)):
                        figures = pending.figures
                        return values
                    case .ended(.failure(let error)):
                        figures = pending.figures
                        if (error as? LuaError)?.code == .cancelled, Task.isCancelled { throw CancellationError() }
                        throw error
                    }
                }
            }
        } onCancel: {
            connection.cancel(number)
        }
    }

    private func limit(of message: HostMessage) -> Duration? {
        switch message {
        case .run, .runCommand, .call, .loadAutomations: RunOptions.current?.limits?.time ?? timeLimit
        default: nil
        }
    }

    /// Answers a question from the scripts' process. Runs in the task that waits for the script, because a called function may use the host
    /// again.
    func answer(_ question: WorkerQuestion, in host: isolated ScriptHost) {
        // Simple questions are answered without the cost of a task.
        if question.message == .isOwnerAlive {
            let answer = (question.values.first?.text).flatMap { RowOwners.isAlive($0) }
            return connection.answer(question, .success([answer.map { .boolean($0) } ?? .nil]))
        }
        if let value = host.environment.answer(to: question.message) { return connection.answer(question, .success([value])) }
        if question.message == .callAtOnce { return connection.answer(question, Result { try callAtOnce(question, in: host) }) }
        // Without a preferred executor, the task would resume on the shared threads after each wait.
        let task = Task.immediate(executorPreference: host.thread.preference) {
            let result: Result<[WireValue], any Error>
            do {
                result = .success(try await values(answering: question, in: host))
            } catch {
                result = .failure(error)
            }
            connection.answer(question, result)
        }
        connection.keep(task, of: question)
        // A function that is still running when this thread is idle waits for something outside the host.
        if question.message == .callFunction { host.thread.enqueueWhenIdle { [connection] in connection.answerLater(question) } }
    }

    private func values(answering question: WorkerQuestion, in host: isolated ScriptHost) async throws -> [WireValue] {
        let values = question.values
        switch question.message {
        case .findModule:
            do {
                return try module(named: values.first?.text ?? "", in: host)
            } catch {
                guard !(error is LuaError || error is any LuaErrorDescribing) else { throw error }
                var shown = LuaError(.host, host.disclosure.text(of: error))
                shown.underlying = error
                throw shown
            }
        case .callFunction: return try await call(question, in: host)
        default: throw Self.unknownQuestion
        }
    }

    private static var unknownQuestion: LuaError { LuaError(.usage, "the host does not know this request of its worker process") }

    private func module(named name: String, in host: isolated ScriptHost) throws -> [WireValue] {
        if let module = host.modules.module(required: name) {
            return [.text("functions"), .list(module.functions.map { .list([.text($0.name), .boolean($0.isAsynchronous)]) })]
        }
        for source in host.moduleSources {
            if let found = try source.module(named: name) {
                host.sourceTexts.add(found.text, named: found.file)
                return [.text("source"), .string(found.text), .text(found.file)]
            }
        }
        return []
    }

    /// Calls an asynchronous Swift function on behalf of a script.
    private func call(_ question: WorkerQuestion, in host: isolated ScriptHost) async throws -> [WireValue] {
        let (function, arguments) = try function(of: question, in: host)
        do {
            return try copies(try await function.callAsync(arguments), of: question)
        } catch {
            throw asRaised(error)
        }
    }

    /// Calls a synchronous Swift function on behalf of a script, without a task.
    private func callAtOnce(_ question: WorkerQuestion, in host: isolated ScriptHost) throws -> [WireValue] {
        let (function, arguments) = try function(of: question, in: host)
        do {
            return try copies(try function.call(arguments), of: question)
        } catch {
            throw asRaised(error)
        }
    }

    /// Returns the Swift function that a question asks for, and its arguments.
    private func function(of question: WorkerQuestion, in host: isolated ScriptHost) throws -> (LuaFunction, [LuaValue]) {
        let values = question.values
        guard values.count == 3, let module = values[0].text, let name = values[1].text, let arguments = values[2].elements else {
            throw Self.unknownQuestion
        }
        guard let table = try functions(of: module, in: host),
            case .function(let function) = try table.rawGet(.string(LuaString(name)))
        else {
            throw LuaError(.usage, "the host has no function \(module).\(name)")
        }
        return (function, try arguments.lua(in: host.state))
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

    /// Returns the function table of a Swift module, which is created once.
    private func functions(of module: String, in host: isolated ScriptHost) throws -> LuaTable? {
        if let table = modules[module] { return table }
        modules[module] = try host.modules.table(of: module, in: host.state)
        return modules[module]
    }

    /// Returns an error without its position in a script, because the error was raised in Swift.
    private func asRaised(_ error: LuaError) -> LuaError {
        var raised = error
        (raised.file, raised.line, raised.traceback, raised.hints) = (nil, nil, nil, nil)
        raised.fields["file"] = nil
        raised.fields["line"] = nil
        return raised
    }

    // MARK: - Messages without a request

    /// Writes text that scripts have printed.
    func write(_ bytes: [UInt8], endsLine: Bool, in host: isolated ScriptHost) {
        let output = options?.output ?? host.output
        switch output {
        case .standardOutput: WorkerEntry.print(endsLine ? bytes + [UInt8(ascii: "\n")] : bytes)
        case .log, .closure:
            printedLine += bytes
            guard endsLine else { return }
            let line = String(decoding: printedLine, as: UTF8.self)
            printedLine = []
            if case .closure(let body) = output { return body(line) }
            host.environment.logger.info("\(line)", metadata: runMetadata.isEmpty ? nil : runMetadata, source: "script")
        case .discarded: break
        }
    }

    /// The metadata that the options of the current run add to log messages.
    private var runMetadata: Logger.Metadata { (options?.logMetadata ?? [:]).mapValues { "\($0)" } }

    func log(_ values: [WireValue], in host: isolated ScriptHost) {
        guard values.count == 4, let level = values[0].text.flatMap({ Logger.Level(rawValue: $0) }), let message = values[1].text
        else { return }
        var metadata = runMetadata
        if case .table(let pairs) = values[3] {
            for pair in pairs { if let key = pair.key.text, let value = pair.value.text { metadata[key] = "\(value)" } }
        }
        host.environment.logger.log(
            level: level, "\(message)", metadata: metadata.isEmpty ? nil : metadata, source: values[2].text ?? "script")
    }

    func receive(_ statement: SQLTrace.Event) { trace?.receive(statement) }

    func noteCommit(of tables: [String]) { commits?.note(tables) }

    /// Starts to notify the scripts' process about commits in this process.
    func reportCommits() {
        guard reporter == nil else { return }
        reporter = commits?.report { [connection] tables in connection.noteCommit(of: tables) }
    }

    // MARK: - Runs that the process has begun by itself

    /// The maximum number of simultaneous runs that are reported. The limit bounds the host's memory against a hostile process.
    private static let ownRunLimit = 1 << 14

    /// Reports the start or the end of a run in the scripts' process.
    ///
    /// - Parameter values: The number, kind and name of the run; at its end, also its error and figures.
    func takeRunEvent(_ values: [WireValue], in host: isolated ScriptHost) {
        guard let number = values.first?.integerValue, values.count >= 3 else { return }
        if let run = ownRuns[number], values.count == 5 {
            ownRuns[number] = nil
            let error = values[3] == .nil ? nil : LuaError(values[3])
            host.runReporter.send(run.begin.ended(error, after: .now - run.start, RunFigures(values[4])))
        } else if values.count == 3, let kind = values[1].text.flatMap({ ScriptRunEvent.Kind(rawValue: $0) }),
            ownRuns.count < Self.ownRunLimit
        {
            let begin = ScriptRunEvent(id: RunReporter.makeID(), kind: kind, name: values[2].text, tag: host.runTag, end: nil)
            ownRuns[number] = OwnRun(begin: begin)
            host.runReporter.send(begin)
        }
    }

    /// Reports the end of all runs of a process that has ended, and releases the claim of its automations.
    func noteEnd(_ error: LuaError, in host: isolated ScriptHost) {
        host.automationClaim = nil
        for run in ownRuns.values.sorted(by: { $0.begin.id < $1.begin.id }) {
            host.runReporter.send(run.begin.ended(error, after: .now - run.start, RunFigures()))
        }
        ownRuns = [:]
    }
}

/// A run that the scripts' process has started without a request, for example for a timer or a task.
private struct OwnRun {
    let begin: ScriptRunEvent
    let start = ContinuousClock.now
}
