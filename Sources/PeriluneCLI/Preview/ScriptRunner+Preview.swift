internal import Foundation
internal import Perilune
internal import PeriluneLua

/// The implementation of `perilune run --preview`.
extension ScriptRunner {
    /// Runs the scripts on a copy of the database and writes a report of the changes.
    ///
    /// - Returns: The exit status.
    /// - Throws: ``CommandFailure``, after the report, if a script failed.
    func preview(_ request: PreviewRequest, _ scripts: [Script], _ texts: SourceTexts) async throws -> Int32 {
        if let path = request.planPath { try Self.savingPlan { try PreviewPlan.checkPath(path) } }
        let trace = makeTrace(), start = ContinuousClock.now
        let log = request.pagePath.map { _ in StatementLog() }
        let timeLimit = self.request.timeout.map { TimeLimit($0, help: self.request.help(onLimit: .timeout)) }
        let interruption = PreviewInterruption()
        let preview = try await openPreview(request, trace, log, interruption, within: timeLimit)
        // With JSON, standard output must contain only the report.
        let output = request.format == .json ? StandardStreams.redirectOutputToErrors() : nil
        let ending = await run(scripts, on: preview.host, texts, within: timeLimit)
        await trace?.writeSlowStatements(of: preview.host)
        if let output { StandardStreams.restoreOutput(output) }
        let duration = ContinuousClock.now - start
        let statements = await log?.records(on: preview.host) ?? []
        let (report, plan) = try await finish(preview, interruption, within: timeLimit)
        if let path = request.pagePath {
            let name = self.request.sources.last?.name ?? "the script"
            var page = PreviewPage(name: name, database: self.request.database, report: report, statements: statements)
            (page.failure, page.duration) = (ending.failure?.report, duration)
            try OutputFile.write(Array(page.text.utf8), to: path)
        }
        try write(report, request, isIncomplete: ending.failure != nil)
        if let failure = ending.failure { throw failure }
        if let path = request.planPath { try save(plan, of: scripts, report, to: path) }
        if ending.status != ExitStatus.success { return ending.status }
        return request.isChecking && report.hasChanges ? ExitStatus.pending : ExitStatus.success
    }

    /// Runs the scripts on a temporary copy of the database.
    func runOnCopy(_ scripts: [Script], _ texts: SourceTexts) async throws -> Int32 {
        let timeLimit = request.task == nil ? request.timeout.map { TimeLimit($0, help: request.help(onLimit: .timeout)) } : nil
        let preview = try await openPreview(PreviewRequest(), nil, nil, PreviewInterruption(), within: timeLimit)
        let ending = await run(scripts, on: preview.host, texts, within: timeLimit)
        if let failure = ending.failure { throw failure }
        return ending.status
    }

    private func openPreview(
        _ request: PreviewRequest, _ trace: TraceWriter?, _ log: StatementLog?, _ interruption: PreviewInterruption,
        within timeLimit: TimeLimit?
    ) async throws -> ScriptPreview {
        var options = ScriptPreview.Options()
        options.rowLimit = request.rowLimit
        options.allowsEffects = request.allowsEffects
        options.copyProgress = Self.showCopying(self.request.database)
        var statements = trace?.trace
        if let log {
            // Each statement goes to the trace and to the log of the page, which does not show values.
            statements = SQLTrace((statements?.events ?? []).union(.profile), showsValues: statements?.showsValues ?? false) {
                [statements] event in
                statements?.receive(event)
                log.take(event)
            }
        }
        let source = DatabaseSource.command(self.request.database, trace: statements)
        let configuration = makeConfiguration(trace)
        let opening = Task { [options, configuration] in
            let preview = try await ScriptPreview(of: source, configuration: configuration, options: options)
            await preview.host.listen(for: SIGUSR2)
            return preview
        }
        interruption.set { opening.cancel() }
        Interrupts.onFirst { interruption.interrupt() }
        do {
            let preview = try await TimeLimit.bounding(timeLimit) { try await opening.value }
            // Captures the host, not the preview, because the preview removes the copy when it is deallocated.
            interruption.set { [host = preview.host] in host.cancelRunOrNext() }
            return preview
        } catch let failure as CommandFailure {
            opening.cancel()
            throw failure
        } catch is CancellationError {
            throw CommandFailure(ErrorReport("interrupted", kind: "cancelled"))
        } catch {
            throw CommandFailure(ErrorReport(opening: self.request.database, error: error))
        }
    }

    /// Returns a closure that shows the progress of copying a database and removes the line at the end.
    static func showCopying(_ database: String?) -> (@Sendable (Double) -> Void)? {
        guard let database, let line = ProgressLine(delay: .seconds(1)) else { return nil }
        return { part in
            if part < 1 { line.show("copying \(database)", part: part) } else { line.erase() }
        }
    }

    /// Compares the databases, which may take long, until the time limit or Ctrl-C. If the script has used up its time limit, the
    /// comparison gets the same time again.
    private func finish(
        _ preview: ScriptPreview, _ interruption: PreviewInterruption, within timeLimit: TimeLimit?
    ) async throws -> (report: PreviewReport, plan: PreviewPlan?) {
        let limit = timeLimit.map { $0.hasPassed ? TimeLimit($0.duration, help: $0.help) : $0 }
        let finishing = Task { try await preview.finish() }
        interruption.begin { finishing.cancel() }
        do {
            return try await TimeLimit.bounding(limit) { try await finishing.value }
        } catch let failure as CommandFailure {
            finishing.cancel()
            throw failure
        } catch is CancellationError {
            throw CommandFailure(ErrorReport("interrupted", kind: "cancelled"))
        } catch {
            throw CommandFailure(ErrorReport("the changes cannot be shown: \(error)", kind: "host"))
        }
    }

    private func write(_ report: PreviewReport, _ request: PreviewRequest, isIncomplete: Bool) throws {
        switch request.format {
        case .json:
            var report = report
            if isIncomplete { report.warnings.append("the script failed; these are its changes until then") }
            try StandardStreams.write(Array(report.json().utf8))
        case .text:
            let colors = CommandOutput.outputColors(self.request.color)
            let formatter = PreviewFormatter(
                database: self.request.database, incompleteSubject: isIncomplete ? "Before it failed, the script" : nil,
                wantsPlan: request.planPath != nil, colors: colors, width: TerminalSize.outputColumns)
            try StandardStreams.write(formatter.format(report))
        }
        try StandardStreams.flush()
    }

    private func save(_ plan: PreviewPlan?, of scripts: [Script], _ report: PreviewReport, to path: String) throws {
        guard var plan else {
            var failure = ErrorReport("no plan was saved: " + report.obstacles.joined(separator: "; "), kind: "plan")
            failure.help =
                report.missingOwnTables.contains("perilune_job")
                ? "create them once, with `perilune run -e 'perilune.jobs(\"NAME\")'` on this database, and preview again"
                : "run the script itself, without --preview"
            throw CommandFailure(failure)
        }
        plan.scripts = scripts.map { PreviewPlan.Script(name: $0.name, bytes: $0.bytes) }
        try Self.savingPlan { [plan] in try plan.write(to: path) }
        CommandOutput.note("saved to \(path); use `perilune apply \(path)` to apply these changes", colors)
    }
}

extension ScriptRunner {
    fileprivate static func savingPlan(_ operation: () throws -> Void) throws {
        do {
            try operation()
        } catch let error as PlanError {
            throw CommandFailure(ErrorReport(error))
        }
    }
}

/// The action for Ctrl-C, which changes as the preview proceeds from copying to running to comparing.
private final class PreviewInterruption: Sendable {
    private let lock = NSLock()
    /// Guarded by `lock`.
    private nonisolated(unsafe) var action: (@Sendable () -> Void)?
    private nonisolated(unsafe) var isInterrupted = false

    func set(_ action: @escaping @Sendable () -> Void) {
        lock.withLock { self.action = action }
        if lock.withLock({ isInterrupted }) { action() }
    }

    /// Replaces the action and forgets an earlier interruption, so that the changes of an interrupted script are still reported.
    func begin(_ action: @escaping @Sendable () -> Void) {
        lock.withLock { (self.action, isInterrupted) = (action, false) }
    }

    func interrupt() {
        let action = lock.withLock {
            isInterrupted = true
            return self.action
        }
        action?()
    }
}

extension ErrorReport {
    /// Creates a report on a plan that cannot be read, written or applied.
    init(_ error: PlanError) {
        let kind =
            switch error.code {
            case .file: "io"
            case .format: "format"
            case .schema: "schema"
            default: "conflict"
            }
        self.init(error.message, kind: kind)
    }
}
