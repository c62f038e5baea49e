public import Foundation
internal import PeriluneBindings
public import PeriluneLua

/// An automation that a script has defined, by `perilune.automation`.
public struct Automation: Sendable {
    /// The automation as the library describes it.
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

    /// Its name, which no other automation of the host has.
    public var name: String { row.name }
    /// Describes its trigger for people: "schedule 0 9 * * mon-fri".
    public var trigger: String { row.trigger }
    /// How it handles a trigger while it runs.
    public var mode: AutomationMode { AutomationMode(rawValue: row.mode) }
    /// Whether it is triggered.
    public var isEnabled: Bool { row.is_enabled }
    /// The text that its script gives.
    public var description: String? { row.description }
    /// When its last run began; `nil` before the first run.
    public var lastRun: Date? { date(row.last_run) }
    /// The outcome of its last run that was not skipped; `nil` before the first.
    public var outcome: AutomationOutcome? { row.outcome.map { AutomationOutcome(rawValue: $0) } }
    /// When it is due next; `nil` if it does not come at a time.
    public var nextDue: Date? { date(row.next_due) }
}

/// A run of an automation, as the table `perilune_automation_run` keeps it.
public struct AutomationRun: Sendable {
    /// The run as the library reports it.
    package let row: Row

    package struct Row: Decodable, Sendable {
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

    /// The name of the automation.
    public var automation: String { row.automation }
    /// When the run began, in universal time; `Date.distantPast` if another program has written something else into the table.
    public var startedAt: Date { date(row.started_at) ?? .distantPast }
    /// How long it took, with all attempts; `nil` before its end.
    public var duration: Duration? {
        row.duration_ms.flatMap { Int64(exactly: ($0 * 1000).rounded()) }.map { .microseconds($0) }
    }
    /// How often it was tried.
    public var attempts: Int { row.attempts }
    /// How the run has ended, or what it is doing.
    public var outcome: AutomationOutcome { AutomationOutcome(rawValue: row.outcome) }
    /// Why it was skipped, cancelled or interrupted.
    public var reason: String? { row.reason }
    /// The text of the error that ended it, or its last attempt; `nil` if none did.
    public var error: String? { row.error }
    /// Lua's traceback of that error.
    public var traceback: String? { row.traceback }
    /// The last 64 KB, or more, that it has printed.
    public var output: String? { row.output }
    /// When the next attempt is due.
    public var wakesAt: Date? { date(row.wakes_at) }
    /// How often its process has ended before it.
    public var interruptions: Int { row.interruptions }
    /// The kind of the trigger that has started the run: "event", "schedule", "manual", ...
    public var trigger: String { triggerFields["kind"]?.string ?? row.trigger }
    /// The value of the event that has started the run: `context.event` in its function.
    public var event: ScriptValue { triggerFields["data"] ?? .nil }
    /// The SQL that it ran.
    public var statements: [String] {
        guard let text = row.statements else { return [] }
        return (try? JSONDecoder().decode([String].self, from: Data(text.utf8))) ?? [text]
    }

    private var triggerFields: [String: ScriptValue] {
        (try? JSONDecoder().decode(ScriptValue.self, from: Data(row.trigger.utf8)))?.dictionary ?? [:]
    }
}

/// The state of an automation or of a queue of jobs, as the tables of a database record it, whichever process runs it.
public struct AutomationStatus: Sendable {
    /// The status as the library reports it.
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

    /// Its name; of a queue `jobs "NAME"`.
    public var name: String { row.name }
    /// Its trigger; `nil` if only runs of it are recorded.
    public var trigger: String? { row.trigger }
    /// Its current activity.
    public var state: AutomationState { AutomationState(rawValue: row.state) }
    /// How many runs are active or wait.
    public var active: Int { row.active }
    /// When the first of the active runs began.
    public var runningSince: Date? { date(row.running_since) }
    /// When it is due next.
    public var nextDue: Date? { date(row.next_due) }
    /// When the last run began that succeeded.
    public var lastSuccess: Date? { date(row.last_success) }
    /// When the last run began that failed or was interrupted.
    public var lastFailure: Date? { date(row.last_failure) }
    /// What is wrong; `nil` if all is well.
    public var problem: String? { row.problem }
}

/// Reads a date as the database stores it.
private func date(_ text: String?) -> Date? {
    text.flatMap { try? Date.fromLua(.string(LuaString($0))) }
}
