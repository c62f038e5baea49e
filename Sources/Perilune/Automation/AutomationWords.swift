/// The outcome of an automation's run, or its current activity.
@nonexhaustive
public enum AutomationOutcome: String, Codable, Sendable {
    /// The run succeeded.
    case succeeded
    /// The last attempt failed.
    case failed
    /// The run did not start; its `reason` explains why.
    case skipped
    /// The run was cancelled.
    case cancelled
    /// The process ended during the run.
    case interrupted
    /// The function of a durable run no longer makes the calls that were recorded before.
    case diverged
    /// The run is active.
    case running
    /// The run waits for its next attempt.
    case waiting
    /// The run waits for its first attempt.
    case queued
    /// A newer version of Perilune has recorded an outcome that this version does not know.
    case unknown

    /// Parses an outcome from its text in the table of runs.
    package init(recorded text: String) { self = AutomationOutcome(rawValue: text) ?? .unknown }
}

/// The reaction of an automation to a trigger while it is running.
@nonexhaustive
public enum AutomationMode: String, Codable, Sendable {
    /// The trigger is skipped.
    case single
    /// The active run is cancelled, and a new run starts.
    case restart
    /// A new run starts after the active run has ended.
    case queued
    /// A new run starts immediately, in parallel with the active run.
    case parallel
}

/// The current activity of an automation or a queue of jobs.
@nonexhaustive
public enum AutomationState: String, Codable, Sendable {
    /// A process runs the automation or the queue, but no run or job is active.
    case ready
    /// A run is active.
    case running
    /// A script or a person has disabled the automation.
    case disabled
    /// The queue is paused.
    case paused
    /// No process runs the automation or the queue.
    case stopped
    /// The database records only runs of the automation, and not its trigger.
    case unknown
}
