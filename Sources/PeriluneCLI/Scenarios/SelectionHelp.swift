internal import PeriluneRecords

/// The help on options that select no scenario: tags that no scenario has, and expressions of other programs.
struct SelectionHelp {
    private let tags: [String]
    private let texts: [String]

    init(_ request: TestRequest) {
        tags = request.options.selection.tags
        texts = request.options.selection.filters.compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    /// Returns the help; `nil` if the options look right.
    ///
    /// - Parameter existing: The tags that scenarios have.
    func text(tags existing: Set<String>) -> String? {
        if let tag = tags.first(where: { !existing.contains($0) }) { return help(on: tag, existing.sorted()) }
        if let text = texts.first(where: { $0.contains("|") || $0.contains(".*") || $0.contains(" or ") }) {
            let expression = text.replacing(" or ", with: "|")
            return "a filter is plain text; --filter '/\(expression)/' is a regular expression"
        }
        return nil
    }

    private func help(on tag: String, _ existing: [String]) -> String {
        if tag.hasPrefix("!") || tag.contains(" ") && tag.contains(/\b(and|or|not)\b/) {
            return "a tag is a name, not an expression; use --tag a,b for one of several, and --skip-tag NAME to exclude one"
        }
        let problem = "no scenario has the tag `\(tag)`"
        if let nearest = nearestName(to: tag, among: existing) { return "\(problem); did you mean `\(nearest)`?" }
        if existing.isEmpty { return "\(problem); scenarios have tags by the option `tags`" }
        return "\(problem); tags: \(existing.prefix(10).joined(separator: ", "))\(existing.count > 10 ? ", ..." : "")"
    }
}
