/// The events that reports receive, in this order.
@nonexhaustive
public enum ScenarioEvent: Sendable {
    /// The run begins.
    case started(ScenarioRunInformation)
    /// A scenario begins.
    case scenarioStarted(Scenario)
    /// A scenario has ended, or could not be run.
    case scenarioEnded(ScenarioResult)
    /// The run has ended, because all scenarios have ended or it was interrupted.
    case ended(ScenarioSummary)
}

/// The properties of a run that are known before it begins.
public struct ScenarioRunInformation: Sendable {
    /// The number of results to expect.
    public let count: Int
    /// The seed of the run.
    public let seed: RunSeed
    /// The number of scenarios that run at the same time.
    public let workers: Int
    /// The order in which scenarios run.
    public let order: ScenarioOptions.Order
}

/// The results of a run.
public struct ScenarioSummary: Sendable {
    /// The results, in the order in which the scenarios ended.
    public internal(set) var results: [ScenarioResult] = []
    /// The duration of the run.
    public internal(set) var duration = Duration.zero
    /// The seed of the run.
    public internal(set) var seed: RunSeed
    /// The scenarios that use `scenario.only`.
    public internal(set) var focused: [Scenario] = []
    /// Whether the run ended before all scenarios had run.
    public internal(set) var wasInterrupted = false
    /// The number of scenarios that were not started, because the maximum number of failures was reached or the run was interrupted.
    public var notRun: Int { count(.notRun) }
    /// Snapshots that no scenario compares. They are known only for files whose scenarios have all passed.
    public internal(set) var obsoleteSnapshots: [String] = []
    /// The obsolete snapshots that were removed.
    public internal(set) var removedSnapshots: [String] = []
    /// The number of scenarios that were found, selected or not.
    public internal(set) var foundCount = 0
    /// The tags of the scenarios that were found, selected or not.
    package internal(set) var foundTags: Set<String> = []
    /// The number of files that were not loaded because the selection excludes them.
    var unreadCount = 0
    /// The number of times that lines of Lua have run, by file.
    package internal(set) var coverage = LineCoverage()

    init(seed: RunSeed) {
        self.seed = seed
    }

    /// Returns the number of results with an outcome.
    public func count(_ outcome: ScenarioOutcome) -> Int { results.count { $0.outcome == outcome } }
    /// The results that passed after a failure.
    public var flaky: [ScenarioResult] { results.filter(\.isFlaky) }
    /// The results that did not pass.
    public var failures: [ScenarioResult] { results.filter { !$0.outcome.isSuccess && $0.outcome.isVerdict } }

    /// The exit status of the command.
    public var exitStatus: Int32 {
        if wasInterrupted { return 130 }
        if results.isEmpty { return 4 }
        let failures = failures
        if !failures.isEmpty { return failures.allSatisfy { $0.outcome == .timedOut } ? 5 : 1 }
        return focused.isEmpty ? 0 : 1
    }
}
