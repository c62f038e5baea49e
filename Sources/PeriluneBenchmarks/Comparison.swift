import Foundation

/// A benchmark that alternates between Perilune and C for each measure, and prints a line per measure.
struct Comparison {
    let contestants: Contestants
    let workspace: Workspace
    let rounds: Int
    var problems = Problems()

    /// The results of one contestant over all rounds.
    private struct Tally {
        var samples: [Run.Sample] = []
        var outcomes: Set<String> = []
        var values: [String: Double] = [:]

        /// The minimum of the samples, which is the cost of the work; other processes on the machine account for any time above
        /// it.
        var processor: Double { samples.map(\.processor).min() ?? .nan }
        var wall: Double { samples.map(\.wall).min() ?? .nan }
        /// The processor time of the first repetition in each process, before the system has allocated memory for it.
        var cold: [Double] = []
        var share: Double { values["share"] ?? 1 }

        /// The ratio of the median to the minimum.
        var spread: Double { samples.map(\.processor).sorted()[samples.count / 2] / processor }

        mutating func add(_ run: Run) {
            samples += run.samples
            cold += run.samples.prefix(1).map(\.processor)
            outcomes.formUnion(run.outcomes)
            values.merge(run.values) { Swift.max($0, $1) }
        }
    }

    /// Results by measure name, then by contestant.
    private var results: [String: [String: Tally]] = [:]

    init(contestants: Contestants, workspace: Workspace, rounds: Int) {
        (self.contestants, self.workspace, self.rounds) = (contestants, workspace, rounds)
    }

    /// Runs all measures in each round, so that a busy period of the machine affects them equally.
    mutating func run(_ measures: [Measure]) {
        for round in 0..<rounds {
            FileHandle.standardError.write(Data("round \(round + 1) of \(rounds)\n".utf8))
            for measure in measures where workspace.has(measure.database) { run(measure, round: round) }
        }
    }

    private mutating func run(_ measure: Measure, round: Int) {
        for contestant in contestants.taking(part: measure) where round == 0 || contestant.runsInEveryRound {
            guard let run = attempt(measure, by: contestant) else { continue }
            results[measure.name, default: [:]][contestant.name, default: Tally()].add(run)
        }
    }

    private mutating func attempt(_ measure: Measure, by contestant: Contestant) -> Run? {
        if problems.hasFailed(contestant.name, measure.name) { return nil }
        let isBaseline = contestant.name == contestants.pair(for: measure).baseline.name
        let script = isBaseline ? measure.baselineScript : measure.script
        do {
            return try contestant.run(
                script, database: workspace.path(for: measure.database), environment: workspace.environment)
        } catch {
            problems.note(error, contestant: contestant.name, measure: measure.name)
            return nil
        }
    }

    private mutating func compareOutcomes(of measure: Measure) {
        let complete = results[measure.name, default: [:]].filter { $0.value.share == 1 }
        if Set(complete.values.flatMap(\.outcomes)).count > 1 {
            let outcomes = complete.map { "\($0.key): \($0.value.outcomes.sorted())" }.sorted()
            problems.note(
                .failed("they computed different things: \(outcomes.joined(separator: ", "))"),
                contestant: "all", measure: measure.name)
        }
    }

    // MARK: - Times

    /// Returns the seconds per row or call, or `nil` if they were not measured. C and Python do not have records: for a measure
    /// of records, they run the equivalent measure of rows.
    func seconds(_ shown: Measure.Shown, _ contestant: String) -> Double? {
        let all = Measure.all.joined()
        let isOurs = contestant == SpeedReport.ours
        for name in [shown.ours, shown.plain] {
            guard let measure = all.first(where: { $0.name == name }) else { continue }
            let key = isOurs ? contestants.pair(for: measure).ours.name : contestant
            guard let tally = results[name]?[key] else { continue }
            return tally.processor / (Double(measure.count) * tally.share)
        }
        return nil
    }

    // MARK: - Output

    /// Prints a line for each measure.
    mutating func report(_ measures: [Measure]) {
        guard let first = measures.first else { return }
        let baseline = first.baseline == .reference ? "C" : "by SQL"
        print(Self.line("", "Perilune", baseline, "ratio", "target", "wall", "cold", "peers: time (Perilune is × of it)"))
        for measure in measures {
            guard workspace.has(measure.database) else {
                print(measure.title.padded(to: 32) + "  skipped: Chinook is not here (set CHINOOK to its path)")
                continue
            }
            compareOutcomes(of: measure)
            report(measure, results[measure.name, default: [:]])
        }
        print("")
    }

    /// Reports how far C's medians are above its minimums: if they differ much, the results are unreliable.
    func reportBusyness() {
        let spreads = results.values.compactMap { $0["C"]?.spread }.sorted()
        guard !spreads.isEmpty else { return }
        print(
            String(
                format: "C's medians are %.2f to %.2f × its least times: %@.", spreads[0], spreads[spreads.count - 1],
                spreads[spreads.count / 2] > 1.15 ? "the figures are unsteady, run it again" : "the figures are steady"))
    }

    private static func line(
        _ title: String, _ ours: String, _ reference: String, _ ratio: String, _ target: String, _ wall: String,
        _ cold: String, _ rest: String
    ) -> String {
        let columns = [(ours, 10), (reference, 10), (ratio, 8), (target, 9), (wall, 6), (cold, 6)]
        return title.padded(to: 32) + columns.map { $0.paddedLeft(to: $1) }.joined() + "   " + rest
    }

    private func report(_ measure: Measure, _ tallies: [String: Tally]) {
        let pair = contestants.pair(for: measure)
        let ours = tallies[pair.ours.name], baseline = tallies[pair.baseline.name]
        print(
            Self.line(
                measure.title, perCall(ours, measure), perCall(baseline, measure),
                ratio(ours?.processor, baseline?.processor) + mark(measure, ours, baseline),
                targetText(measure), ratio(ours?.wall, baseline?.wall),
                ratio(ours?.cold.min(), baseline?.cold.min()), peers(measure, tallies, ours)))
        for (name, tally) in [("Perilune", ours), ("the other", baseline)] {
            guard let tally, let growth = tally.values["process_growth_kb"] else { continue }
            let peak = tally.values["lua_peak_kb"] ?? .nan, total = tally.values["process_peak_kb"] ?? .nan
            let mark = growth > Self.flatGrowthInKilobytes ? " ✗ not flat" : ""
            print(
                "    memory, \(name): Lua at most \(Int(peak)) kB; the process grew by \(Int(growth)) kB"
                    + " after 50,000 rows, to \(Int(total)) kB\(mark)")
        }
    }

    private func targetText(_ measure: Measure) -> String {
        switch measure.target {
        case nil: ""
        case .ratio(let most): "≤ \(most)"
        case .difference(let most): "≤ +\(most) µs"
        }
    }

    /// Returns a check mark if the target is met, and a cross if it is not.
    private func mark(_ measure: Measure, _ ours: Tally?, _ baseline: Tally?) -> String {
        guard let ours, let baseline else { return "" }
        switch measure.target {
        case nil: return ""
        case .ratio(let most): return ours.processor / baseline.processor > most ? "✗" : "✓"
        case .difference(let most):
            return (ours.processor - baseline.processor) * 1e6 / Double(measure.count) > most ? "✗" : "✓"
        }
    }

    /// The growth that still counts as flat, because the reuse of memory blocks of different sizes varies slightly.
    private static let flatGrowthInKilobytes = 1024.0

    private func peers(_ measure: Measure, _ tallies: [String: Tally], _ ours: Tally?) -> String {
        contestants.peers(for: measure).compactMap { peer in
            guard let tally = tallies[peer.name] else { return nil }
            let target = measure.peerTargets[peer.name]
            let comparison = ratio(ours?.processor, tally.processor / tally.share, target: target)
            let limit = target.map { ", ≤ \($0)" } ?? ""
            return "\(peer.name) \(perCall(tally, measure)) (\(comparison)\(limit))"
        }.joined(separator: "  ")
    }

    private func perCall(_ tally: Tally?, _ measure: Measure) -> String {
        guard let tally else { return "–" }
        return String(format: "%.3f µs", tally.processor * 1e6 / (Double(measure.count) * tally.share))
    }

    private func ratio(_ ours: Double?, _ other: Double?, target: Double? = nil) -> String {
        guard let ours, let other else { return "–" }
        let mark = target.map { ours / other > $0 ? "✗" : "✓" } ?? ""
        return String(format: "%.2f", ours / other) + mark
    }
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    func paddedLeft(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
