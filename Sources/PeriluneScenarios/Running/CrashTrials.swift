internal import PeriluneLua

/// The runs of a scenario in which crashes are injected. They follow one run without crashes.
struct CrashTrials {
    private let performance: ScenarioPerformance
    private let number: Int
    private let seed: RunSeed
    private var summary = CrashSummary()
    /// The failures of the reported runs. If several runs have the same failures, only the first is reported.
    private var failures: [ScenarioFailure] = []
    private var reported: [[Int]] = []
    private var reportedMessages: Set<[String]> = []
    /// The crash points of the runs that repeated a call with the same arguments, by function.
    private var repetitions: [String: [[Int]]] = [:]

    private var scenario: Scenario { performance.scenario }
    private var options: ScenarioOptions { performance.options }

    /// The maximum number of failed runs that are reported in full.
    private static let mostReported = 3

    /// - Parameter number: The number of the attempt, from 1; retries after failures have higher numbers.
    init(_ performance: ScenarioPerformance, number: Int, seed: RunSeed) {
        (self.performance, self.number, self.seed) = (performance, number, seed)
    }

    nonisolated(nonsending) mutating func result() async -> ScenarioResult {
        let undisturbed = CrashPlan(endingAt: [])
        var result = await performance.attempt(number, seed, undisturbed)
        (summary.points, summary.count) = (undisturbed.points, undisturbed.count)
        result.crashes = summary
        guard let evidence = undisturbed.evidence, result.outcome == .passed else { return result }
        if undisturbed.count == 0 {
            result.add(noPoints())
            return result
        }
        let start = ContinuousClock.now
        if let interrupted = await perform(comparingWith: evidence) { return interrupted }
        result.duration += ContinuousClock.now - start
        for failure in failures { result.add(failure) }
        result.crashes = summary
        let others = summary.failed.filter { !reported.contains($0.numbers) }
        if !others.isEmpty { result.notes.append("also failed at the points \(Self.text(others.map(\.numbers)))") }
        for (function, points) in repetitions.sorted(by: { $0.key < $1.key }) {
            result.notes.append(
                "\(function) was repeated with the same arguments after crashes at the points \(Self.text(points)); "
                    + "once(), other counts and distinct_calls count the repetitions once")
        }
        return result
    }

    /// Returns the crash points of the first 20 runs as text.
    private static func text(_ runs: [[Int]]) -> String {
        let numbers = runs.prefix(20).map { $0.map(String.init).joined(separator: ",") }.joined(separator: " ")
        return runs.count > 20 ? numbers + " and others" : numbers
    }

    /// Performs the runs with crashes. Returns the result of a run that was interrupted, if any.
    nonisolated(nonsending) private mutating func perform(comparingWith evidence: CrashEvidence) async -> ScenarioResult? {
        var random = SeededNumbers(state: seed.seed(of: scenario.id))
        switch options.crashes {
        case .none: return nil
        case .at(let numbers): return await perform(numbers, comparingWith: evidence).interrupted
        case .all: break
        }
        var pairs: [[Int]] = []
        for number in random.sample(options.crashPoints, of: summary.count).map({ $0 + 1 }) {
            let (count, interrupted) = await perform([number], comparingWith: evidence)
            if let interrupted { return interrupted }
            if options.crashDepth > 1, count > number { pairs += (number + 1...count).map { [number, $0] } }
        }
        for index in random.sample(options.crashPoints, of: pairs.count) {
            if let interrupted = await perform(pairs[index], comparingWith: evidence).interrupted { return interrupted }
        }
        return nil
    }

    /// Performs a run that ends processes at the given points. Returns the number of points that the run reached, and its result if it was
    /// interrupted.
    nonisolated(nonsending) private mutating func perform(
        _ numbers: [Int], comparingWith evidence: CrashEvidence
    ) async -> (count: Int, interrupted: ScenarioResult?) {
        let plan = CrashPlan(endingAt: numbers)
        var trial = await performance.attempt(number, seed, plan)
        if trial.outcome == .interrupted { return (plan.count, trial) }
        if plan.crashes.count < numbers.count { trial.add(missing(plan)) }
        if let found = plan.evidence {
            for failure in found.failures(comparedWith: evidence, crashCount: plan.crashes.count) { trial.add(failure) }
            for function in found.repeatedFunctions(comparedWith: evidence) { repetitions[function, default: []].append(numbers) }
        }
        let hasPassed = trial.outcome == .passed
        summary.trials.append(.init(numbers: numbers, points: plan.crashes, hasPassed: hasPassed))
        if !hasPassed, reported.count < Self.mostReported, reportedMessages.insert(trial.failures.map(\.message)).inserted {
            reported.append(numbers)
            failures += trial.failures.map { described($0, plan, output: trial.output) }
        }
        return (plan.count, nil)
    }

    private func noPoints() -> ScenarioFailure {
        ScenarioFailure(
            "the option `crash` has no effect: no service of `t.service` and, with \"rerun\", no script of `t.run` has written or called anything",
            kind: "crash", file: scenario.file, line: scenario.line)
    }

    private func missing(_ plan: CrashPlan) -> ScenarioFailure {
        ScenarioFailure(
            "the run ended after \(plan.count) points", kind: "crash", file: scenario.file, line: scenario.line)
    }

    /// Adds the crash, the end of the printed text and the command that repeats the run to a failure.
    private func described(_ failure: ScenarioFailure, _ plan: CrashPlan, output: String) -> ScenarioFailure {
        var failure = failure
        let numbers = plan.chosen.map(String.init)
        let crash = ["crash at point \(numbers.joined(separator: " and ")) of \(summary.count)"] + plan.crashes.map(\.text)
        failure.message = "\(crash.joined(separator: ", ")): \(failure.message)"
        failure.details += output.split(separator: "\n").suffix(4).map { "output  \($0)" }
        failure.details.append(
            "rerun   \(options.command) \(scenario.uniquePlace) --seed \(seed) --crash-at \(numbers.joined(separator: ","))")
        if failure.file == nil { (failure.file, failure.line) = (scenario.file, scenario.line) }
        return failure
    }
}

/// A random number generator with a seed (splitmix64).
private struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns at most `size` different numbers below `count`, sorted.
    mutating func sample(_ size: Int, of count: Int) -> [Int] {
        guard count > size else { return Array(0..<count) }
        var chosen: Set<Int> = []
        while chosen.count < size { chosen.insert(Int.random(in: 0..<count, using: &self)) }
        return chosen.sorted()
    }
}
