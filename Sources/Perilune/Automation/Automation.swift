public import Foundation
internal import PeriluneBindings
public import PeriluneLua

/// An automation that a script has defined with `perilune.automation`.
public struct Automation: Sendable {
    /// The fields of the automation, as the Lua library returns them.
    package let row: Row

    package struct Row: Decodable, Sendable {
        package let name: String
        package let trigger: String
        package let mode: String
        package let is_enabled: Bool
        package let description: String?
        package let last_run: String?
        package let outcome: String?
        package let next_due: String?
    }

    /// The name, which is unique in the host.
    public var name: String { row.name }
    /// A description of the trigger for people, for example "schedule 0 9 * * mon-fri".
    public var trigger: String { row.trigger }
    /// The reaction to a trigger while the automation is running.
    public var mode: AutomationMode { AutomationMode(rawValue: row.mode) ?? .single }
    /// Whether triggers start the automation.
    public var isEnabled: Bool { row.is_enabled }
    /// The description that the script has set.
    public var description: String? { row.description }
    /// The start of the last run; `nil` before the first run.
    public var lastRun: Date? { date(row.last_run) }
    /// The outcome of the last run that was not skipped; `nil` before the first run.
    public var outcome: AutomationOutcome? { row.outcome.map { AutomationOutcome(recorded: $0) } }
    /// The next due time; `nil` if the automation is not triggered by time.
    public var nextDue: Date? { date(row.next_due) }
}

/// A run of an automation, as stored in the table `perilune_automation_run`.
public struct AutomationRun: Sendable {
    /// The fields of the run, as the Lua library returns them.
    package let row: Row

    package struct Row: Decodable, Sendable {
        package let id: Int64?
        package let automation: String
        package let started_at: String
        package let duration_ms: Double?
        package let attempts: Int
        package let outcome: String
        package let reason: String?
        package let error: String?
        package let traceback: String?
        package let output: String?
        package let wakes_at: String?
        package let interruptions: Int
        package let trigger: String
        package let statements: String?
    }

    /// The number of the run in the table; `nil` if the run is not recorded, as in a preview or if the database is busy.
    public var id: Int64? { row.id }
    /// The name of the automation.
    public var automation: String { row.automation }
    /// The start of the run; `Date.distantPast` if the table contains an invalid time, written by another program.
    public var startedAt: Date { date(row.started_at) ?? .distantPast }
    /// The duration of the run, including all attempts; `nil` until the run has ended.
    public var duration: Duration? {
        row.duration_ms.flatMap { Int64(exactly: ($0 * 1000).rounded()) }.map { .microseconds($0) }
    }
    /// The number of attempts.
    public var attempts: Int { row.attempts }
    /// The outcome, or the current activity.
    public var outcome: AutomationOutcome { AutomationOutcome(recorded: row.outcome) }
    /// The reason why the run was skipped, cancelled or interrupted.
    public var reason: String? { row.reason }
    /// The message of the error that ended the run or its last attempt; `nil` without an error.
    public var error: String? { row.error }
    /// The Lua traceback of the error.
    public var traceback: String? { row.traceback }
    /// The printed output; if it is long, at least its last 64 KB.
    public var output: String? { row.output }
    /// The time of the next attempt.
    public var wakesAt: Date? { date(row.wakes_at) }
    /// The number of times that a process ended during the run.
    public var interruptions: Int { row.interruptions }
    /// The kind of trigger that started the run: "event", "schedule", "manual", ...
    public var trigger: String { triggerFields["kind"]?.string ?? row.trigger }
    /// The value of the event that started the run, which the function receives as `context.event`.
    public var event: ScriptValue { triggerFields["data"] ?? .nil }
    /// The SQL statements that the run executed.
    public var statements: [String] {
        guard let text = row.statements else { return [] }
        return (try? JSONDecoder().decode([String].self, from: Data(text.utf8))) ?? [text]
    }

    private var triggerFields: [String: ScriptValue] {
        (try? JSONDecoder().decode(ScriptValue.self, from: Data(row.trigger.utf8)))?.dictionary ?? [:]
    }
}

/// The state of an automation or a job queue, as recorded in the database by any process.
public struct AutomationStatus: Sendable {
    /// The fields of the status, as the Lua library returns them.
    package let row: Row

    package struct Row: Decodable, Sendable {
        package let name: String
        package let trigger: String?
        package let state: String
        package let active: Int
        package let running_since: String?
        package let next_due: String?
        package let last_success: String?
        package let last_failure: String?
        package let problem: String?
    }

    /// The name of the automation; for a queue, `jobs "NAME"`.
    public var name: String { row.name }
    /// The trigger; `nil` if the database records only the automation's runs.
    public var trigger: String? { row.trigger }
    /// The current activity.
    public var state: AutomationState { AutomationState(rawValue: row.state) ?? .unknown }
    /// The number of runs that are active or waiting.
    public var active: Int { row.active }
    /// The start of the first active run.
    public var runningSince: Date? { date(row.running_since) }
    /// The next due time.
    public var nextDue: Date? { date(row.next_due) }
    /// The start of the last run that succeeded.
    public var lastSuccess: Date? { date(row.last_success) }
    /// The start of the last run that failed or was interrupted.
    public var lastFailure: Date? { date(row.last_failure) }
    /// A description of a problem, for people; `nil` without a problem.
    public var problem: String? { row.problem }
}

/// Parses a date from its text in the database.
private func date(_ text: String?) -> Date? {
    text.flatMap { try? Date.fromLua(.string(LuaString($0))) }
}
