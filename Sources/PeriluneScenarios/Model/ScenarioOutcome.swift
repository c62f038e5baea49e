/// How a scenario ended.
public enum ScenarioOutcome: String, Sendable, Codable {
    case passed
    case failed
    case skipped

    /// It was still running when its time was up.
    case timedOut = "timed_out"

    /// It could not be run: its file does not load, its database could not be made, or what runs it has failed.
    case errored

    /// The run was ended before the scenario was.
    case interrupted

    /// Whether the run is a success in spite of it.
    public var isSuccess: Bool { self == .passed || self == .skipped }
}
