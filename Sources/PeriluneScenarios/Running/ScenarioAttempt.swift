internal import Foundation
internal import GRDB
internal import PeriluneLua

/// One run of a scenario, with a separate Lua state and a separate database. Used on the thread of a worker.
struct ScenarioAttempt {
    let scenario: Scenario
    let source: ScenarioDatabases.Source
    let tools: ScenarioTools
    /// The seed of the run; a different one for each repetition under stress.
    let seed: RunSeed
    /// The number of the attempt, from 1.
    let number: Int
    /// The points at which processes end; `nil` without the option `crash`.
    let crashes: CrashPlan?
    let makeLoops: ScenarioWorker.MakeLoops
    /// Called when the file is loaded, and when the scenario begins, with the states to cancel and the time limit from then on.
    let didStart: (RunningStates, Duration) -> Void

    var databases: ScenarioDatabases { tools.databases }
    var options: ScenarioOptions { tools.options }
    var coverage: CoverageCollector? { tools.coverage }

    /// Runs the scenario. All errors become part of the result.
    nonisolated(nonsending) func run() async -> ScenarioResult {
        let start = ContinuousClock.now
        var result = ScenarioResult(scenario, .passed, seed: seed)
        do {
            let (place, image) = try databases.find(for: scenario, in: source)
            let stage = try ScenarioStage(
                options.databaseMaker.map { .elsewhere($0) } ?? place, image: image, seed: scenario.seed(in: seed),
                extensions: options.loadedExtensions)
            defer { stage.close() }
            try await play(on: stage, &result)
            keep(stage, &result)
        } catch {
            result.outcome = .errored
            result.failures.append(ScenarioFailure(error, file: scenario.file))
        }
        result.duration = ContinuousClock.now - start
        return result
    }

    nonisolated(nonsending) private func play(on stage: ScenarioStage, _ result: inout ScenarioResult) async throws {
        let time = scenario.timeout ?? options.timeout
        // Loading the file does not count against the scenario's time limit.
        var limits = LuaLimits(memoryInBytes: options.memoryInBytes, time: max(time, ScenarioState.loadingTime))
        let state = try ScenarioState(on: stage, limits: limits, chunks: tools.chunks, modules: options.modules)
        if coverage != nil { state.state.coverLines() }
        if options.comparesRounds { state.state.traceLines(upTo: ScenarioTrace.mostLines) }
        let statements = options.comparesRounds ? stage.trace.collect() : nil
        limits.time = time
        let host = ScenarioHost(attempt: self, stage: stage, state: state, limits: limits, loops: makeLoops(stage.clock.clock))
        let details = options.keepsDetails ? RecordedDetails(on: stage) : nil
        await perform(on: host, within: time, &result)
        details?.finish(&result)
        host.finish(&result)
        if let crashes, let crash = scenario.crash {
            crashes.evidence = try? CrashEvidence(of: host, without: .init(crash.ignored))
        }
        checkCursors(of: host, &result)
        await host.close()
        var trace = host.trace
        result.queryCount = stage.trace.count
        result.output = stage.output.text
        checkTransaction(stage, &result)
        checkCount(&result)
        guard let statements else { return }
        trace.add(statements.statements)
        trace.output = result.output
        trace.verdict = [result.outcome.text] + result.failures.map(\.message)
        result.trace = trace
    }

    /// Warns about or fails a scenario without checks, because such a scenario always passes.
    private func checkCount(_ result: inout ScenarioResult) {
        guard result.outcome == .passed, result.checkCount == 0 else { return }
        let message = "the scenario checks nothing: it reached no check, expect or expect_error"
        switch scenario.noChecks ?? options.noChecks {
        case .allow: break
        case .warn: result.warnings.append(message)
        case .fail:
            result.add(ScenarioFailure(message, kind: "no_checks", file: scenario.file, line: scenario.line))
        }
    }

    nonisolated(nonsending) private func perform(
        on host: ScenarioHost, within time: Duration, _ result: inout ScenarioResult
    ) async {
        do {
            try host.install()
            didStart(host.states, max(time, ScenarioState.loadingTime))
            try host.state.load(source.file, only: scenario.isBesideRefused ? nil : scenario.ordinal)
            try host.state.loadRunner()
            host.state.state.limitTime(to: time)
            host.start()
            didStart(host.states, time)
            let report = try await host.state.run(scenario, information(host.stage, in: host.state.state))
            try result.take(report, limit: time)
        } catch let error as LuaError {
            result.take(error, host.state.progress(at: error), limit: time)
            if result.outcome == .timedOut { result.lead(into: host.scripts.last { $0.error?.code == .timeout }?.error) }
        } catch {
            result.outcome = .errored
            result.failures.append(ScenarioFailure(error, file: scenario.file))
        }
    }

    private func information(_ stage: ScenarioStage, in state: LuaState) throws -> LuaTable {
        let information = try state.makeTable()
        try information.set("id", .string(LuaString(scenario.localID)))
        try information.set("seed", .integer(scenario.shownSeed(in: seed)))
        try information.set("attempt", .integer(Int64(number)))
        try information.set("update_snapshots", .string(LuaString(options.writtenSnapshots.rawValue)))
        try information.set("is_ci", .boolean(options.isCI))
        try information.set("ignores_repeats", .boolean(crashes?.chosen.isEmpty == false))
        return information
    }

    /// Fails a scenario that leaves a transaction open.
    private func checkTransaction(_ stage: ScenarioStage, _ result: inout ScenarioResult) {
        let isOpen = try? stage.writer.unsafeReentrantWrite { db in
            guard db.isInsideTransaction else { return false }
            try db.rollback()
            return true
        }
        guard isOpen == true else { return }
        var failure = ScenarioFailure("a transaction was left open; it has been rolled back", kind: "open_transaction")
        (failure.file, failure.line) = (scenario.file, scenario.line)
        result.add(failure)
    }

    /// Fails a scenario that leaves a cursor open. Garbage collection closes unreachable cursors; referenced ones keep the database busy.
    private func checkCursors(of host: ScenarioHost, _ result: inout ScenarioResult) {
        guard !host.stage.unfinishedStatements.isEmpty else { return }
        host.collectGarbage()
        for sql in host.stage.unfinishedStatements {
            var failure = ScenarioFailure(
                "rows were not read to the end, by a suspended coroutine or an iterator: \(sql)", kind: "open_cursor")
            (failure.file, failure.line) = (scenario.file, scenario.line)
            result.add(failure)
        }
    }

    /// Keeps the file of the database if the options request it.
    private func keep(_ stage: ScenarioStage, _ result: inout ScenarioResult) {
        guard options.keepsDatabases || (options.keepsFailedDatabases && !result.outcome.isSuccess) else { return }
        let name = scenario.id.map { $0.isLetter || $0.isNumber ? $0 : "_" }.prefix(80)
        let folder = FileManager.default.temporaryDirectory.appending(path: "perilune-databases/\(seed)")
        let path = folder.appending(path: "\(String(name))-\(String(seed.seed(of: scenario.id), radix: 16)).sqlite")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(stage.image().bytes).write(to: path)
            result.database = path.path
        } catch {
            result.notes.append("the database could not be kept: \(error)")
        }
    }
}

extension ScenarioResult {
    /// Adds the report of the scenario library on a scenario that has ended.
    mutating func take(_ report: LuaFields, limit: Duration) throws {
        outcome = ScenarioOutcome(rawValue: try report.required("outcome")) ?? .failed
        reason = try report.text("reason")
        failures += try report.tables("failures").map { try ScenarioFailure($0) }
        if outcome == .failed, failures.allSatisfy({ $0.kind == "timeout" }) {
            outcome = .timedOut
            for index in failures.indices { failures[index].message = Self.lateness(limit) }
        }
        steps = try report.tables("steps").map { try ScenarioStep($0) }
        notes = try report.list("notes")
        checkCount = try report.optional("checks") ?? 0
        failsOtherwise = try outcome == .failed && !report.flag("fails_as_said")
        attachments = try report.tables("attachments").map {
            try ScenarioAttachment(name: $0.required("name"), text: $0.text("text") ?? $0.text("value") ?? "")
        }
    }

    private static func lateness(_ limit: Duration) -> String { "timed out: still running after \(TimeText.text(limit))" }

    /// Adds the error that ended a scenario to its result.
    mutating func take(_ error: LuaError, _ progress: LuaFields?, limit: Duration) {
        outcome = error.code == .timeout ? .timedOut : error.code == .cancelled ? .interrupted : .failed
        var failure = ScenarioFailure(error, file: scenario.file)
        failure.line = failure.line ?? scenario.line
        failsOtherwise = scenario.failsInOneWay && failure.kind != scenario.failingKind
        if error.code == .exit { failure.message = "os.exit ended the scenario" }
        if let progress {
            failures += ((try? progress.tables("failures")) ?? []).compactMap { try? ScenarioFailure($0) }
            failure.step = (try? progress.text("step")) ?? nil
            failure.frames = (try? progress.list("frames")) ?? []
            failure.source = (try? progress.text("source")) ?? nil
            steps = ((try? progress.tables("steps")) ?? []).compactMap { try? ScenarioStep($0) }
        }
        if outcome == .timedOut { failure.message = Self.lateness(limit) }
        // The failure may already be known from the operation for which the scenario waited.
        if let last = failures.indices.last, failures[last].kind == failure.kind, outcome == .timedOut {
            failures[last].message = failure.message
            if failures[last].file == nil {
                (failures[last].file, failures[last].line) = (failure.file, failure.line)
                (failures[last].frames, failures[last].source) = (failure.frames, failure.source)
            }
        } else {
            failures.append(failure)
        }
    }

    /// Adds the script frames from an error's traceback to the last failure, after a timeout.
    mutating func lead(into error: LuaError?) {
        guard let traceback = error?.traceback, let last = failures.indices.last else { return }
        let lines = traceback.split(separator: "\n").compactMap {
            $0.firstMatch(of: #/^\s+([^\[\s].*:\d+): in /#).map { String($0.1) }
        }
        let frames = failures[last].frames.isEmpty ? [failures[last].place].compactMap { $0 } : failures[last].frames
        failures[last].frames = frames + lines.reversed()
    }

    /// Adds a failure, which turns a successful outcome into a failed one.
    mutating func add(_ failure: ScenarioFailure) {
        failures.append(failure)
        if outcome.isSuccess { outcome = .failed }
    }
}

extension ScenarioFailure {
    init(_ fields: LuaFields) throws {
        try self.init(
            fields.text("message") ?? "it failed", kind: fields.text("kind"), file: fields.optional("file"),
            line: fields.optional("line"))
        step = try fields.text("step")
        expression = try fields.text("expression")
        source = try fields.text("source")
        details = try fields.list("details")
        traceback = try fields.text("traceback")
        frames = try fields.list("frames")
        statement = try fields.optional("last_sql", as: LuaTable.self).flatMap { try? StatementRecord(LuaFields($0)) }
    }
}

extension ScenarioStep {
    init(_ fields: LuaFields) throws {
        name = try fields.required("name")
        hasPassed = try fields.required("outcome", as: String.self) == "passed"
        duration = try fields.optional("ms", as: Double.self).map { .milliseconds($0) }
        line = try fields.optional("line")
    }
}
