internal import Foundation
internal import Glibc
internal import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneIsolation
internal import PeriluneLua
internal import Synchronization

/// The server in a worker process, which executes the host's requests with an ordinary `ScriptHost` in this process.
final class WorkerServer: Sendable {
    private let channel: FrameChannel
    private let questions: HostQuestions
    /// The host in this process, set before the process reports that it is ready.
    private let made = Mutex<ScriptHost?>(nil)
    /// The link to the scripts' clock, if the clock is set manually.
    private let clock = Mutex<ClockLink?>(nil)
    /// The tasks that execute the active requests, by number.
    private let tasks = Mutex([UInt32: Task<Void, Never>]())

    private init(channel: FrameChannel) {
        (self.channel, questions) = (channel, HostQuestions(channel: channel, answers: WorkerEntry.openAnswers()))
    }

    /// Serves requests on the calling thread until the host closes the connection. Must be called while the process has only one thread.
    static func run() -> Never {
        WorkerEntry.ignoreTermination()
        let channel = WorkerEntry.openChannel()
        guard let hello = try? channel.receive(), hello.kind == HostMessage.hello.rawValue, let value = hello.values.first else {
            exit(70)
        }
        let setup = WorkerSetup(value)
        var rules = IsolationRules()
        if let path = setup.database {
            let folder = rules.allowDatabase(at: path)
            // SQLite creates temporary files in the folder of the database, which the process can access.
            if !setup.connection.isReadonly { setenv("SQLITE_TMPDIR", folder, 1) }
        }
        let server = WorkerServer(channel: channel)
        RowOwners.prepareForSandbox { [questions = server.questions] name in
            try? questions.ask(.isOwnerAlive, [.text(name)]).first?.booleanValue
        }
        let layers = rules.enclose()
        // Creates the host on another thread, because this thread must receive the answers to its questions.
        let thread = Thread { [rules] in server.prepare(setup, rules, layers) }
        thread.stackSize = 8 << 20
        thread.start()
        server.serve()
    }

    /// Creates the host, and then activates the remaining isolation layers, which require that all necessary files are already open.
    private func prepare(_ setup: WorkerSetup, _ rules: IsolationRules, _ layers: Set<IsolationLayer>) {
        do {
            let host = try Self.make(setup, questions)
            if let manual = host.environment.date.manualClock { share(manual) }
            made.withLock { $0 = host }
        } catch {
            let failure = error as? LuaError ?? LuaError(.host, "\(error)")
            var described = failure
            if error is DatabaseError { described.underlying = error }
            try? channel.send(Frame(.unready, 0, [WireValue(described)]))
            exit(0)
        }
        var rules = rules
        // Adds 256 MB for stacks and library caches to the limit of the scripts.
        rules.memoryInBytes = setup.limits.memoryInBytes.map { UInt64(max($0, 0)) + 256 << 20 }
        let all = layers.union(rules.seal())
        try? channel.send(Frame(.ready, 0, [.list(all.map { .text($0.description) })]))
    }

    private func share(_ manual: ManualClock) {
        let link = ClockLink(manual)
        link.onChange { [questions] in questions.tell(.clock, [.integer($0)]) }
        clock.withLock { $0 = link }
    }

    private static func make(_ setup: WorkerSetup, _ questions: HostQuestions) throws -> ScriptHost {
        SQLiteTuning.disableMemoryStatistics()
        if setup.limits.memoryInBytes != nil { WorkerEntry.returnFreedBlocks() }
        var connection = GRDB.Configuration()
        setup.connection.apply(to: &connection)
        let trace = setup.trace.map { events in
            SQLTrace(events, showsValues: setup.tracesValues) { event in
                questions.tell(.statement, [.text(event.sql)] + (event.duration.map { [WireValue($0)] } ?? []))
            }
        }
        var configuration = ScriptHost.Configuration(
            database: setup.database.map {
                .queue(
                    $0, configuration: connection, journal: setup.connection.journal.mode,
                    synchronous: setup.connection.journal.synchronous, trace: trace)
            }
                ?? .inMemory(configuration: connection, trace: trace))
        configuration.diskQuota = setup.diskQuota
        configuration.libraries = setup.libraries
        configuration.isDeterministic = setup.isDeterministic
        configuration.limits = setup.limits
        configuration.signals = setup.signals
        configuration.output = .discarded
        // A source without modules, which prevents a search for files. `HostModules` requests the modules from the host.
        if setup.hasModules { configuration.moduleSources = [.lookup { _ in nil }] }
        configuration.callbackErrors =
            setup.failsForCallbacks ? .fail : .handle { questions.tell(.callbackFailure, [WireValue($0)]) }
        configuration.runReporter = RunReporter(isOn: false) {
            questions.tell(.runEvent, $0.values)
        } reportFigures: { figures in
            let request = HostQuestions.servedRequest
            questions.tell(.measured, [.integer(Int64(request)), figures.value])
        }
        configuration.extending = { _, state in
            try HostModules(questions: questions).install(in: state)
        }
        let environment = WorkerEnvironment.make(setup, questions)
        let database = try configuration.openDatabase(seeing: environment)
        if setup.database == nil || setup.connection.isReadonly {
            // The process has no folder for temporary files, so temporary tables are in memory.
            try database.unsafeReentrantWrite { db in try db.execute(sql: OwnSQL.marked("PRAGMA temp_store = MEMORY")) }
        }
        if setup.reportsCommits {
            let reporter = CommitReporter { tables in
                if let tables { questions.tell(.committed, tables.sorted().map { .text($0) }) }
            }
            database.add(transactionObserver: reporter, extent: .databaseLifetime)
        }
        let host = try ScriptHost(configuration, database: database, environment: environment)
        try host.prepareForServing { host in
            host.state.prepareLastWords()
            if let limit = setup.outputLimitInBytes { try host.state.limitOutput(toBytes: limit) }
            if setup.prints { try WorkerOutput.install(in: host.state, questions) }
            host.loop.signals.onChange { names in questions.tell(.signals, [.list(names.map { .text($0) })]) }
        }
        return host
    }

    // MARK: - Serving

    private func serve() -> Never {
        while let frame = try? channel.receive() {
            guard let message = HostMessage(rawValue: frame.kind) else { break }
            if message == .answer {
                questions.take(frame)
            } else if let host = made.withLock({ $0 }) {
                serve(message, frame, host)
            }
        }
        // The host has closed the connection or has ended. Open transactions are rolled back.
        if let host = made.withLock({ $0 }) { ScriptHost.closeWithDatabases([host], within: .milliseconds(500)) }
        _exit(0)
    }

    private func serve(_ message: HostMessage, _ frame: Frame, _ host: ScriptHost) {
        switch message {
        case .hello, .answer: break
        case .cancel where frame.request == 0:
            // Also cancels the tasks, because a request may not have started its run yet.
            for task in tasks.withLock({ Array($0.values) }) { task.cancel() }
            host.cancel()
        case .cancel: tasks.withLock { $0[frame.request] }?.cancel()
        case .limitTime:
            // Runs on the host's thread, and thus before the next run.
            guard let time = frame.values.first?.duration else { break }
            host.thread.enqueue { host.assumeIsolated { $0.limitTime(to: time) } }
        case .reportRuns: host.runReporter.turnOn()
        case .noteCommit: ForeignCommits(host.database).note(frame.values.compactMap(\.text))
        case .setClock: _ = frame.values.first?.integerValue.map { now in clock.withLock { $0 }?.set(now) }
        case .signal: _ = frame.values.first?.text.map { host.deliver(signal: $0) }
        default: start(message, frame, host)
        }
    }

    private func start(_ message: HostMessage, _ frame: Frame, _ host: ScriptHost) {
        let id = frame.request
        tasks.withLock { tasks in
            // Not on the host's thread, which tasks of the scripts may occupy when the request ends.
            tasks[id] = Task {
                let answer = await HostQuestions.$servedRequest.withValue(id) { await self.answer(message, frame, host) }
                self.tasks.withLock { _ = $0.removeValue(forKey: id) }
                send(answer)
            }
        }
    }

    private func answer(_ message: HostMessage, _ frame: Frame, _ host: ScriptHost) async -> Frame {
        do {
            return Frame(.result, frame.request, try await host.serve(message, frame.values))
        } catch {
            var failure = error as? LuaError ?? LuaError(.host, "\(error)")
            // The host converts this error to a `CancellationError` if its task was cancelled.
            if error is CancellationError { failure = LuaError(.cancelled, "the script was cancelled") }
            return Frame(.failure, frame.request, [WireValue(failure)])
        }
    }

    private func send(_ answer: Frame) {
        do throws(FrameChannel.SendingError) {
            try channel.send(answer)
        } catch {
            guard case .refused(let reason) = error else { return }
            let failure = LuaError(.conversion, "the result is too large to leave the process of the script: \(reason)")
            try? channel.send(Frame(.failure, answer.request, [WireValue(failure)]))
        }
    }
}

extension ScriptHost {
    /// Runs a closure on the host's thread, to prepare the Lua state.
    nonisolated func prepareForServing(_ body: @Sendable (isolated ScriptHost) throws -> Void) throws {
        try thread.run { try assumeIsolated { host in try body(host) } }
    }

    /// Makes the process report the position of this host's script if a signal kills the process. For processes under a supervisor.
    package nonisolated func prepareLastWords() {
        try? prepareForServing { host in host.state.prepareLastWords() }
    }

    /// Executes a request. The requesting host ensures that runs do not overlap.
    fileprivate nonisolated func serve(_ message: HostMessage, _ values: [WireValue]) async throws -> [WireValue] {
        @Sendable func value(_ index: Int) -> WireValue { index < values.count ? values[index] : .nil }
        switch message {
        case .run:
            return try await serveRun(value(3).runLimits) { host in
                try await host.start(value(0).bytes ?? [], named: value(1).text ?? "script") { state in
                    try (value(2).elements ?? []).lua(in: state)
                }
            }
        case .runCommand:
            return try await serveRun(value(3).runLimits) { host in
                try await host.startCommand(
                    value(0).bytes ?? [], named: value(1).text ?? "script", (value(2).elements ?? []).compactMap(\.bytes))
                return []
            }
        case .call:
            return try await serveRun(value(2).runLimits) { host in
                try await host.invoke(value(0).text ?? "") { state in try (value(1).elements ?? []).lua(in: state) }
            }
        case .defines:
            let isDefined = try await performRun { host in try await host.backend.defines(value(0).text ?? "", in: host) }
            return [.boolean(isDefined)]
        case .compile:
            return try await performRun { host in
                do {
                    try await host.backend.compile(value(0).bytes ?? [], named: value(1).text ?? "script", in: host)
                    return [WireValue.nil]
                } catch let error as LuaError {
                    return [WireValue(error)]
                }
            }
        case .loadAutomations:
            let count = try await performRun { host in
                try await host.backend.loadAutomations(
                    value(0).bytes ?? [], named: value(1).text ?? "script", isLive: value(2).booleanValue == true,
                    poll: value(3).duration, in: host)
            }
            return [.integer(Int64(count))]
        case .waitForEvents:
            try await waitForEvents()
            return []
        case .endAutomations:
            try await endServedAutomations()
            return []
        case .callLibrary:
            guard let module = value(0).text.flatMap({ LibraryInterface(rawValue: $0) }) else { break }
            return try await performRun { host in
                let result = try await host.backend.callLibrary(
                    module, value(1).text ?? "", { state in try (value(2).elements ?? []).lua(in: state) }, in: host)
                return [try WireValue(result)]
            }
        case .observe:
            return try await performRun { host in
                guard let backend = host.backend as? LocalBackend else { return [] }
                return [
                    .integer(
                        try await backend.serveObservation(
                            of: value(0).text ?? "", removesDuplicates: value(1).booleanValue == true, in: host))
                ]
            }
        case .awaitObservation:
            try await observation(value(0))?.waitForChange()
            return []
        case .takeObservation:
            guard let observation = await observation(value(0)) else { break }
            return try await performRun { host in
                guard let values = try await observation.take(in: host) else { return [.boolean(false)] }
                return try [.boolean(true)] + values.map { try WireValue($0) }
            }
        case .controlObservation:
            guard let observation = await observation(value(0)) else { break }
            return try await performRun { host in
                [.boolean(try await observation.control(value(1).text ?? "", value(2).text, in: host))]
            }
        case .endObservation:
            await endObservation(value(0))
            return []
        case .wait:
            try await waitUntilIdle()
            return []
        case .endCallbacks:
            await endCallbacks()
            return []
        case .isIdle: return [.boolean(await isIdle)]
        case .takeFailure:
            guard let failure = await takeCallbackFailure() else { return [] }
            return [WireValue(failure as? LuaError ?? LuaError(.host, "\(failure)"))]
        default: break
        }
        throw LuaError(.usage, "the worker process does not know this request")
    }

    private func endServedAutomations() async throws {
        try await backend.endAutomations(in: self)
    }

    private func observation(_ number: WireValue) -> (any ObservedFunction)? {
        number.integerValue.flatMap { (backend as? LocalBackend)?.observations[$0] }
    }

    private func endObservation(_ number: WireValue) {
        if let number = number.integerValue { (backend as? LocalBackend)?.observations[number] = nil }
    }

    private nonisolated func serveRun(
        _ limits: LuaLimits?, _ run: @Sendable (isolated ScriptHost) async throws -> [LuaValue]
    ) async throws -> [WireValue] {
        try await LuaRun.$ownLimits.withValue(limits) {
            guard runReporter.isOn else { return try await serveResult(run) }
            return try await serveMeasured(run)
        }
    }

    private func serveMeasured(_ run: @Sendable (isolated ScriptHost) async throws -> [LuaValue]) async throws -> [WireValue] {
        let meter = LuaMeter(of: state)
        defer { runReporter.reportFigures?(RunFigures(meter)) }
        return try await measured(by: meter) { host in try await host.serveResult(run) }
    }

    private func serveResult(_ run: @Sendable (isolated ScriptHost) async throws -> [LuaValue]) async throws -> [WireValue] {
        try await performRun { host in
            // Sends only the first result, because the host ignores all others.
            guard let result = try await run(host).first else { return [] }
            return [try WireValue(result)]
        }
    }
}

extension LuaState {
    /// Makes the process report the position of this state's script if a signal kills the process.
    fileprivate func prepareLastWords() {
        withPlaceDescriber { WorkerEntry.prepareLastWords(describe: $0, subject: $1) }
    }
}
