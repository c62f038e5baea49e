/// How a scenario ended.
public enum ScenarioOutcome: String, Sendable, Codable {
    case passed
    case failed
    case skipped

    /// It was still running when its time was up.
    case timedOut = "timed_out"

    /// It could not be run: its file does not load, or what runs it failed.
    case errored
}
