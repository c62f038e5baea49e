import Testing

/// A strict parser for documents of the Test Anything Protocol.
///
/// - SeeAlso: testanything.org/tap-version-14-specification.html
struct TAPGrammar {
    struct Mistake: Error {
        let line: String
        let reason: String
    }

    private var lines: ArraySlice<Substring>
    private let indentation: String

    /// Throws an error if the text is not a valid document of the given version.
    static func check(_ text: String, version: Int) throws {
        guard text.hasSuffix("\n") else { throw Mistake(line: text, reason: "the last line has no end") }
        var lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popFirst().map(String.init) == "TAP version \(version)" else {
            throw Mistake(line: text, reason: "no version")
        }
        var document = TAPGrammar(lines: lines, indentation: "")
        try document.readBody(upTo: nil)
        guard document.lines.isEmpty else { throw Mistake(line: String(document.lines.first!), reason: "after the end") }
    }

    private mutating func fail(_ reason: String) -> Mistake { Mistake(line: String(lines.first ?? ""), reason: reason) }

    /// The next line without its indentation; `nil` at the end of the document.
    private var next: Substring? {
        guard let line = lines.first, line.hasPrefix(indentation) else { return nil }
        return line.dropFirst(indentation.count)
    }

    /// Reads test points and one plan. A subtest ends with the test point that it belongs to.
    private mutating func readBody(upTo name: String?) throws {
        var (count, plan, hasBailed) = (0, Int?.none, false)
        while let line = next {
            if line.hasPrefix("# Subtest: ") {
                let title = String(line.dropFirst("# Subtest: ".count))
                lines.removeFirst()
                var subtest = TAPGrammar(lines: lines, indentation: indentation + "    ")
                try subtest.readBody(upTo: title)
                lines = subtest.lines
                guard let point = next, point.contains(title) else {
                    throw fail("the subtest \(title) has no test point of its name")
                }
            } else if line.hasPrefix("#") {
                lines.removeFirst()
            } else if let match = line.wholeMatch(of: /1\.\.(\d+)(?: # .+)?/) {
                guard plan == nil else { throw fail("a second plan") }
                plan = Int(match.1)
                lines.removeFirst()
            } else if line.hasPrefix("Bail out!") {
                hasBailed = true
                lines.removeFirst()
            } else if let match = line.wholeMatch(of: /(?:not )?ok (\d+)((?: - .*)?)/) {
                count += 1
                guard Int(match.1) == count else { throw fail("expected the number \(count)") }
                try checkDirective(String(match.2))
                lines.removeFirst()
                try readDiagnosis()
            } else {
                throw fail("no line of TAP")
            }
        }
        guard plan == count || hasBailed else { throw fail("planned \(plan ?? -1), and there are \(count)") }
    }

    /// An unescaped `#` begins a directive at the end of a line. There are two directives.
    private func checkDirective(_ description: String) throws {
        let parts = description.replacing("\\\\", with: "").replacing("\\#", with: "").split(separator: " # ", maxSplits: 1)
        guard parts.count < 2 || parts[1].hasPrefix("SKIP") || parts[1].hasPrefix("TODO") else {
            throw Mistake(line: description, reason: "no directive")
        }
    }

    /// Reads a YAML block, indented by two.
    private mutating func readDiagnosis() throws {
        guard next == "  ---" else { return }
        lines.removeFirst()
        while let line = next {
            lines.removeFirst()
            if line == "  ..." { return }
            guard line.hasPrefix("  "), line.hasPrefix("    ") || line.dropFirst(2).wholeMatch(of: /\w+: .+/) != nil else {
                throw Mistake(line: String(line), reason: "no YAML")
            }
        }
        throw fail("the diagnosis has no end")
    }
}
