public import Perilune

/// The result of a scenario.
public struct ScenarioResult: Codable, Sendable {
    /// The scenario.
    public let scenario: Scenario
    /// The outcome.
    public var outcome: ScenarioOutcome
    /// Why it was skipped, or was expected to fail.
    public var reason: String?
    /// Whether it passed only after a failure.
    public var isFlaky = false
    /// How often it was run.
    public var attempts = 1
    /// The attempts before the last one: all have failed.
    public var earlierAttempts: [ScenarioAttemptResult] = []
    /// The duration of the last attempt.
    public var duration = Duration.zero
    /// The seed of the run, by which it can be repeated.
    public var seed: RunSeed
    /// The failures, in order.
    public var failures: [ScenarioFailure] = []
    /// The steps that it has taken, in order.
    public var steps: [ScenarioStep] = []
    /// The remarks of `t.note`.
    public var notes: [String] = []
    /// Reasons to doubt the outcome, such as an assertion that checked no rows.
    public var warnings: [String] = []
    /// How much it has stated: each `check`, matcher and `expect_error`, and counts of stubs and queries.
    public internal(set) var checkCount = 0
    /// Whether it has failed in another way than its option `fails` says.
    var failsOtherwise = false
    /// The values of `t.attach`.
    public var attachments: [ScenarioAttachment] = []
    /// The printed text, shortened if it is long.
    public var output = ""
    /// How many statements were executed.
    public var queryCount = 0
    /// The first of them with their plans, if the options say that they are kept.
    public internal(set) var statements: [StatementRecord] = []
    /// The rows that it has changed, if the options say that they are kept.
    public internal(set) var changes: [TableChanges] = []
    /// The file in which its database is kept.
    public var database: String?
    /// The number of this repetition, from 1, if the run is repeated.
    public var round: Int?

    /// The crash points, and the runs with crashes, of a scenario with the option `crash`.
    public internal(set) var crashes: CrashSummary?

    /// The way that it went, if rounds are compared.
    var trace: ScenarioTrace?

    init(_ scenario: Scenario, _ outcome: ScenarioOutcome, seed: RunSeed) {
        (self.scenario, self.outcome, self.seed) = (scenario, outcome, seed)
    }
}

/// The result of one attempt at a scenario that was repeated.
public struct ScenarioAttemptResult: Codable, Sendable {
    /// The outcome of the attempt.
    public var outcome: ScenarioOutcome
    /// How long it took.
    public var duration: Duration
    /// The failures of the attempt, in order.
    public var failures: [ScenarioFailure]
    /// The steps that it has taken, in order.
    public var steps: [ScenarioStep]
    /// The printed text.
    public var output: String
    /// The seed of the attempt: each has another one.
    public var seed: RunSeed

    init(_ result: ScenarioResult) {
        (outcome, duration, failures, seed) = (result.outcome, result.duration, result.failures, result.seed)
        (steps, output) = (result.steps, result.output)
    }
}

/// Something that was to be true and was not, or an error.
public struct ScenarioFailure: Codable, Sendable {
    /// The failure, on one line.
    public var message: String
    /// Identifies the failure for programs: `check`, `expect`, `timeout`, `constraint_unique`.
    public var kind: String?
    /// The file in which it went wrong.
    public var file: String?
    /// The line in the file, from 1.
    public var line: Int?
    /// The step in which it happened.
    public var step: String?
    /// The checked expression, as the scenario contains it.
    public var expression: String?
    /// The text of the line.
    public var source: String?
    /// Lines that show the expected and the actual values.
    public var details: [String] = []
    /// The calls that led there.
    public var traceback: String?
    /// The frames of scripts that led to it, as `FILE:LINE`, the scenario's first; empty if there is only one.
    public var frames: [String] = []
    /// The last statement before it.
    public var statement: StatementRecord?

    /// `FILE:LINE`; `nil` if the file is unknown.
    package var place: String? { file.map { file in file + (line.map { ":\($0)" } ?? "") } }

    /// Makes a failure.
    public init(_ message: String, kind: String? = nil, file: String? = nil, line: Int? = nil) {
        (self.message, self.kind, self.file, self.line) = (message, kind, file, line)
    }
}

/// A phase of a scenario.
public struct ScenarioStep: Codable, Sendable {
    /// The name that `t.step` was given.
    public var name: String
    /// Whether nothing has failed in it.
    public var hasPassed: Bool
    /// How long it took; `nil` if it was not finished.
    public var duration: Duration?
    /// The line of its call of `t.step`, from 1.
    public var line: Int?
}

/// A value that a scenario shows with its result.
public struct ScenarioAttachment: Codable, Sendable {
    /// The name that `t.attach` was given.
    public var name: String
    /// The value, as text.
    public var text: String
}

/// A statement that has run.
public struct StatementRecord: Codable, Sendable {
    /// The SQL, without the values bound to it.
    public var sql: String
    /// The bound values, as SQL writes them.
    public var arguments: [String] = []
    /// How long the statement ran.
    public var duration = Duration.zero
    /// How many rows it returned, or changed.
    public var rows = 0
    /// The file of the script that called it.
    public var file: String?
    /// The line of the script that executed it, from 1.
    public var line: Int?
    /// Whether the statement may write.
    public var isWriting = false
    /// How SQLite runs it, line by line.
    public var plan: [String] = []
}
