/// XML as JUnit's reports have it, and as servers read it: a file is a suite, a scenario a case. Written at the end.
///
/// - SeeAlso: github.com/testmoapp/junitxml; the elements for what is flaky are those of Maven Surefire.
final class JUnitReport: ScenarioReport {
    private let style: ScenarioReportStyle
    private let write: (String) -> Void

    init(_ style: ScenarioReportStyle, _ write: @escaping (String) -> Void) {
        (self.style, self.write) = (style, write)
    }

    func receive(_ event: ScenarioEvent) {
        guard case .ended(let summary) = event else { return }
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
        let counts = counts(of: summary.results) + [("time", seconds(summary.duration))]
        lines.append("<testsuites" + attributes([("name", "perilune")] + counts) + ">")
        let suites = Dictionary(grouping: summary.results, by: \.scenario.file)
        for file in suites.keys.sorted() { lines += suite(file, suites[file]!, seed: summary.seed) }
        lines.append("</testsuites>")
        write(lines.joined(separator: "\n") + "\n")
    }

    private func suite(_ file: String, _ results: [ScenarioResult], seed: RunSeed) -> [String] {
        let time = results.reduce(Duration.zero) { $0 + $1.duration }
        let results = results.sorted {
            ($0.scenario.line, $0.scenario.id, $0.round ?? 0) < ($1.scenario.line, $1.scenario.id, $1.round ?? 0)
        }
        var lines = ["  <testsuite" + attributes([("name", file)] + counts(of: results) + [("time", seconds(time))]) + ">"]
        lines += ["    <properties>", "      <property" + attributes([("name", "seed"), ("value", seed.description)]) + "/>"]
        lines.append("    </properties>")
        for result in results { lines += testCase(result) }
        return lines + ["  </testsuite>"]
    }

    private func counts(of results: [ScenarioResult]) -> [(String, String)] {
        func count(_ outcomes: ScenarioOutcome...) -> String { "\(results.count { outcomes.contains($0.outcome) })" }
        return [
            ("tests", "\(results.count)"), ("failures", count(.failed, .timedOut)), ("errors", count(.errored)),
            ("skipped", count(.skipped, .interrupted, .notRun)),
        ]
    }

    private func testCase(_ result: ScenarioResult) -> [String] {
        let scenario = result.scenario
        let name = scenario.title + (result.round.map { " (round \($0))" } ?? "")
        let head = "    <testcase" + attributes([
            ("name", name), ("classname", scenario.file), ("file", scenario.file), ("line", "\(scenario.line)"),
            ("time", seconds(result.duration)),
        ])
        var lines = elements(of: result)
        let output = self.output(of: result)
        if !output.isEmpty { lines.append("      <system-out>" + escaped(output) + "</system-out>") }
        return lines.isEmpty ? [head + "/>"] : [head + ">"] + lines + ["    </testcase>"]
    }

    /// What has become of it; nothing if it has passed.
    private func elements(of result: ScenarioResult) -> [String] {
        let text = escaped((result.failures.flatMap(FailureText(style: ScenarioReportStyle()).lines) + [rerun(result)]).joined(separator: "\n"))
        let message = result.failures.first?.message ?? ""
        let about = attributes([("message", message), ("type", result.failures.first?.kind ?? result.outcome.rawValue)])
        switch result.outcome {
        case .passed where result.isFlaky: return ["      <flakyFailure\(about)>\(text)</flakyFailure>"]
        case .passed: return []
        case .skipped: return ["      <skipped" + attributes([("message", result.reason ?? "")]) + "/>"]
        case .notRun: return ["      <skipped" + attributes([("message", "not run: \(result.reason ?? "")")]) + "/>"]
        case .interrupted: return ["      <skipped" + attributes([("message", "stopped")]) + "/>"]
        case .failed, .timedOut: return ["      <failure\(about)>\(text)</failure>"]
        case .errored: return ["      <error\(about)>\(text)</error>"]
        }
    }

    private func rerun(_ result: ScenarioResult) -> String {
        "rerun: " + FailureText(style: style).rerun(result)
    }

    private func output(of result: ScenarioResult) -> String {
        var lines = result.steps.map { "step \($0.hasPassed ? "ok" : "not ok"): \($0.name)" }
        lines += result.notes.map { "note: \($0)" }
        if !result.output.isEmpty { lines.append(result.output) }
        return lines.joined(separator: "\n")
    }

    // MARK: - XML

    private func attributes(_ list: [(String, String)]) -> String {
        list.map { " \($0)=\"\(escaped($1, isAttribute: true))\"" }.joined()
    }

    private func seconds(_ duration: Duration) -> String {
        let thousandths = Int((duration / .milliseconds(1)).rounded())
        let rest = "\(1000 + thousandths % 1000)".dropFirst()
        return "\(thousandths / 1000).\(rest)"
    }

    private func escaped(_ text: String, isAttribute: Bool = false) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"" where isAttribute: result += "&quot;"
            case "\n", "\t": result += isAttribute ? "&#\(scalar.value);" : String(scalar)
            case "\r": result += "&#13;"
            // XML has no way to write the others.
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
