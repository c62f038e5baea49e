/// The criteria that select the scenarios to run.
public struct ScenarioSelection: Sendable {
    /// A text, matched in any case of letters, or a regular expression.
    public enum Pattern: Sendable {
        /// Text that the identifier of the scenario contains.
        case text(String)
        /// A regular expression that matches a part of the name.
        case expression(String)

        /// Parses `/expression/` or plain text.
        ///
        /// - Throws: A description of the error if the expression is not valid.
        public init(_ text: String) throws {
            guard text.count > 2, text.hasPrefix("/"), text.hasSuffix("/") else {
                self = .text(text)
                return
            }
            let expression = String(text.dropFirst().dropLast())
            _ = try Regex(expression)
            self = .expression(expression)
        }

        func matches(_ scenario: Scenario) -> Bool {
            switch self {
            case .text(let text): scenario.id.lowercased().contains(text.lowercased())
            case .expression(let expression): Self.finds(expression, in: [scenario.id, scenario.title, scenario.name])
            }
        }

        /// Returns whether the expression matches one of the texts. The name is one of them, so that `^` and `$` can match its ends.
        private static func finds(_ expression: String, in texts: [String]) -> Bool {
            guard let regex = try? Regex(expression) else { return false }
            return texts.contains { (try? regex.firstMatch(in: $0)) ?? nil != nil }
        }
    }

    /// Patterns. If there are any, at least one of them must match.
    public var filters: [Pattern] = []
    /// Patterns that must not match.
    public var skips: [Pattern] = []
    /// Tags. If there are any, the scenario must have at least one of them.
    public var tags: [String] = []
    /// Tags that the scenario must not have.
    public var skippedTags: [String] = []
    /// The identifiers of the scenarios to run, such as the scenarios that failed last time; `nil` means all.
    public var identifiers: Set<String>?
    /// The files to run, relative to the current folder, such as the files that have changed; `nil` means all.
    public var files: Set<String>?

    /// Selects all scenarios.
    public init() {}

    func includes(_ scenario: Scenario) -> Bool {
        if let identifiers, !identifiers.contains(scenario.id) { return false }
        if let files, !files.contains(ScenarioLocation.pathFromCurrentFolder(scenario.file)) { return false }
        if !tags.isEmpty, Set(tags).isDisjoint(with: scenario.tags) { return false }
        if !skippedTags.isEmpty, !Set(skippedTags).isDisjoint(with: scenario.tags) { return false }
        if !filters.isEmpty, !filters.contains(where: { $0.matches(scenario) }) { return false }
        return !skips.contains { $0.matches(scenario) }
    }
}

/// A file or folder that contains scenarios.
public struct ScenarioPath: Sendable, Equatable {
    /// The path of a file or a folder.
    public var path: String
    /// The line of a scenario's definition, or a line inside the scenario.
    public var line: Int?
    /// The position, from 1, among several scenarios on the line, such as the cases of one definition.
    public var position: Int?

    /// Parses `PATH`, `PATH:LINE` or `PATH:LINE:POSITION`.
    public init(_ text: String) {
        var parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        var numbers: [Int] = []
        while numbers.count < 2, parts.count > 1, let number = Int(parts.last!), number > 0 {
            numbers.insert(number, at: 0)
            parts.removeLast()
        }
        path = parts.joined(separator: ":")
        line = numbers.first
        position = numbers.count > 1 ? numbers[1] : nil
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        if path.hasPrefix("./"), path.count > 2 { path.removeFirst(2) }
    }

    /// Rejects a line that cannot belong to a scenario: before the first one, or after the end of the file.
    ///
    /// - Throws: ``ScenarioUsageError``.
    func check(lineCount: Int, _ scenarios: [Scenario]) throws {
        let lines = scenarios.map(\.line)
        guard let line, let first = lines.min(), let last = lines.max() else { return }
        guard line < first || line > max(last, lineCount) else { return }
        throw ScenarioUsageError(
            line < first
                ? "no scenario is at \(path):\(line); the first one of the file is at line \(first)"
                : "no scenario is at \(path):\(line), behind the end of the file; its last scenario is at line \(last)")
    }

    /// Returns the scenarios on the line, or the nearest ones before it if the line has none.
    func select(_ scenarios: [Scenario]) -> [Scenario] {
        guard let line, let nearest = scenarios.map(\.line).filter({ $0 <= line }).max() else {
            return line == nil ? scenarios : []
        }
        return scenarios.filter { $0.line == nearest && (position == nil || ($0.positionAtLine ?? 1) == position) }
    }
}
