/// How a scenario ended.
@nonexhaustive
public enum ScenarioOutcome: String, Sendable, Codable {
    /// Everything that it states is true.
    case passed
    /// Something that it states is false, or it has raised an error.
    case failed
    /// It was not run, or has ended itself without a verdict.
    case skipped

    /// It was still running when its time was up.
    case timedOut = "timed_out"

    /// It could not be run: its file does not load, its database could not be made, or the runner has failed.
    case errored

    /// The run was ended before the scenario was.
    case interrupted

    /// It was not begun: the run ended before, or the maximum number of failures was reached.
    case notRun = "not_run"

    /// Whether the run is a success in spite of it.
    public var isSuccess: Bool { self == .passed || self == .skipped }

    /// For people.
    var text: String { rawValue.replacing("_", with: " ") }

    /// Whether it says anything about the scenario.
    var isVerdict: Bool { self != .interrupted && self != .notRun }
}
