internal import Foundation
internal import Perilune
internal import PeriluneIsolation
internal import PeriluneScenarios
internal import Synchronization

/// A session of the `test` command, which runs, watches, lists or reviews scenarios.
struct TestSession {
    private let request: TestRequest
    private let colors: Colors
    /// The cache of objects that later runs reuse if their sources have not changed.
    private let cache = ScenarioRun.Cache()
    private let status = RunStatus()
    private let lastFailures = LastFailures()

    init(_ request: TestRequest, colors: Colors) {
        (self.request, self.colors) = (request, colors)
    }

    /// - Returns: The exit status.
    func run() async throws -> Int32 {
        do {
            if let seed = ScenarioProgram.seed { return try await serve(seed) }
            if request.isReviewing {
                return try SnapshotReview(paths: request.options.paths.map(\.path), colors: colors).run()
            }
            if let listing = request.listing { return try await list(listing) }
            if let folder = request.typesFolder { return try await writeTypes(to: folder) }
            Interrupts.onFirst { [status] in status.interrupt() }
            StatusRequests.forEach { [status] in status.show() }
            return request.isWatching ? try await watch() : try await runOnce(options())
        } catch let error as ScenarioUsageError {
            throw CommandFailure(ErrorReport(error.description, kind: "usage"))
        }
    }

    // MARK: - Listing

    private func list(_ listing: TestRequest.Listing) async throws -> Int32 {
        let selected = try await ScenarioRun(options(), cache: cache).selectScenarios()
        for scenario in selected.scenarios {
            let line = listing == .json ? scenario.json : "\(scenario.place)  \(DisplayText.escaped(scenario.title))"
            try StandardStreams.write(Array((line + "\n").utf8))
        }
        for failure in selected.failures {
            var text = failure.message
            if let place = failure.place { text = "\(place): \(text)" }
            StandardStreams.writeError("error: \(DisplayText.escaped(text, keepingLineBreaks: true))\n")
        }
        guard selected.failures.isEmpty else { return ExitStatus.failure }
        if selected.scenarios.isEmpty { StandardStreams.writeError(selected.explanationOfNone + "\n") }
        return selected.scenarios.isEmpty ? ExitStatus.nothingMatched : ExitStatus.success
    }

    private func writeTypes(to folder: String) async throws -> Int32 {
        let types = try await ScenarioRun(options(), cache: cache).types()
        for path in try types.write(to: folder) { StandardStreams.writeError("written: \(path)\n") }
        return 0
    }

    // MARK: - Running

    private func options() throws -> ScenarioOptions {
        var options = request.options
        if request.onlyFailed {
            // Without a stored run, all scenarios are selected.
            options.selection.identifiers = lastFailures.read()
        }
        if request.onlyChanged { options.selection.files = try ChangedFiles.scenarioFiles() }
        return options
    }

    /// Runs scenarios in a worker process, for the process that started it.
    private func serve(_ seed: RunSeed) async throws -> Int32 {
        StatusRequests.ignore()
        var options = try options()
        options.seed = seed
        try await ScenarioRun(options, cache: cache).serve(on: WorkerEntry.openChannel(), answers: WorkerEntry.openAnswers())
        return ExitStatus.success
    }

    private func runOnce(_ options: ScenarioOptions) async throws -> Int32 {
        let reports = makeReports()
        let progress = ScenarioProgress()
        // The mutex keeps results and status reports from being written at the same time.
        let turn = Mutex(())
        let run = ScenarioRun(options, cache: cache) { event in
            turn.withLock { _ in
                progress?.erase()
                reports.receive(event)
                progress?.receive(event)
            }
        }
        if request.isIsolated { run.program = try ScenarioProgram.make(seed: options.seed) }
        status.begin(run) { text in
            turn.withLock { _ in
                progress?.erase()
                StandardStreams.writeError(text)
            }
        }
        let ticks = progress.map { progress in Self.repeating { turn.withLock { _ in progress.tick() } } }
        defer { ticks?.cancel() }
        let summary = try await run.perform()
        lastFailures.update(with: summary)
        return finish(summary, reports)
    }

    /// Calls a closure several times per second until the returned timer is cancelled.
    private static func repeating(_ body: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now() + .milliseconds(200), repeating: .milliseconds(200))
        timer.setEventHandler(handler: body)
        timer.resume()
        return timer
    }

    private func makeReports() -> ReportSet {
        var style = ScenarioReportStyle()
        style.isColored = colors.isOn
        style.isVerbose = request.isVerbose
        style.command = request.options.command
        style.slowest = request.durations
        let requests = request.reports.contains { $0.path == nil } ? request.reports : [.init(.pretty)] + request.reports
        return ReportSet(requests, style: style) { text in
            do {
                try StandardStreams.write(Array(text.utf8))
                try StandardStreams.flush()
            } catch {
                throw NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
            }
        }
    }

    private func finish(_ summary: ScenarioSummary, _ reports: ReportSet) -> Int32 {
        var failures = reports.failures
        for coverage in request.coverage {
            switch coverage {
            case .lcov(let path): if let failure = LCOVFile(summary.coverage).write(to: path) { failures.append(failure) }
            case .table:
                try? StandardStreams.write(Array(DisplayText.escaped(summary.coverage.table, keepingLineBreaks: true).utf8))
            }
        }
        for failure in failures { StandardStreams.writeError("error: \(DisplayText.escaped(failure))\n") }
        if summary.foundCount == 0, summary.results.isEmpty { StandardStreams.writeError(helpForNone() + "\n") }
        if summary.foundCount > 0, summary.results.isEmpty, let help = SelectionHelp(request).text(tags: summary.foundTags) {
            StandardStreams.writeError("  help  \(DisplayText.escaped(help))\n")
        }
        let status = summary.exitStatus
        return status == ExitStatus.success && !failures.isEmpty ? ExitStatus.runnerFault : status
    }

    /// Returns help for a run that finds no scenarios.
    private func helpForNone() -> String {
        let paths = request.options.paths.map { "`\($0.path)`" }.joined(separator: ", ")
        let others = request.options.paths.flatMap { ScenarioFiles.othersInFolder($0.path) }
        let definition = "scenario(name, function(t) ... end)"
        var text = "  help  scenarios are in files NAME_scenario.lua and are defined by \(definition); looked in \(paths)"
        if !others.isEmpty {
            let names = others.prefix(3).joined(separator: ", ") + (others.count > 3 ? ", ..." : "")
            text += ", which has files with other names: \(names)"
        }
        return DisplayText.escaped(text)
    }

    // MARK: - Watching

    /// Runs again whenever a file changes, until Ctrl-C.
    private func watch() async throws -> Int32 {
        let watcher = try FileWatcher()
        while true {
            do {
                _ = try await runOnce(options())
            } catch let error as ScenarioUsageError {
                StandardStreams.writeError("error: \(error.description)\n")
            }
            guard !status.isInterrupted else { return ExitStatus.interrupted }
            StandardStreams.writeError(colors.dim("waiting for changes; press Ctrl-C to stop") + "\n")
            let changed = watcher.wait { status.isInterrupted }
            guard !changed.isEmpty else { return ExitStatus.interrupted }
            StandardStreams.writeError(
                colors.dim("changed: " + DisplayText.escaped(changed.prefix(5).joined(separator: ", "))) + "\n")
        }
    }
}
