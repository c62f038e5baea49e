/// A readable description of a result: the failed check with its place and data, and how to run the scenario again.
struct FailureText {
    let style: ScenarioReportStyle

    /// Returns the description of a result that is not a success.
    func lines(of result: ScenarioResult) -> [String] {
        let scenario = result.scenario
        let seeds = ["seed \(result.seed)"] + (scenario.seed.map { ["its own seed \(Self.line($0))"] } ?? [])
        let times = [TimeText.text(result.duration)] + seeds + (result.round.map { ["round \($0)"] } ?? [])
        let head =
            "\(style.strongRed(Self.label(result)))  \(style.bold(Self.line(scenario.place)))  \(Self.line(scenario.title))"
        var lines = [head + "   " + style.dim("(\(times.joined(separator: ", ")))")]
        lines += self.lines(ofAttemptsBefore: result)
        if !result.earlierAttempts.isEmpty {
            lines.append(attemptHead(result.attempts, of: result, result.outcome, result.duration, result.seed))
        }
        for failure in result.failures { lines += self.lines(of: failure) }
        if let crashes = result.crashes, !crashes.trials.isEmpty { lines += block("crashes", crashes.text) }
        lines += block("output", result.output)
        for warning in result.warnings { lines += block("warning", warning) }
        for note in result.notes { lines += block("note", note) }
        for attachment in result.attachments { lines += block("attached", "\(attachment.name): \(attachment.text)") }
        lines += kept(result)
        lines.append(labelled("rerun", rerun(result)))
        return lines
    }

    /// Returns the lines on the failures of earlier attempts; empty if there was only one attempt.
    func lines(ofAttemptsBefore result: ScenarioResult) -> [String] {
        result.earlierAttempts.enumerated().flatMap { index, attempt in
            [attemptHead(index + 1, of: result, attempt.outcome, attempt.duration, attempt.seed)]
                + attempt.failures.flatMap(lines)
                + block("output", attempt.output)
        }
    }

    private func attemptHead(
        _ number: Int, of result: ScenarioResult, _ outcome: ScenarioOutcome, _ duration: Duration, _ seed: RunSeed
    ) -> String {
        let text = "\(number) of \(result.attempts)   " + style.dim("(\(outcome.text), \(TimeText.text(duration)), seed \(seed))")
        return labelled("attempt", text)
    }

    /// Returns the path of the kept database, and how to open it.
    func kept(_ result: ScenarioResult) -> [String] {
        guard let database = result.database else { return [] }
        let command = "perilune query --database \(Self.quoted(database)) 'SELECT name FROM sqlite_schema'"
        return [labelled("database", database), labelled("look", command)]
    }

    /// Returns the command that runs a scenario again.
    func rerun(_ result: ScenarioResult) -> String {
        // A file that does not load has no scenarios with line numbers.
        let place =
            result.scenario.ordinal == nil && result.outcome == .errored ? result.scenario.file : result.scenario.uniquePlace
        return "\(style.command) \(Self.quoted(place)) --seed \(result.seed)" + (result.crashes.map(Self.crashOption) ?? "")
    }

    private static func crashOption(_ crashes: CrashSummary) -> String {
        switch crashes.trials.count {
        case 0: ""
        case 1: " --crash-at " + crashes.trials[0].numbers.map(String.init).joined(separator: ",")
        default: crashes.trials.contains { $0.numbers.count > 1 } ? " --crash-depth 2" : " --crash"
        }
    }

    static func label(_ result: ScenarioResult) -> String {
        switch result.outcome {
        case .passed: result.isFlaky ? "FLAKY" : "PASS"
        case .failed: "FAIL"
        case .skipped: "SKIP"
        case .timedOut: "TIMEOUT"
        case .errored: "ERROR"
        case .interrupted: "STOPPED"
        case .notRun: "NOT RUN"
        }
    }

    // MARK: - Failures

    /// Returns the description of a failure, without the parts that concern the whole result.
    func lines(of failure: ScenarioFailure) -> [String] {
        var lines: [String] = []
        let end = failure.file.map { file in Self.line(file) + (failure.line.map { ":\($0)" } ?? "") }
        let place = failure.frames.first.map(Self.line) ?? end
        if let step = failure.step {
            lines.append(labelled("step", "\(Self.line(step))\(place.map { "      " + style.cyan($0) } ?? "")"))
        } else if let place {
            lines.append(labelled("at", style.cyan(place)))
        }
        lines += failure.frames.dropFirst().map { indented(style.cyan(Self.line($0))) }
        if let expression = failure.expression {
            lines.append("  " + Self.plain(expression))
        } else if let source = failure.source {
            lines.append("  " + style.dim(Self.plain(source.trimmingBlanks)))
        }
        lines += Self.plain(failure.message).split(separator: "\n", omittingEmptySubsequences: false).map {
            "  " + style.red(String($0))
        }
        lines += failure.details.map(detail)
        if let statement = failure.statement { lines += self.lines(of: statement) }
        return lines
    }

    /// Returns a colored line of a comparison: `+ ` marks missing parts, `- ` unexpected ones.
    private func detail(_ text: String) -> String {
        let line = "    " + Self.plain(text)
        if text.hasPrefix("- ") { return style.red("  " + Self.plain(text)).withPrefix("  ") }
        if text.hasPrefix("+ ") { return style.green("  " + Self.plain(text)).withPrefix("  ") }
        return line
    }

    private func lines(of statement: StatementRecord) -> [String] {
        let place = statement.file.map { "\($0)\(statement.line.map { ":\($0)" } ?? "")   " } ?? ""
        var lines = block("last SQL", Self.shortened(statement.sql), head: style.cyan(Self.line(place)))
        let count = statement.rows == 1 ? "1 row" : "\(statement.rows) rows"
        let arguments = statement.arguments.isEmpty ? "" : Self.shortened(statement.arguments.joined(separator: ", ")) + "      "
        lines.append(indented((arguments.isEmpty ? "" : "args ") + arguments + count))
        lines += statement.plan.enumerated().map { index, line in
            indented((index == 0 ? "plan " : "     ") + Self.plain(line))
        }
        return lines
    }

    // MARK: - Laying out

    private static let margin = 10

    private func labelled(_ label: String, _ text: String) -> String {
        let blanks = String(repeating: " ", count: max(1, Self.margin - label.count))
        return "  " + style.dim(label) + blanks + text
    }

    private func indented(_ text: String) -> String {
        String(repeating: " ", count: Self.margin + 2) + text
    }

    /// Returns text of several lines with a label; an empty list for empty text.
    ///
    /// - Parameter head: The colored text before the first line.
    func block(_ label: String, _ text: String, head: String = "") -> [String] {
        var lines = Self.plain(text).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while lines.last == "" { lines.removeLast() }
        guard !lines.isEmpty else { return [] }
        if lines.count > 40 {
            let hidden = lines.count - 40
            lines = lines.prefix(20) + ["... \(hidden) lines omitted ..."] + lines.suffix(20)
        }
        return [labelled(label, head + lines[0])] + lines.dropFirst().map(indented)
    }

    /// Returns SQL text or bound values, shortened if they are long.
    private static func shortened(_ text: String) -> String {
        let text = plain(text)
        return text.count > 2000 ? text.prefix(2000) + "... (\(text.count) characters)" : text
    }

    /// Escapes control characters that could harm a terminal, but keeps line breaks and tabs.
    static func plain(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if isUnsafe(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    /// Returns text for one line: like `plain`, but with escaped line breaks and tabs.
    static func line(_ text: String) -> String {
        plain(text).replacing("\n", with: "\\n").replacing("\t", with: "\\t")
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Returns a path, quoted for a shell if necessary.
    private static func quoted(_ text: String) -> String {
        let plain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-:+@".contains($0)) }
        return plain ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        String(drop { $0 == " " || $0 == "\t" })
    }

    fileprivate func withPrefix(_ prefix: String) -> String { prefix + self }
}

/// Formatting of durations.
enum TimeText {
    /// Returns a duration such as `0.4 ms`, `12 ms` or `1.5 s`.
    static func text(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        if milliseconds >= 999.5 { return rounded(milliseconds / 1000, digits: milliseconds < 99_950 ? 1 : 0) + " s" }
        return rounded(milliseconds, digits: milliseconds < 9.95 ? 1 : 0) + " ms"
    }

    private static func rounded(_ value: Double, digits: Int) -> String {
        let tenths = Int((value * (digits == 0 ? 1 : 10)).rounded())
        return digits == 0 ? "\(tenths)" : "\(tenths / 10).\(tenths % 10)"
    }
}
