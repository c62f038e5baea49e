/// A readable report: failures with all details as they happen, and the counts at the end.
final class PrettyReport: ScenarioReport {
    private let style: ScenarioReportStyle
    private let write: (String) -> Void
    private var failures: FailureText { FailureText(style: style) }
    /// The errors that keep scenarios from running, such as an error in a migration, with the number of repetitions.
    private var errors: [String: Int] = [:]

    init(_ style: ScenarioReportStyle, _ write: @escaping (String) -> Void) {
        (self.style, self.write) = (style, write)
    }

    func receive(_ event: ScenarioEvent) {
        switch event {
        case .started(let information) where style.isVerbose:
            let workers = information.workers == 1 ? "1 worker" : "\(information.workers) workers"
            writeLines([
                style.dim(
                    "\(information.count) \(information.count == 1 ? "scenario" : "scenarios"), \(information.order.rawValue) order, seed \(information.seed), \(workers)"
                )
            ])
        case .scenarioEnded(let result): show(result)
        case .ended(let summary):
            for (error, count) in errors.sorted(by: { $0.key < $1.key }) where count > 0 {
                let scenarios = count == 1 ? "1 more scenario" : "\(count) more scenarios"
                writeLines([
                    style.strongRed("ERROR") + "  \(scenarios) could not be run, with the same error: \(FailureText.line(error))",
                    "",
                ])
            }
            let text = SummaryText(summary: summary, style: style)
            writeLines(text.failures + text.lines)
        default: break
        }
    }

    private func show(_ result: ScenarioResult) {
        switch result.outcome {
        case .passed where result.isFlaky:
            let notes = result.notes.flatMap { failures.block("note", $0) }
            let lines = [line(result, style.yellow)] + failures.lines(ofAttemptsBefore: result)
            writeLines(lines + notes + failures.kept(result) + [""])
        case .passed, .skipped, .interrupted, .notRun:
            let lines = style.isVerbose ? details(result) : failures.kept(result)
            let color = result.outcome == .passed ? style.green : style.yellow
            if style.isVerbose || !lines.isEmpty { writeLines([line(result, color)] + lines) }
        case .errored where isRepeated(result): break
        default: writeLines(failures.lines(of: result) + [""])
        }
    }

    /// Returns whether the same error kept an earlier scenario from running, and counts the repetition.
    private func isRepeated(_ result: ScenarioResult) -> Bool {
        guard !style.isVerbose, let error = result.commonError else { return false }
        let former = errors[error]
        errors[error] = former.map { $0 + 1 } ?? 0
        return former != nil
    }

    private func line(_ result: ScenarioResult, _ color: (String) -> String) -> String {
        let attempts = result.isFlaky ? ", attempt \(result.attempts)" : ""
        let reason = result.reason.map { "  \(FailureText.line($0))" } ?? ""
        let label = color(FailureText.label(result))
        let crashes = result.crashes.map { $0.trials.isEmpty ? "" : ", \($0.text)" } ?? ""
        let time = result.attempts == 0 ? "" : "   " + style.dim("(\(TimeText.text(result.duration))\(attempts)\(crashes))")
        return "\(label)  \(FailureText.line(result.scenario.place))  \(FailureText.line(result.scenario.title))\(reason)\(time)"
    }

    private func details(_ result: ScenarioResult) -> [String] {
        var lines = result.steps.map { step in
            "  \(step.hasPassed ? "step" : "STEP")      \(FailureText.line(step.name))\(step.duration.map { "   (\(TimeText.text($0)))" } ?? "")"
        }
        if let crashes = result.crashes { lines += failures.block("crashes", crashes.text) }
        lines += failures.block("output", result.output)
        for warning in result.warnings { lines += failures.block("warning", warning) }
        for note in result.notes { lines += failures.block("note", note) }
        for attachment in result.attachments { lines += failures.block("attached", "\(attachment.name): \(attachment.text)") }
        return lines + failures.kept(result)
    }

    private func writeLines(_ lines: [String]) {
        write(lines.joined(separator: "\n") + "\n")
    }
}
