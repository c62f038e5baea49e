import Foundation

/// Counts the instructions of ours and of the baseline: what a busy machine does not change.
///
/// Each program runs twice, once doing the work and once only preparing it; the difference is what the work takes, collection of
/// garbage included.
struct InstructionMeasures {
    private let contestants: Contestants
    private let workspace: Workspace
    private let counter: Counter
    /// How much of the usual work is done: a program under Valgrind takes about fifty times as long.
    static let share = 0.1
    /// As many as `work.repetitions`.
    private static let repetitions = 3

    /// What counts.
    private enum Counter {
        case perf, valgrind

        /// Before the command. Both write to standard error.
        var command: [String] {
            switch self {
            case .perf: ["perf", "stat", "-x", ",", "-e", "instructions:u"]
            case .valgrind: ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
            }
        }

        /// The number in what was written.
        func count(in text: String) -> Double? {
            let lines = text.split(separator: "\n")
            switch self {
            case .perf: return lines.last { $0.contains("instructions:u") }.flatMap { Double($0.prefix { $0 != "," }) }
            case .valgrind: return lines.last { $0.contains("Collected : ") }.flatMap { Double($0.split(separator: " ").last ?? "") }
            }
        }
    }

    /// - Parameter programs: The folder of the built programs.
    /// - Throws: ``RunFailure`` where nothing counts instructions.
    init(scripts: String, programs: URL, workspace: Workspace) throws(RunFailure) {
        self.workspace = workspace
        if try Self.isUsable(.perf) { counter = .perf }
        else if try Self.isUsable(.valgrind) { counter = .valgrind }
        else { throw .missing("nothing counts instructions here: apt-get install valgrind") }
        contestants = Contestants(
            scripts: scripts, programs: counter == .perf ? programs : try Self.strip(programs, into: workspace.folder))
    }

    private static func isUsable(_ counter: Counter) throws(RunFailure) -> Bool {
        let output = try Run.capture(counter.command + ["true"], [:])
        return output.code == 0 && counter.count(in: output.errors) != nil
    }

    /// Copies programs without what debuggers read, at which Valgrind gives up.
    private static func strip(_ programs: URL, into folder: URL) throws(RunFailure) -> URL {
        for name in ["perilune", "PeriluneBenchmarks"] {
            let copy = folder.appendingPathComponent(name).path
            let stripped = try Run.capture(["strip", "--strip-debug", "-o", copy, programs.appendingPathComponent(name).path], [:])
            if stripped.code != 0 { throw .failed(stripped.errors.trimmed) }
        }
        return folder
    }

    /// Prints a line for each measure.
    func report(_ measures: [Measure]) {
        guard let first = measures.first else { return }
        let baseline = first.baseline == .reference ? "C" : "by SQL"
        print("".padded(to: 32) + ["Perilune", baseline, "ratio"].map { $0.paddedLeft(to: 10) }.joined())
        for measure in measures where workspace.has(measure.database) {
            let pair = contestants.pair(for: measure)
            do {
                let ours = try count(measure, measure.script, by: pair.ours)
                let other = try count(measure, measure.baselineScript, by: pair.baseline)
                let columns = [String(format: "%.0f", ours), String(format: "%.0f", other), String(format: "%.2f", ours / other)]
                print(measure.title.padded(to: 32) + columns.map { $0.paddedLeft(to: 10) }.joined())
            } catch {
                print(measure.title.padded(to: 32) + "  \(error)")
            }
        }
        print("")
    }

    /// The instructions of one row or call.
    private func count(_ measure: Measure, _ script: String, by contestant: Contestant) throws -> Double {
        let database = workspace.path(for: measure.database)
        var environment = workspace.environment.merging(["BENCHMARK_SHARE": "\(Self.share)"]) { $1 }
        func total() throws -> Double {
            let output = try Run.capture(counter.command + contestant.arguments(script, database: database), environment)
            guard output.code == 0, let count = counter.count(in: output.errors) else { throw RunFailure.failed(output.errors.trimmed) }
            return count
        }
        let all = try total()
        environment["BENCHMARK_SKIPS_WORK"] = "1"
        return try (all - total()) / (Double(Self.repetitions * measure.count) * Self.share)
    }
}
