/// The outcome of a scenario.
@nonexhaustive
public enum ScenarioOutcome: String, Sendable, Codable {
    /// All checks were successful.
    case passed
    /// A check failed, or an error was raised.
    case failed
    /// The scenario was not run, or ended itself without a verdict.
    case skipped

    /// The time limit ended the scenario.
    case timedOut = "timed_out"

    /// The scenario could not be run: its file does not load, its database could not be made, or the runner has failed.
    case errored

    /// The run was interrupted while the scenario was running.
    case interrupted

    /// The scenario was not started: the run ended before, or the maximum number of failures was reached.
    case notRun = "not_run"

    /// Whether the run can succeed with this outcome.
    public var isSuccess: Bool { self == .passed || self == .skipped }

    /// The outcome in words.
    var text: String { rawValue.replacing("_", with: " ") }

    /// Whether the outcome is a verdict on the scenario; `false` if the run ended before the scenario did.
    var isVerdict: Bool { self != .interrupted && self != .notRun }
}
