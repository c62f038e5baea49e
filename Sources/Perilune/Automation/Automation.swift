/// An automation that a script has defined, by `perilune.automation`.
public struct Automation: Codable, Sendable {
    /// Its name, which no other automation of the host has.
    public let name: String
    /// What sets it off, as people call it: "schedule 0 9 * * mon-fri".
    public let trigger: String
    /// What a trigger does while it runs: "single", "restart", "queued" or "parallel".
    public let mode: String
    /// Whether it is triggered.
    public let isEnabled: Bool
    public let description: String?
    /// When it ran last, and what came of it.
    public let lastRun: String?
    /// How its last run ended; `nil` before the first.
    public let outcome: String?

    private enum CodingKeys: String, CodingKey {
        case name, trigger, mode, description, outcome
        case isEnabled = "is_enabled"
        case lastRun = "last_run"
    }
}

/// A run of an automation, as the table `perilune_automation_run` keeps it.
public struct AutomationRun: Codable, Sendable {
    /// The name of the automation.
    public let automation: String
    /// When the run began, as the database stores dates.
    public let startedAt: String
    /// How long it took, with all attempts.
    public let durationInMilliseconds: Double
    /// How often it was tried.
    public let attempts: Int
    /// "succeeded", "failed", "skipped" or "cancelled".
    public let outcome: String
    /// Why it was skipped.
    public let reason: String?
    /// The text of the error that ended it; `nil` if none did.
    public let error: String?
    /// What set it off, as JSON.
    public let trigger: String
    /// The SQL that it ran, as a JSON array.
    public let statements: String?

    private enum CodingKeys: String, CodingKey {
        case automation, attempts, outcome, reason, error, trigger, statements
        case startedAt = "started_at"
        case durationInMilliseconds = "duration_ms"
    }
}

/// What came of running an automation by hand.
public struct AutomationResult: Codable, Sendable {
    /// "succeeded", "skipped" or "cancelled".
    public let outcome: String
    /// Why it was skipped.
    public let reason: String?
    /// How often it was tried.
    public let attempts: Int
    /// In seconds.
    public let duration: Double
}
