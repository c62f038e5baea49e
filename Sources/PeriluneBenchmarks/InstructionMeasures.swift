import Foundation

/// Counts of the instructions that our program and the baseline execute. Unlike times, they do not depend on the load of the
/// machine.
///
/// Each program runs twice: once with the work and once with only the setup. The difference is the cost of the work, including
/// garbage collection.
struct InstructionMeasures {
    private let contestants: Contestants
    private let workspace: Workspace
    private let counter: Counter
    /// The fraction of the usual work per repetition: a program runs about fifty times slower under Valgrind.
    static let share = 0.1
    /// The number of times that a script repeats its work. Equal to `work.repetitions` in the scripts.
    private static let repetitions = 3

    /// The program that counts instructions.
    private enum Counter {
        case perf, valgrind

        /// The command that precedes the measured one. Both programs write to standard error.
        var command: [String] {
            switch self {
            case .perf: ["perf", "stat", "-x", ",", "-e", "instructions:u"]
            case .valgrind: ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
            }
        }

        /// Returns the number of instructions that the output of the program reports.
        func count(in text: String) -> Double? {
            let lines = text.split(separator: "\n")
            switch self {
            case .perf: return lines.last { $0.contains("instructions:u") }.flatMap { Double($0.prefix { $0 != "," }) }
            case .valgrind:
                return lines.last { $0.contains("Collected : ") }.flatMap { Double($0.split(separator: " ").last ?? "") }
            }
        }
    }

    /// - Parameter programs: The folder of the built programs.
    /// - Throws: ``RunFailure`` if neither perf nor Valgrind is installed.
    init(scripts: String, programs: URL, workspace: Workspace) throws(RunFailure) {
        self.workspace = workspace
        if try Self.isUsable(.perf) {
            counter = .perf
        } else if try Self.isUsable(.valgrind) {
            counter = .valgrind
        } else {
            throw .missing("nothing counts instructions here: apt-get install valgrind")
        }
        contestants = Contestants(
            scripts: scripts, programs: counter == .perf ? programs : try Self.strip(programs, into: workspace.folder))
    }

    private static func isUsable(_ counter: Counter) throws(RunFailure) -> Bool {
        let output = try Run.capture(counter.command + ["true"], [:])
        return output.code == 0 && counter.count(in: output.errors) != nil
    }

    /// Copies the programs without debug information, which Valgrind cannot process.
    private static func strip(_ programs: URL, into folder: URL) throws(RunFailure) -> URL {
        for name in ["perilune", "PeriluneBenchmarks"] {
            let copy = folder.appendingPathComponent(name).path
            let stripped = try Run.capture(
                ["strip", "--strip-debug", "-o", copy, programs.appendingPathComponent(name).path], [:])
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

    /// Returns the number of instructions per row or call.
    private func count(_ measure: Measure, _ script: String, by contestant: Contestant) throws -> Double {
        let database = workspace.path(for: measure.database)
        var environment = workspace.environment.merging(["BENCHMARK_SHARE": "\(Self.share)"]) { $1 }
        func total() throws -> Double {
            let output = try Run.capture(counter.command + contestant.arguments(script, database: database), environment)
            guard output.code == 0, let count = counter.count(in: output.errors) else {
                throw RunFailure.failed(output.errors.trimmed)
            }
            return count
        }
        let all = try total()
        environment["BENCHMARK_SKIPS_WORK"] = "1"
        return try (all - total()) / (Double(Self.repetitions * measure.count) * Self.share)
    }
}
