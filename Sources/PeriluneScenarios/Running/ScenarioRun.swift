internal import Foundation
package import PeriluneIsolation
internal import PeriluneBindings
internal import PeriluneLua
internal import Synchronization

/// A run of scenarios.
///
/// ```swift
/// let run = ScenarioRun(options) { event in report.receive(event) }
/// let summary = try await run.perform()
/// ```
public final class ScenarioRun: Sendable {
    let options: ScenarioOptions
    let chunks: ChunkCache
    let store: TemplateStore
    let coverage: CoverageCollector?
    let snapshots = SnapshotUses()
    /// The program that runs scenarios in separate processes; see ``serve(on:answers:)``. `nil` means that they run in this
    /// process.
    package var program: WorkerProcess.Program? {
        get { elsewhere.withLock { $0 } }
        set { elsewhere.withLock { $0 = newValue } }
    }
    private let elsewhere = Mutex<WorkerProcess.Program?>(nil)
    private let receive: @Sendable (ScenarioEvent) -> Void
    private let running = Mutex<RunningScenarios?>(nil)
    private let progress: Mutex<Progress>

    private struct Progress {
        var summary: ScenarioSummary
        var isInterrupted = false
        var isDone = false
        var failureCount = 0
        /// The trace of the first round, by scenario.
        var traces: [String: (round: Int, trace: ScenarioTrace)] = [:]
        /// Results that wait until the results of earlier jobs are reported, by job number. Used when reports follow the order of files.
        var early: [Int: ScenarioResult] = [:]
        var nextJob = 0
    }

    /// A cache that several runs in one process share, with templates and compiled files.
    package final class Cache: Sendable {
        let chunks = ChunkCache()
        let store = TemplateStore()

        /// Creates an empty cache.
        package init() {}
    }

    /// Creates a run.
    ///
    /// - Parameter options: The selection of scenarios, and how they run.
    /// - Parameter receive: Called with each event, never from two threads at once.
    public convenience init(_ options: ScenarioOptions, receive: @escaping @Sendable (ScenarioEvent) -> Void = { _ in }) {
        self.init(options, cache: Cache(), receive: receive)
    }

    /// - Parameter cache: Objects that earlier runs have made.
    package init(
        _ options: ScenarioOptions, cache: Cache, receive: @escaping @Sendable (ScenarioEvent) -> Void = { _ in }
    ) {
        self.options = options
        coverage = options.coversLines ? CoverageCollector() : nil
        // With coverage, templates are not shared, because their lines would be counted only in the first run.
        (chunks, store) = (cache.chunks, options.coversLines ? TemplateStore() : cache.store)
        self.receive = receive
        progress = Mutex(Progress(summary: ScenarioSummary(seed: options.seed)))
    }

    /// Finds the scenarios.
    ///
    /// - Throws: ``ScenarioUsageError`` if the options or the files of scenarios are wrong, or an extension cannot be loaded.
    package func selectScenarios() async throws -> SelectedScenarios {
        let (options, collector) = (options, ScenarioCollector(chunks: chunks, options: options))
        do {
            _ = try SQLiteExtensions(checking: options.extensions)
        } catch let error as ExtensionError {
            throw ScenarioUsageError(error.description)
        }
        return try await LargeStack.run { try SelectedScenarios(options, collector: collector) }
    }

    /// Finds the scenarios and runs them.
    ///
    /// - Throws: ``ScenarioUsageError``.
    public func perform() async throws -> ScenarioSummary {
        try await perform(selectScenarios())
    }

    /// Runs the selected scenarios.
    package func perform(_ selected: SelectedScenarios) async -> ScenarioSummary {
        let start = ContinuousClock.now
        let jobs = (1...max(1, options.rounds)).flatMap { round in selected.entries.map { (round, $0) } }
        let workers = max(1, min(options.workers, jobs.count))
        report(
            .started(
                ScenarioRunInformation(
                    count: jobs.count + selected.broken.count, seed: options.seed, workers: workers, order: options.order)))
        for result in selected.broken { take(result) }
        if options.isCI {
            for scenario in selected.focused { take(focusError(scenario)) }
        }
        let queue = ScenarioQueue(
            jobs.enumerated().map { ScenarioQueue.Job(number: $0, entry: $1.1, round: $1.0) })
        if !jobs.isEmpty { await work(queue, workers: workers) }
        leaveOut(queue.left)
        let projects = selected.projects
        let covered = try? await LargeStack.run { [coverage] in coverage?.finished(in: projects) }
        let summary = progress.withLock { progress in
            progress.isDone = true
            if let covered { progress.summary.coverage = covered }
            progress.summary.duration = ContinuousClock.now - start
            progress.summary.focused = selected.focused
            progress.summary.foundCount = selected.foundCount
            progress.summary.foundTags = selected.foundTags
            progress.summary.unreadCount = selected.unreadCount
            progress.summary.wasInterrupted = progress.isInterrupted
            tidySnapshots(selected, &progress.summary)
            return progress.summary
        }
        receive(.ended(summary))
        return summary
    }

    private func focusError(_ scenario: Scenario) -> ScenarioResult {
        var scenario = scenario
        scenario.name += " (only)"
        var result = ScenarioResult(scenario, .errored, seed: options.seed)
        let message = "scenario.only was left in; the other scenarios would not run"
        result.failures = [ScenarioFailure(message, kind: "only", file: scenario.file, line: scenario.line)]
        return result
    }

    /// Reports obsolete snapshots, and removes them if the options request it.
    private func tidySnapshots(_ selected: SelectedScenarios, _ summary: inout ScenarioSummary) {
        let obsolete = SnapshotFiles.obsolete(
            used: snapshots.paths, passed: selected.passedFiles(by: summary.results),
            under: selected.isWhole ? selected.folders : [])
        let isRemoving = options.removesObsoleteSnapshots && !options.isCI
        summary.obsoleteSnapshots = isRemoving ? SnapshotFiles.remove(obsolete) : obsolete
        summary.removedSnapshots = obsolete.filter { !summary.obsoleteSnapshots.contains($0) }
    }

    // MARK: - Running

    private func work(_ queue: ScenarioQueue, workers: Int) async {
        let databases = ScenarioDatabases(store: store, chunks: chunks, options: options, coverage: coverage)
        await withCheckedContinuation { continuation in
            let running = RunningScenarios(queue, seed: options.seed, workers: workers) { [self] job in
                report(.scenarioStarted(job.entry.scenario))
            } didEnd: { [self] result, job in
                didEnd(result, job)
            } didFinish: {
                continuation.resume()
            }
            let isInterrupted = progress.withLock { progress in
                self.running.withLock { $0 = running }
                return progress.isInterrupted
            }
            for _ in 0..<workers { startWorker(running, databases) }
            Supervisor(running, grace: options.grace, isIsolated: program != nil) { [self] in startWorker(running, databases) }
                .start()
            if isInterrupted { interrupt() }
        }
        running.withLock { $0 = nil }
    }

    private func startWorker(_ running: RunningScenarios, _ databases: ScenarioDatabases) {
        let worker = ScenarioWorker()
        var tools = ScenarioTools(
            databases: databases, chunks: chunks, options: options, snapshots: snapshots, coverage: coverage)
        tools.program = program
        Task { [tools] in await worker.work(running, with: tools) }
    }

    private func didEnd(_ result: ScenarioResult, _ job: ScenarioQueue.Job) {
        var result = result
        if options.comparesRounds {
            result.round = job.round
            compare(&result, round: job.round)
        }
        take(result, number: job.number)
        let isEnough = progress.withLock { progress in
            if !result.outcome.isSuccess, result.outcome.isVerdict { progress.failureCount += 1 }
            return options.bail.map { progress.failureCount >= $0 } ?? false
        }
        if isEnough { stop() }
    }

    /// Prevents further scenarios from starting.
    private func stop() {
        running.withLock { $0?.queue.close() }
    }

    /// Ends the run: cancels active scenarios, starts no others, and finishes the reports.
    public func interrupt() {
        let running = progress.withLock { progress in
            progress.isInterrupted = true
            return self.running.withLock { $0 }
        }
        running?.interrupt()
    }

    /// Reports the scenarios that were not started.
    private func leaveOut(_ jobs: [ScenarioQueue.Job]) {
        let isInterrupted = progress.withLock { $0.isInterrupted }
        let reason = isInterrupted ? "the run was interrupted" : "the maximum number of failures was reached"
        for job in jobs {
            var result = ScenarioResult(job.entry.scenario, .notRun, seed: options.seed)
            (result.reason, result.attempts) = (reason, 0)
            if options.rounds > 1 { result.round = job.round }
            take(result, number: job.number)
        }
    }

    /// Fails a scenario whose trace differs from an earlier round with the same seed.
    private func compare(_ result: inout ScenarioResult, round: Int) {
        defer { result.trace = nil }
        guard let trace = result.trace, result.outcome != .interrupted else { return }
        let first = progress.withLock { progress in
            let first = progress.traces[result.scenario.id]
            if first == nil { progress.traces[result.scenario.id] = (round, trace) }
            return first
        }
        guard let first, let details = trace.parting(from: first.trace, rounds: (first.round, round)) else { return }
        var failure = ScenarioFailure(
            "it took another path than in round \(first.round), with the same seed", kind: "diverged", file: result.scenario.file,
            line: result.scenario.line)
        failure.details = details
        result.add(failure)
    }

    /// The running scenarios and their durations, the oldest first.
    public var status: [(scenario: Scenario, duration: Duration)] {
        let tokens = running.withLock { $0?.tokens ?? [] }
        return tokens.map { ($0.job.entry.scenario, ContinuousClock.now - $0.start) }
    }

    // MARK: - Reporting

    /// Reports a result. If scenarios run in the order of files, results are reported in the order of their jobs.
    ///
    /// - Parameter number: The number of the job.
    private func take(_ result: ScenarioResult, number: Int? = nil) {
        progress.withLock { progress in
            guard !progress.isDone else { return }
            guard let number, options.order == .file else { return report(result, in: &progress) }
            progress.early[number] = result
            while let next = progress.early.removeValue(forKey: progress.nextJob) {
                progress.nextJob += 1
                report(next, in: &progress)
            }
        }
    }

    private func report(_ result: ScenarioResult, in progress: inout Progress) {
        progress.summary.results.append(result)
        receive(.scenarioEnded(result))
    }

    private func report(_ event: ScenarioEvent) {
        progress.withLock { _ in receive(event) }
    }
}
