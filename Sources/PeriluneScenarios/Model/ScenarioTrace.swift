internal import PeriluneLua

/// A record of a scenario's execution for comparing rounds. It must be the same in each round with the same seed.
struct ScenarioTrace: Codable, Sendable {
    /// The lines that ran in each Lua state: the states of scripts first, the state of the scenario last.
    var lines: [LuaLineTrace] = []
    /// The statements with their places and values.
    var statements: [String] = []
    /// The printed text.
    var output = ""
    /// The outcome, and the messages of failures.
    var verdict: [String] = []

    /// The maximum number of lines that are recorded for a Lua state.
    static let mostLines = 200_000

    mutating func add(_ statements: [StatementRecord]) {
        self.statements = statements.map { statement in
            let place = statement.file.map { "\($0):\(statement.line ?? 0)  " } ?? ""
            let values = statement.arguments.isEmpty ? "" : "  (\(statement.arguments.joined(separator: ", ")))"
            return "\(place)\(statement.sql)\(values), \(statement.rows) \(statement.rows == 1 ? "row" : "rows")"
        }
    }

    /// Returns the first difference from the trace of another round, as readable lines; `nil` if the traces are equal.
    ///
    /// - Parameter rounds: The numbers of the other round and of this one.
    func parting(from other: ScenarioTrace, rounds: (other: Int, own: Int)) -> [String]? {
        partingOfLines(from: other, rounds)
            ?? Self.parting(of: "statement", other.statements, statements, rounds)
            ?? Self.parting(of: "line of output", Self.split(other.output), Self.split(output), rounds)
            ?? Self.parting(of: "failure", other.verdict, verdict, rounds)
    }

    private static func split(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private func partingOfLines(from other: ScenarioTrace, _ rounds: (other: Int, own: Int)) -> [String]? {
        for index in 0..<max(lines.count, other.lines.count) {
            guard index < lines.count, index < other.lines.count else {
                let extra = index < lines.count ? (rounds.own, lines[index]) : (rounds.other, other.lines[index])
                return ["only round \(extra.0) ran a script" + (extra.1.files.first.map { ": \($0)" } ?? "")]
            }
            if let lines = Self.parting(other.lines[index], lines[index], rounds) { return lines }
        }
        return nil
    }

    private static func parting(_ other: LuaLineTrace, _ own: LuaLineTrace, _ rounds: (other: Int, own: Int)) -> [String]? {
        guard other != own else { return nil }
        var index = 0
        while index < min(other.entries.count, own.entries.count), other.place(at: index) == own.place(at: index) { index += 1 }
        guard index < max(other.entries.count, own.entries.count) else {
            return other.count == own.count && other.hash == own.hash ? nil : ["they part after the first \(mostLines) lines"]
        }
        func place(_ trace: LuaLineTrace) -> String { index < trace.entries.count ? trace.place(at: index) : "the end" }
        let common = index == 0 ? "at the first line" : "after \(own.place(at: index - 1)), which was line \(index) of the run"
        return [
            "they part \(common)", "round \(rounds.other)  went to \(place(other))", "round \(rounds.own)  went to \(place(own))",
        ]
    }

    private static func parting(of what: String, _ other: [String], _ own: [String], _ rounds: (other: Int, own: Int))
        -> [String]?
    {
        guard other != own else { return nil }
        let index = zip(other, own).prefix { $0 == $1 }.count
        func text(_ list: [String]) -> String { index < list.count ? list[index] : "none" }
        return [
            "they part at \(what) \(index + 1)", "round \(rounds.other)  \(text(other))", "round \(rounds.own)  \(text(own))",
        ]
    }
}
