internal import Foundation
internal import Perilune

/// A report as an HTML page: scenarios with their steps, expected and actual values, statements and changed rows.
final class HTMLReport: ScenarioReport {
    private let style: ScenarioReportStyle
    private let write: (String) -> Void

    init(_ style: ScenarioReportStyle, _ write: @escaping (String) -> Void) {
        (self.style, self.write) = (style, write)
    }

    func receive(_ event: ScenarioEvent) {
        guard case .ended(let summary) = event else { return }
        // Sort for readers, independently of the order in which scenarios ended.
        let results = summary.results.enumerated().sorted { first, second in
            let (a, b) = (first.element.scenario, second.element.scenario)
            return (a.file, a.line, first.offset) < (b.file, b.line, second.offset)
        }.map(\.element)
        var page = ReportPage(title: title(summary), summary: description(summary))
        page.kinds = Kind.allCases.map { kind in
            ReportPage.Kind(kind.rawValue, kind.rawValue, results.count { Kind($0) == kind })
        }.filter { $0.count > 0 }
        page.entries = results.map(entry)
        write(page.text)
    }

    private enum Kind: String, CaseIterable {
        case failed, flaky, skipped, passed

        init(_ result: ScenarioResult) {
            self =
                result.outcome == .passed ? (result.isFlaky ? .flaky : .passed) : result.outcome == .skipped ? .skipped : .failed
        }
    }

    private func title(_ summary: ScenarioSummary) -> String {
        let failed = summary.failures.count, count = summary.results.count
        if failed > 0 { return "\(failed) of \(count) scenario\(count == 1 ? "" : "s") failed" }
        return summary.wasInterrupted
            ? "The run was interrupted" : "\(summary.count(.passed)) scenario\(summary.count(.passed) == 1 ? "" : "s") passed"
    }

    private func description(_ summary: ScenarioSummary) -> String {
        let statements = summary.results.reduce(0) { $0 + $1.queryCount },
            checks = summary.results.reduce(0) { $0 + $1.checkCount }
        let counts = [(checks, "check"), (statements, "statement")].map { "\($0) \($1)\($0 == 1 ? "" : "s")" }
        return ([TimeText.text(summary.duration), "seed \(summary.seed)"] + counts).joined(separator: " · ")
    }

    // MARK: - Scenarios

    private func entry(_ result: ScenarioResult) -> ReportPage.Entry {
        let kind = Kind(result)
        return ReportPage.Entry(
            kind: kind.rawValue, mark: FailureText.label(result), title: result.scenario.title,
            details: [result.scenario.place, TimeText.text(result.duration)], isOpen: kind == .failed, body: body(result))
    }

    private func body(_ result: ScenarioResult) -> String {
        var text = result.reason.map { "<p>\(MarkupText.escaped($0))</p>\n" } ?? ""
        if !result.scenario.tags.isEmpty {
            text += "<p class=\"dim\">tags: \(MarkupText.escaped(result.scenario.tags.joined(separator: ", ")))</p>\n"
        }
        for (index, attempt) in result.earlierAttempts.enumerated() {
            text += ReportPage.section("attempt \(index + 1), \(attempt.outcome.text)", attempt.failures.map(failure).joined())
        }
        text += result.failures.map(failure).joined()
        text += ReportPage.section("steps", steps(result.steps))
        text += ReportPage.section("crash points", result.crashes.map(timeline) ?? "")
        text += ReportPage.section("changed rows", changes(result.changes))
        text += ReportPage.section("statements", ReportPage.statements(result.statements) + omitted(result))
        text += ReportPage.section("output", ReportPage.text(result.output))
        for attachment in result.attachments { text += ReportPage.section(attachment.name, ReportPage.text(attachment.text)) }
        text += ReportPage.section(
            "notes", (result.warnings + result.notes).map { "<p>\(MarkupText.escaped($0))</p>\n" }.joined())
        return text + ReportPage.section("run it again", ReportPage.text(FailureText(style: style).rerun(result)))
    }

    private func omitted(_ result: ScenarioResult) -> String {
        let count = result.queryCount - result.statements.count
        return count > 0 && !result.statements.isEmpty ? "<p class=\"dim\">and \(count) more</p>\n" : ""
    }

    private func steps(_ steps: [ScenarioStep]) -> String {
        guard !steps.isEmpty else { return "" }
        let items = steps.map { step in
            let time =
                step.duration.map { " <span class=\"dim\">\(TimeText.text($0))</span>" }
                ?? " <span class=\"dim\">not finished</span>"
            return
                "<li\(step.hasPassed ? "" : " class=\"bad\"")>\(MarkupText.escaped(step.name))\(step.hasPassed ? "" : " (failed)")\(time)</li>\n"
        }
        return "<ol class=\"steps\">\n\(items.joined())</ol>\n"
    }

    /// Returns the crash points of the undisturbed run in order, each with the outcome of the run that ended a process there.
    private func timeline(_ crashes: CrashSummary) -> String {
        let most = 500
        let outcomes = Dictionary(crashes.trials.filter { $0.numbers.count == 1 }.map { ($0.numbers[0], $0.hasPassed) }) {
            $0 && $1
        }
        let items = crashes.points.prefix(most).map { point in
            let (kind, outcome) =
                outcomes[point.number].map { $0 ? ("good", "passed") : ("bad", "failed") } ?? ("dim", "not tried")
            return """
                <li value="\(point.number)" class="\(kind)"><span class="dim">+\(Self.clockTime(point.time))</span> \(MarkupText.escaped(point.text)) \
                <span class="dim">\(outcome)</span></li>

                """
        }
        let more = crashes.count > items.count ? "<p class=\"dim\">and \(crashes.count - items.count) more</p>\n" : ""
        let pairs = crashes.failed.filter { $0.numbers.count > 1 }.prefix(20).map { trial in
            let numbers = trial.numbers.map(String.init).joined(separator: " and ")
            return
                "<p class=\"bad\">failed with crashes at \(numbers): \(MarkupText.escaped(trial.points.map(\.text).joined(separator: ", ")))</p>\n"
        }
        return "<p>\(MarkupText.escaped(crashes.text))</p>\n<ol class=\"timeline\">\n\(items.joined())</ol>\n" + more
            + pairs.joined()
    }

    /// Returns a time on the scenario's clock, such as `0 s`, `1.5 s` or `3 d 02:00:00`.
    private static func clockTime(_ duration: Duration) -> String {
        let seconds = Int(duration / .seconds(1))
        guard seconds >= 60 else { return TimeText.text(duration) }
        let parts = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return (seconds >= 86400 ? "\(seconds / 86400) d " : "") + parts.joined(separator: ":")
    }

    private func changes(_ tables: [TableChanges]) -> String {
        tables.map { table in
            let counts = [("+", table.inserted), ("~", table.updated), ("-", table.deleted)].filter { $0.1 > 0 }.map {
                "\($0.0)\($0.1)"
            }
            return "<p><b>\(MarkupText.escaped(table.name))</b> <span class=\"dim\">\(counts.joined(separator: " "))</span></p>\n"
                + ReportPage.changes(table)
        }.joined()
    }

    private func failure(_ failure: ScenarioFailure) -> String {
        let place = failure.place
        var text = "<div class=\"failure\">\n<div class=\"message\">\(MarkupText.escaped(failure.message))</div>\n"
        let head = [failure.step.map { "step \($0)" }, place].compactMap { $0 } + failure.frames.filter { $0 != place }
        text += "<div class=\"place\">\(MarkupText.escaped(head.joined(separator: " · ")))</div>\n"
        if let source = failure.expression ?? failure.source { text += ReportPage.text(source) }
        text += ReportPage.lines(failure.details)
        if let statement = failure.statement { text += ReportPage.section("last statement", ReportPage.statements([statement])) }
        return text + "</div>\n"
    }
}
