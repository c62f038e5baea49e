internal import Foundation

/// A report in JUnit's XML format, written at the end of the run: each file is a suite, each scenario a test case.
///
/// The output conforms to the common schemas, which are strict: Ant's (github.com/windyroad/JUnit-Schema) and Jenkins's (`junit-10.xsd` of
/// its xUnit plugin). An extended report adds details that servers read although the schemas do not allow them: `file`, `line` and
/// `system-out`, and attempts in the format of Maven Surefire.
final class JUnitReport: ScenarioReport {
    private let style: ScenarioReportStyle
    private let isExtended: Bool
    private let write: (String) -> Void
    private var start = Date.now

    init(_ style: ScenarioReportStyle, isExtended: Bool, _ write: @escaping (String) -> Void) {
        (self.style, self.isExtended, self.write) = (style, isExtended, write)
    }

    func receive(_ event: ScenarioEvent) {
        switch event {
        case .started: start = .now
        case .ended(let summary): show(summary)
        default: break
        }
    }

    private func show(_ summary: ScenarioSummary) {
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
        let counts = [("name", "perilune")] + counts(of: summary.results) + [("time", seconds(summary.duration))]
        lines.append("<testsuites" + (isExtended ? attributes(counts) : "") + ">")
        let suites = Dictionary(grouping: summary.results, by: \.scenario.file)
        for (number, file) in suites.keys.sorted().enumerated() {
            lines += suite(file, number, suites[file]!, seed: summary.seed)
        }
        lines.append("</testsuites>")
        write(lines.joined(separator: "\n") + "\n")
    }

    private func suite(_ file: String, _ number: Int, _ results: [ScenarioResult], seed: RunSeed) -> [String] {
        let time = results.reduce(Duration.zero) { $0 + $1.duration }
        let results = results.sorted {
            let (first, second) = ($0.scenario, $1.scenario)
            return first.id == second.id && first.line == second.line ? ($0.round ?? 0) < ($1.round ?? 0) : first.isBefore(second)
        }
        let folder = ScenarioLocation.folder(of: file)
        let about = [
            ("name", file), ("package", folder.isEmpty ? "." : folder), ("id", "\(number)"), ("timestamp", timestamp),
            ("hostname", Self.hostName),
        ]
        var lines = ["  <testsuite" + attributes(about + counts(of: results) + [("time", seconds(time))]) + ">"]
        lines += ["    <properties>", "      <property" + attributes([("name", "seed"), ("value", seed.description)]) + "/>"]
        lines.append("    </properties>")
        for result in results { lines += testCase(result) }
        if !isExtended {
            let outputs = results.compactMap { result in
                let output = output(of: result)
                return output.isEmpty ? nil : "\(result.scenario.place) \(result.scenario.title)\n\(output)"
            }
            lines += ["    <system-out>" + escaped(outputs.joined(separator: "\n")) + "</system-out>", "    <system-err/>"]
        }
        return lines + ["  </testsuite>"]
    }

    /// The start of the run in UTC, because the schemas allow no time zone.
    private var timestamp: String {
        start.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: false))
    }

    private static let hostName: String = {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0, bytes[0] != 0 else { return "localhost" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

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
        let place = isExtended ? [("file", scenario.file), ("line", "\(scenario.line)")] : []
        let about = [("name", name), ("classname", scenario.file)] + place + [("time", seconds(result.duration))]
        let head = "    <testcase" + attributes(about)
        var lines = elements(of: result)
        if isExtended {
            lines += result.earlierAttempts.map { attempt in element(result.isFlaky ? "flakyFailure" : "rerunFailure", attempt) }
            let output = output(of: result)
            if !output.isEmpty { lines.append("      <system-out>" + escaped(output) + "</system-out>") }
        }
        return lines.isEmpty ? [head + "/>"] : [head + ">"] + lines + ["    </testcase>"]
    }

    /// Returns the XML elements for the outcome; an empty list if the scenario passed.
    private func elements(of result: ScenarioResult) -> [String] {
        switch result.outcome {
        case .passed: return []
        case .skipped: return ["      <skipped" + attributes([("message", result.reason ?? "")]) + "/>"]
        case .notRun: return ["      <skipped" + attributes([("message", "not run: \(result.reason ?? "")")]) + "/>"]
        case .interrupted: return ["      <skipped" + attributes([("message", "stopped")]) + "/>"]
        case .failed, .timedOut, .errored:
            let last = ScenarioAttemptResult(result)
            return [element(result.outcome == .errored ? "error" : "failure", last, [rerun(result)])]
        }
    }

    /// Returns an element that describes how an attempt failed.
    private func element(_ name: String, _ attempt: ScenarioAttemptResult, _ more: [String] = []) -> String {
        let lines = attempt.failures.flatMap(FailureText(style: ScenarioReportStyle()).lines) + more
        let first = attempt.failures.first
        let about = attributes([("message", first?.message ?? ""), ("type", first?.kind ?? attempt.outcome.rawValue)])
        return "      <\(name)\(about)>\(escaped(lines.joined(separator: "\n")))</\(name)>"
    }

    private func rerun(_ result: ScenarioResult) -> String {
        "rerun: " + FailureText(style: style).rerun(result)
    }

    private func output(of result: ScenarioResult) -> String {
        var lines = result.steps.map { "step \($0.hasPassed ? "ok" : "not ok"): \($0.name)" }
        lines += result.warnings.map { "warning: \($0)" }
        if let crashes = result.crashes { lines.append("crashes: \(crashes.text)") }
        lines += result.notes.map { "note: \($0)" }
        lines += result.attachments.map { "attachment \($0.name):\n\($0.text)" }
        if !isExtended { lines += FailureText(style: ScenarioReportStyle()).lines(ofAttemptsBefore: result) }
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
            // XML cannot represent these characters.
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
