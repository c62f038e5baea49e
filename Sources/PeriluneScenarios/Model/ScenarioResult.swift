public import Perilune

/// The result of a scenario.
public struct ScenarioResult: Codable, Sendable {
    /// The scenario.
    public let scenario: Scenario
    /// The outcome of the scenario.
    public var outcome: ScenarioOutcome
    /// The reason why the scenario was skipped, or was expected to fail.
    public var reason: String?
    /// Whether the scenario passed only after a failure.
    public var isFlaky = false
    /// The number of attempts.
    public var attempts = 1
    /// The attempts before the last one, all of which failed.
    public var earlierAttempts: [ScenarioAttemptResult] = []
    /// The duration of the last attempt.
    public var duration = Duration.zero
    /// The seed of the run, with which it can be repeated.
    public var seed: RunSeed
    /// The failures, in order.
    public var failures: [ScenarioFailure] = []
    /// The steps that ran, in order.
    public var steps: [ScenarioStep] = []
    /// The notes from `t.note`.
    public var notes: [String] = []
    /// Reasons to doubt the outcome, such as an assertion that checked no rows.
    public var warnings: [String] = []
    /// The number of checks: calls of `check`, matchers and `expect_error`, and counts of stubs and queries.
    public internal(set) var checkCount = 0
    /// Whether the scenario failed in a way other than its option `fails` specifies.
    var failsOtherwise = false
    /// The values from `t.attach`.
    public var attachments: [ScenarioAttachment] = []
    /// The printed text, shortened if it is long.
    public var output = ""
    /// The number of executed statements.
    public var queryCount = 0
    /// The first statements with their query plans, if the options keep them.
    public internal(set) var statements: [StatementRecord] = []
    /// The rows that the scenario changed, if the options keep them.
    public internal(set) var changes: [TableChanges] = []
    /// The file in which the scenario's database is kept.
    public var database: String?
    /// The number of this repetition, from 1, if the run is repeated.
    public var round: Int?

    /// The crash points, and the runs with crashes, if the scenario has the option `crash`.
    public internal(set) var crashes: CrashSummary?

    /// The trace of the run, if rounds are compared.
    var trace: ScenarioTrace?

    init(_ scenario: Scenario, _ outcome: ScenarioOutcome, seed: RunSeed) {
        (self.scenario, self.outcome, self.seed) = (scenario, outcome, seed)
    }

    /// The error that kept the scenario from running, such as an error in a migration. Other scenarios may fail with the same error.
    var commonError: String? {
        guard outcome == .errored, failures.count == 1, output.isEmpty else { return nil }
        return (failures[0].place.map { $0 + ": " } ?? "") + failures[0].message
    }
}

/// The result of one attempt at a scenario that was retried.
public struct ScenarioAttemptResult: Codable, Sendable {
    /// The outcome of the attempt.
    public var outcome: ScenarioOutcome
    /// The duration of the attempt.
    public var duration: Duration
    /// The failures of the attempt, in order.
    public var failures: [ScenarioFailure]
    /// The steps that ran, in order.
    public var steps: [ScenarioStep]
    /// The printed text.
    public var output: String
    /// The seed of the attempt. Each attempt has a different seed.
    public var seed: RunSeed

    init(_ result: ScenarioResult) {
        (outcome, duration, failures, seed) = (result.outcome, result.duration, result.failures, result.seed)
        (steps, output) = (result.steps, result.output)
    }
}

/// A failed check or an error.
public struct ScenarioFailure: Codable, Sendable {
    /// The failure, on one line.
    public var message: String
    /// The kind of the failure for programs, such as `check`, `expect`, `timeout` or `constraint_unique`.
    public var kind: String?
    /// The file to which the failure belongs.
    public var file: String?
    /// The line in the file, from 1.
    public var line: Int?
    /// The step in which the failure happened.
    public var step: String?
    /// The text of the checked expression.
    public var expression: String?
    /// The source text of the line.
    public var source: String?
    /// Lines that show the expected and the actual values.
    public var details: [String] = []
    /// Lua's traceback.
    public var traceback: String?
    /// The stack frames in scripts as `FILE:LINE`, beginning with the frame of the scenario; empty if there is only one.
    public var frames: [String] = []
    /// The last statement before the failure.
    public var statement: StatementRecord?

    /// The place as `FILE:LINE`; `nil` if the file is unknown.
    package var place: String? { file.map { file in file + (line.map { ":\($0)" } ?? "") } }

    /// Creates a failure.
    public init(_ message: String, kind: String? = nil, file: String? = nil, line: Int? = nil) {
        (self.message, self.kind, self.file, self.line) = (message, kind, file, line)
    }
}

/// A phase of a scenario.
public struct ScenarioStep: Codable, Sendable {
    /// The name passed to `t.step`.
    public var name: String
    /// Whether the step ended without failures.
    public var hasPassed: Bool
    /// The duration; `nil` if the step did not finish.
    public var duration: Duration?
    /// The line of the call of `t.step`, from 1.
    public var line: Int?
}

/// A value that a scenario attached to its result.
public struct ScenarioAttachment: Codable, Sendable {
    /// The name passed to `t.attach`.
    public var name: String
    /// The value, as text.
    public var text: String
}

/// An executed SQL statement.
public struct StatementRecord: Codable, Sendable {
    /// The SQL text, without the bound values.
    public var sql: String
    /// The bound values as SQL literals.
    public var arguments: [String] = []
    /// The duration of the statement.
    public var duration = Duration.zero
    /// The number of rows that the statement returned or changed.
    public var rows = 0
    /// The file of the script that executed the statement.
    public var file: String?
    /// The line in the script that executed the statement, from 1.
    public var line: Int?
    /// Whether the statement may write.
    public var isWriting = false
    /// SQLite's query plan, line by line.
    public var plan: [String] = []
}
