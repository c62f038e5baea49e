/// A report with one character for each scenario, and the failures at the end.
final class DotsReport: ScenarioReport {
    private let style: ScenarioReportStyle
    private let write: (String) -> Void
    private var column = 0
    private static let width = 72

    init(_ style: ScenarioReportStyle, _ write: @escaping (String) -> Void) {
        (self.style, self.write) = (style, write)
    }

    func receive(_ event: ScenarioEvent) {
        switch event {
        case .scenarioEnded(let result): show(result)
        case .ended(let summary): finish(summary)
        default: break
        }
    }

    private func show(_ result: ScenarioResult) {
        let sign =
            switch result.outcome {
            case .passed: result.isFlaky ? style.yellow("~") : "."
            case .failed: style.red("F")
            case .timedOut: style.red("T")
            case .errored: style.red("E")
            case .skipped: style.yellow("s")
            case .interrupted: style.yellow("i")
            case .notRun: "-"
            }
        column = column % Self.width + 1
        write(sign + (column == Self.width ? "\n" : ""))
    }

    private func finish(_ summary: ScenarioSummary) {
        var lines: [String] = column > 0 && column < Self.width ? ["", ""] : [""]
        for result in summary.failures { lines += FailureText(style: style).lines(of: result) + [""] }
        lines += SummaryText(summary: summary, style: style).lines
        write(lines.joined(separator: "\n") + "\n")
    }
}
