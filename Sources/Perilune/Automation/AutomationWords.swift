/// The outcome of an automation's run, or its current activity. More outcomes may be added.
public struct AutomationOutcome: RawRepresentable, Hashable, Codable, Sendable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The text of the outcome in the table of runs.
    public let rawValue: String

    /// Creates an outcome from its text in the table of runs.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// The run succeeded.
    public static let succeeded = AutomationOutcome(rawValue: "succeeded")
    /// The last attempt failed.
    public static let failed = AutomationOutcome(rawValue: "failed")
    /// The run did not start; its `reason` explains why.
    public static let skipped = AutomationOutcome(rawValue: "skipped")
    /// The run was cancelled.
    public static let cancelled = AutomationOutcome(rawValue: "cancelled")
    /// The process ended during the run.
    public static let interrupted = AutomationOutcome(rawValue: "interrupted")
    /// The function of a durable run no longer makes the calls that were recorded before.
    public static let diverged = AutomationOutcome(rawValue: "diverged")
    /// The run is active.
    public static let running = AutomationOutcome(rawValue: "running")
    /// The run waits for its next attempt.
    public static let waiting = AutomationOutcome(rawValue: "waiting")
    /// The run waits for its first attempt.
    public static let queued = AutomationOutcome(rawValue: "queued")

    public var description: String { rawValue }
}

/// The reaction of an automation to a trigger while it is running. More modes may be added.
public struct AutomationMode: RawRepresentable, Hashable, Codable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The value of the option `mode`.
    public let rawValue: String

    /// Creates a mode from a value of the option `mode`.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// The trigger is skipped.
    public static let single = AutomationMode(rawValue: "single")
    /// The active run is cancelled, and a new run starts.
    public static let restart = AutomationMode(rawValue: "restart")
    /// A new run starts after the active run has ended.
    public static let queued = AutomationMode(rawValue: "queued")
    /// A new run starts immediately, in parallel with the active run.
    public static let parallel = AutomationMode(rawValue: "parallel")

    public var description: String { rawValue }
}

/// The current activity of an automation or a queue of jobs. More states may be added.
public struct AutomationState: RawRepresentable, Hashable, Codable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible
{
    /// The name of the state, as shown by `perilune automations status`.
    public let rawValue: String

    /// Creates a state from a name shown by `perilune automations status`.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// A process runs the automation or the queue, but no run or job is active.
    public static let ready = AutomationState(rawValue: "ready")
    /// A run is active.
    public static let running = AutomationState(rawValue: "running")
    /// A script or a person has disabled the automation.
    public static let disabled = AutomationState(rawValue: "disabled")
    /// The queue is paused.
    public static let paused = AutomationState(rawValue: "paused")
    /// No process runs the automation or the queue.
    public static let stopped = AutomationState(rawValue: "stopped")
    /// The database records only runs of the automation, and not its trigger.
    public static let unknown = AutomationState(rawValue: "unknown")

    public var description: String { rawValue }
}
