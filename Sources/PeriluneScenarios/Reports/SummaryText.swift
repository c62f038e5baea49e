/// A summary of a run in a few lines.
struct SummaryText {
    let summary: ScenarioSummary
    let style: ScenarioReportStyle

    var lines: [String] {
        var lines = [counts]
        if !summary.flaky.isEmpty { lines.append(style.yellow("\(summary.flaky.count) flaky")) }
        let slowest = summary.results.sorted { $0.duration > $1.duration }.prefix(style.slowest)
        if !slowest.isEmpty { lines.append("slowest") }
        lines += slowest.map {
            "  \(TimeText.text($0.duration))  \(FailureText.line($0.scenario.place))  \(FailureText.line($0.scenario.title))"
        }
        let slow = summary.results.filter { $0.duration >= style.slow }.sorted { $0.duration > $1.duration }
        if !slow.isEmpty {
            lines.append(style.yellow("\(slow.count) slow"))
            lines += Self.shortened(
                slow.map {
                    "  \(TimeText.text($0.duration))  \(FailureText.line($0.scenario.place))  \(FailureText.line($0.scenario.title))"
                })
        }
        let stateless = summary.results.filter { !$0.warnings.isEmpty }
            .sorted { ($0.scenario.file, $0.scenario.line) < ($1.scenario.file, $1.scenario.line) }
        if !stateless.isEmpty {
            lines.append(style.yellow("\(stateless.count) without a check"))
            lines += Self.shortened(
                stateless.map { "  \(FailureText.line($0.scenario.place))  \(FailureText.line($0.scenario.title))" })
        }
        lines += Self.list(summary.obsoleteSnapshots, "obsolete snapshots (use --remove-obsolete-snapshots to delete them)").map(
            style.yellow)
        lines += Self.list(summary.removedSnapshots, "obsolete snapshots removed")
        for scenario in summary.focused {
            lines.append(style.red("scenario.only was left in at \(scenario.place), so the run fails"))
        }
        if summary.notRun > 0 { lines.append("\(summary.notRun) not run") }
        if summary.wasInterrupted { lines.append(style.red("interrupted")) }
        return lines
    }

    /// The failures, one per line, if there are several, because their full descriptions may have scrolled away. Scenarios that the same
    /// error kept from running share a line.
    var failures: [String] {
        let failures = summary.failures
        guard failures.count > 1 else { return [] }
        var shared: [String: Int] = [:]
        let listed = failures.filter { result in
            guard let error = result.commonError else { return true }
            shared[error, default: 0] += 1
            return shared[error] == 1
        }
        let lines = listed.prefix(Self.mostFailures).map { result in
            var message = result.failures.first.map { "   " + style.dim(Self.shortened($0.message)) } ?? ""
            if let error = result.commonError, let count = shared[error], count > 1 { message += "   and \(count - 1) more" }
            return
                "  \(style.red(FailureText.label(result)))  \(FailureText.line(result.scenario.place))  \(FailureText.line(result.scenario.title))\(message)"
        }
        let more = listed.count > Self.mostFailures ? ["  ... and \(listed.count - Self.mostFailures) more"] : []
        return ["\(failures.count) failures"] + lines + more + [""]
    }

    private static let mostFailures = 50

    /// Returns the first lines of a list, and a line with the number of the others.
    private static func shortened(_ lines: [String]) -> [String] {
        let most = 5
        return lines.count > most ? lines.prefix(most) + ["  ... and \(lines.count - most) more"] : lines
    }

    private static func shortened(_ message: String) -> String {
        let line = FailureText.line(String(message.prefix { $0 != "\n" }))
        return line.count > 80 ? line.prefix(80) + "..." : line
    }

    private static func list(_ paths: [String], _ what: String) -> [String] {
        guard !paths.isEmpty else { return [] }
        let more = paths.count > 10 ? ["  ... and \(paths.count - 10) more"] : []
        return ["\(paths.count) \(what)"] + paths.prefix(10).map { "  " + FailureText.line($0) } + more
    }

    /// The counts as text, such as `41 passed, 1 failed, 2 skipped`.
    private var counts: String {
        guard !summary.results.isEmpty || summary.wasInterrupted else {
            return style.red(SelectedScenarios.explanationOfNone(found: summary.foundCount, unread: summary.unreadCount))
        }
        let parts: [(ScenarioOutcome, String, Bool)] = [
            (.passed, "passed", true), (.failed, "failed", true), (.timedOut, "timed out", false),
            (.errored, "errored", false), (.skipped, "skipped", true), (.interrupted, "stopped", false),
        ]
        let texts = parts.compactMap { outcome, name, isAlways -> String? in
            let count = summary.count(outcome)
            guard isAlways || count > 0 else { return nil }
            let text = "\(count) \(name)"
            if count == 0 { return text }
            return outcome == .passed ? style.green(text) : outcome == .skipped ? style.yellow(text) : style.red(text)
        }
        return texts.joined(separator: ", ")
    }
}
