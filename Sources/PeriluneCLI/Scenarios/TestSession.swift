internal import Foundation
internal import PeriluneScenarios

/// Runs scenarios as the command was asked to.
struct TestSession {
    private let request: TestRequest
    private let colours: Colours
    private let cache = ScenarioRun.Cache()

    init(_ request: TestRequest, colours: Colours) {
        (self.request, self.colours) = (request, colours)
    }

    /// - Returns: The exit status.
    func run() async throws -> Int32 {
        do {
            if let listing = request.listing { return try await list(listing) }
            if let folder = request.typesFolder { return try await writeTypes(to: folder) }
            return try await runOnce()
        } catch let error as ScenarioUsageError {
            throw CommandFailure(ErrorReport(error.description, kind: "usage"))
        }
    }

    // MARK: - Listing

    private func list(_ listing: TestRequest.Listing) async throws -> Int32 {
        let plan = try await ScenarioRun(options(), cache: cache).plan()
        for scenario in plan.scenarios {
            let line = listing == .json ? scenario.json : "\(scenario.place)  \(DisplayText.escaped(scenario.title))"
            try StandardStreams.write(Array((line + "\n").utf8))
        }
        for failure in plan.failures {
            StandardStreams.writeError("error: \(failure.file ?? ""):\(failure.line ?? 1): \(failure.message)\n")
        }
        return plan.failures.isEmpty ? plan.scenarios.isEmpty ? ExitStatus.nothingMatched : 0 : ExitStatus.failure
    }

    private func writeTypes(to folder: String) async throws -> Int32 {
        let types = try await ScenarioRun(options(), cache: cache).types()
        for path in try types.write(to: folder) { StandardStreams.writeError("written: \(path)\n") }
        return 0
    }

    // MARK: - Running

    private func runOnce() async throws -> Int32 {
        let reports = makeReports()
        let run = ScenarioRun(try options(), cache: cache) { event in reports.receive(event) }
        Interrupts.onFirst { run.interrupt() }
        let summary = try await run.perform()
        return finish(summary, reports)
    }

    private func options() throws -> ScenarioOptions {
        request.options
    }

    private func makeReports() -> ReportSet {
        var style = ScenarioReportStyle()
        style.isColoured = colours.isOn
        style.isVerbose = request.isVerbose
        let requests = request.reports.contains { $0.path == nil } ? request.reports : [.init(.pretty)] + request.reports
        return ReportSet(requests, style: style) { text in
            try StandardStreams.write(Array(text.utf8))
            try StandardStreams.flush()
        }
    }

    private func finish(_ summary: ScenarioSummary, _ reports: ReportSet) -> Int32 {
        for failure in reports.failures { StandardStreams.writeError("error: \(failure)\n") }
        let status = summary.exitStatus
        return status == 0 && !reports.failures.isEmpty ? ExitStatus.runnerFault : status
    }
}
