internal import Perilune
internal import PeriluneScenarios

/// A web page of automation runs.
struct AutomationPage {
    /// The runs, newest first.
    let runs: [AutomationRun]
    let database: String

    private static let outcomes: [AutomationOutcome] = [
        .failed, .interrupted, .diverged, .cancelled, .running, .waiting, .queued, .skipped, .succeeded, .unknown,
    ]

    var text: String {
        let counts = Self.outcomes.compactMap { outcome in
            let count = runs.count { $0.outcome == outcome }
            return count > 0 ? (outcome: outcome, count: count) : nil
        }
        var page = ReportPage(
            title: "Automations of \(database)",
            summary: runs.isEmpty
                ? "no runs" : "\(runs.count) runs: " + counts.map { "\($0.count) \($0.outcome)" }.joined(separator: ", "))
        page.kinds = counts.map { ReportPage.Kind($0.outcome.rawValue, $0.outcome.rawValue, $0.count) }
        page.entries = runs.map(entry)
        return page.text
    }

    private func entry(_ run: AutomationRun) -> ReportPage.Entry {
        var details = [run.row.started_at]
        if let duration = run.duration { details.append(TimeText.text(duration)) }
        if let next = run.row.wakes_at { details.append("continues at \(next)") }
        if run.attempts > 1 { details.append("\(run.attempts) attempts") }
        if let reason = run.reason { details.append(reason) }
        let sections = [
            ReportPage.section("error", ReportPage.text(run.error ?? "")),
            ReportPage.section("traceback", ReportPage.text(run.traceback ?? "")),
            ReportPage.section("output", ReportPage.text(run.output ?? "")),
            ReportPage.section("trigger", ReportPage.text(run.row.trigger)),
            ReportPage.section("statements", ReportPage.text(run.statements.joined(separator: "\n"))),
        ]
        return ReportPage.Entry(
            kind: run.outcome.rawValue, mark: run.row.outcome.uppercased(), title: run.automation, details: details,
            isOpen: run.error != nil,
            body: sections.joined())
    }
}
