/// The events that reports receive, in this order.
@nonexhaustive
public enum ScenarioEvent: Sendable {
    /// The run begins.
    case started(ScenarioRunInformation)
    /// A scenario begins.
    case scenarioStarted(Scenario)
    /// A scenario has ended, or could not be run.
    case scenarioEnded(ScenarioResult)
    /// All have ended, or the run was ended.
    case ended(ScenarioSummary)
}

/// Facts about a run that are known before it begins.
public struct ScenarioRunInformation: Sendable {
    /// How many results there will be.
    public let count: Int
    /// The seed of the run.
    public let seed: RunSeed
    /// How many scenarios run at once.
    public let workers: Int
    /// The order in which they run.
    public let order: ScenarioOptions.Order
}

/// The results of a run.
public struct ScenarioSummary: Sendable {
    /// The results, in the order in which the scenarios ended.
    public internal(set) var results: [ScenarioResult] = []
    /// How long the run took.
    public internal(set) var duration = Duration.zero
    /// The seed of the run.
    public internal(set) var seed: RunSeed
    /// The scenarios that still use `scenario.only`.
    public internal(set) var focused: [Scenario] = []
    /// Whether the run was ended before all scenarios had run.
    public internal(set) var wasInterrupted = false
    /// How many were not begun: after the last failure that was allowed, or after Ctrl-C.
    public var notRun: Int { count(.notRun) }
    /// Snapshots that no scenario compares any more: known of files of which all scenarios have passed.
    public internal(set) var obsoleteSnapshots: [String] = []
    /// The removed ones among them.
    public internal(set) var removedSnapshots: [String] = []
    /// The number of scenarios that were found, selected or not.
    public internal(set) var foundCount = 0
    /// How many files were not loaded, because the selection excludes them.
    var unreadCount = 0
    /// How many lines of Lua have run how often, by file.
    package internal(set) var coverage = LineCoverage()

    init(seed: RunSeed) {
        self.seed = seed
    }

    /// Counts the results with an outcome.
    public func count(_ outcome: ScenarioOutcome) -> Int { results.count { $0.outcome == outcome } }
    /// The results that passed after a failure.
    public var flaky: [ScenarioResult] { results.filter(\.isFlaky) }
    /// The results that did not pass.
    public var failures: [ScenarioResult] { results.filter { !$0.outcome.isSuccess && $0.outcome.isVerdict } }

    /// How the command ends.
    public var exitStatus: Int32 {
        if wasInterrupted { return 130 }
        if results.isEmpty { return 4 }
        let failures = failures
        if !failures.isEmpty { return failures.allSatisfy { $0.outcome == .timedOut } ? 5 : 1 }
        return focused.isEmpty ? 0 : 1
    }
}
