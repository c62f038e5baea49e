/// An automation that a script has defined, by `perilune.automation`.
public struct Automation: Codable, Sendable {
    /// Its name, which no other automation of the host has.
    public let name: String
    /// Describes its trigger for people: "schedule 0 9 * * mon-fri".
    public let trigger: String
    /// How it handles a trigger while it runs: "single", "restart", "queued" or "parallel".
    public let mode: String
    /// Whether it is triggered.
    public let isEnabled: Bool
    public let description: String?
    /// When it last ran; `nil` before the first run.
    public let lastRun: String?
    /// How its last run that was not skipped ended, or "running" or "waiting"; `nil` before the first.
    public let outcome: String?
    /// When it is due next, as the database stores dates; `nil` if it does not come at a time.
    public let nextDue: String?

    private enum CodingKeys: String, CodingKey {
        case name, trigger, mode, description, outcome
        case isEnabled = "is_enabled"
        case lastRun = "last_run"
        case nextDue = "next_due"
    }
}

/// A run of an automation, as the table `perilune_automation_run` keeps it.
public struct AutomationRun: Codable, Sendable {
    /// The name of the automation.
    public let automation: String
    /// When the run began, as the database stores dates.
    public let startedAt: String
    /// How long it took, with all attempts; `nil` before its end.
    public let durationInMilliseconds: Double?
    /// How often it was tried.
    public let attempts: Int
    /// "running" or, between two attempts, "waiting"; at the end "succeeded", "failed", "skipped", "cancelled", or "interrupted" if its
    /// process ended before the run did.
    public let outcome: String
    /// Why it was skipped, cancelled or interrupted.
    public let reason: String?
    /// The text of the error that ended it, or its last attempt; `nil` if none did.
    public let error: String?
    /// Lua's traceback of that error.
    public let traceback: String?
    /// The last 64 KB, or more, that it has printed.
    public let output: String?
    /// When the next attempt is due, as the database stores dates.
    public let wakesAt: String?
    /// How often its process has ended before it.
    public let interruptions: Int
    /// The trigger of the run, as JSON.
    public let trigger: String
    /// The SQL that it ran, as a JSON array.
    public let statements: String?

    private enum CodingKeys: String, CodingKey {
        case automation, attempts, outcome, reason, error, traceback, output, interruptions, trigger, statements
        case startedAt = "started_at"
        case wakesAt = "wakes_at"
        case durationInMilliseconds = "duration_ms"
    }
}

/// The result of running an automation by hand.
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

/// The state of an automation or of a queue of jobs, as the tables of a database record it, whichever process runs it.
public struct AutomationStatus: Codable, Sendable {
    /// Its name; of a queue `jobs "NAME"`.
    public let name: String
    /// Its trigger; `nil` if only runs of it are recorded.
    public let trigger: String?
    /// "ready", "running", "disabled", "paused", "stopped" if no process runs it, or "unknown" if only runs of it are recorded.
    public let state: String
    /// How many runs are active or wait.
    public let active: Int
    /// When the first of the active runs began, as the database stores dates.
    public let runningSince: String?
    /// When it is due next.
    public let nextDue: String?
    /// When the last run began that succeeded.
    public let lastSuccess: String?
    /// When the last run began that failed or was interrupted.
    public let lastFailure: String?
    /// What is wrong; `nil` if all is well.
    public let problem: String?

    private enum CodingKeys: String, CodingKey {
        case name, trigger, state, active, problem
        case runningSince = "running_since"
        case nextDue = "next_due"
        case lastSuccess = "last_success"
        case lastFailure = "last_failure"
    }
}
