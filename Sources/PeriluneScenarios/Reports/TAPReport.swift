internal import PeriluneRecords

/// A report in the Test Anything Protocol. Steps are subtests, which version 14 defines and readers of version 13 may ignore.
///
/// Programs that support only version 13, such as `prove` in Perl before 5.40, reject output that announces a later version, although they
/// could read the same lines. The output therefore announces version 13 unless 14 is requested.
///
/// - SeeAlso: testanything.org/tap-version-13-specification.html and testanything.org/tap-version-14-specification.html
final class TAPReport: ScenarioReport {
    private let write: (String) -> Void
    private var count = 0

    private let version: Int

    init(version: Int, _ write: @escaping (String) -> Void) {
        (self.version, self.write) = (version, write)
    }

    func receive(_ event: ScenarioEvent) {
        switch event {
        case .started: write("TAP version \(version)\n")
        case .scenarioEnded(let result): show(result)
        case .ended(let summary): finish(summary)
        default: break
        }
    }

    private func show(_ result: ScenarioResult) {
        count += 1
        var lines: [String] = []
        if !result.steps.isEmpty { lines += subtests(of: result) }
        let name = "\(result.scenario.place) \(result.scenario.title)" + (result.round.map { " (round \($0))" } ?? "")
        lines.append("\(isOK(result) ? "ok" : "not ok") \(count) - \(Self.escaped(name))\(directive(result))")
        lines += diagnosis(result)
        if let crashes = result.crashes { lines.append("# \(crashes.text)") }
        write(lines.joined(separator: "\n") + "\n")
    }

    /// Returns whether the scenario is a placeholder, or has failed as its option `fails` specifies. TAP reports such tests as `not ok` with the
    /// directive `TODO`, which is not a failure.
    private func isTodo(_ result: ScenarioResult) -> Bool {
        result.scenario.isTodo && result.outcome == .skipped || result.scenario.fails != nil && result.outcome == .passed
    }

    private func isOK(_ result: ScenarioResult) -> Bool {
        guard !isTodo(result) else { return false }
        return result.outcome.isSuccess || !result.outcome.isVerdict
    }

    private func directive(_ result: ScenarioResult) -> String {
        guard !isTodo(result) else {
            let reason = result.scenario.isTodo ? "" : result.reason ?? ""
            return (" # TODO " + Self.oneLine(reason)).trimmingEnd
        }
        let reason: String
        switch result.outcome {
        case .skipped: reason = result.reason ?? ""
        case .interrupted: reason = "stopped"
        case .notRun: reason = "not run: \(result.reason ?? "")"
        default: return ""
        }
        return (" # SKIP " + Self.oneLine(reason)).trimmingEnd
    }

    private func subtests(of result: ScenarioResult) -> [String] {
        var lines = ["# Subtest: \(Self.escaped(result.scenario.title))"]
        for (index, step) in result.steps.enumerated() {
            lines.append("    \(step.hasPassed ? "ok" : "not ok") \(index + 1) - \(Self.escaped(step.name))")
        }
        return lines + ["    1..\(result.steps.count)"]
    }

    /// Returns a YAML block with the details of a failure.
    private func diagnosis(_ result: ScenarioResult) -> [String] {
        guard !result.failures.isEmpty || result.isFlaky else { return [] }
        var lines = ["  ---", "  duration_ms: \(Int(result.duration / .milliseconds(1)))", "  seed: \"\(result.seed)\""]
        if result.isFlaky { lines.append("  flaky: true") }
        if let failure = result.failures.first {
            if let file = failure.file { lines.append("  file: \(JSONText.string(file).text)") }
            if let line = failure.line { lines.append("  line: \(line)") }
            if let kind = failure.kind { lines.append("  kind: \(JSONText.string(kind).text)") }
        }
        lines.append("  message: |")
        let text = FailureText(style: ScenarioReportStyle())
        let failures = text.lines(ofAttemptsBefore: result) + (result.isFlaky ? [] : result.failures.flatMap(text.lines))
        return lines + failures.flatMap(Self.blockLines) + ["  ..."]
    }

    /// Indents a text for a YAML block. The first line has the smallest indentation, because no line may have a smaller one.
    private static func blockLines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { index, line in
            (index == 0 ? "    " : "      ") + line
        }
    }

    private func finish(_ summary: ScenarioSummary) {
        var lines = ["1..\(count)" + (count == 0 ? " # SKIP no scenarios found" : "")]
        if summary.notRun > 0 { lines.append("# \(summary.notRun) not run") }
        if summary.wasInterrupted { lines.append("Bail out! interrupted") }
        for scenario in summary.focused { lines.append("# scenario.only was left in at \(scenario.place)") }
        write(lines.joined(separator: "\n") + "\n")
    }

    private static func oneLine(_ text: String) -> String {
        FailureText.line(text)
    }

    /// Returns a description with `#` escaped, because that character would begin a directive.
    private static func escaped(_ text: String) -> String {
        oneLine(text).replacing("\\", with: "\\\\").replacing("#", with: "\\#")
    }
}

extension String {
    fileprivate var trimmingEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
