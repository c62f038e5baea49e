internal import Perilune

/// A printer of tables that list automations, their status or their runs.
struct AutomationTable: Sendable {
    let format: ResultFormat?
    let color: ColorChoice

    func write(_ automations: [Automation]) throws {
        let columns = ["name", "on", "mode", "enabled", "last_run", "outcome", "description"]
        try write(
            columns,
            automations.map(\.row).map { automation -> [Cell] in
                [
                    .nullable(automation.name), .nullable(automation.trigger), .nullable(automation.mode),
                    .boolean(automation.is_enabled),
                    .nullable(automation.last_run), .nullable(automation.outcome), .nullable(automation.description),
                ]
            })
    }

    func write(_ states: [AutomationStatus]) throws {
        let columns = ["name", "state", "running_since", "next_due", "last_success", "last_failure", "problem"]
        try write(
            columns,
            states.map(\.row).map { status -> [Cell] in
                [
                    .nullable(status.name), .nullable(status.state), .nullable(status.running_since), .nullable(status.next_due),
                    .nullable(status.last_success), .nullable(status.last_failure), .nullable(status.problem),
                ]
            })
    }

    func write(_ runs: [AutomationRun]) throws {
        let columns = ["automation", "started_at", "outcome", "reason", "attempts", "ms", "trigger", "statements", "error"]
        try write(
            columns,
            runs.map(\.row).map { run -> [Cell] in
                let milliseconds = run.duration_ms.map { Cell.real(($0 * 1000).rounded() / 1000) } ?? .null
                return [
                    .nullable(run.automation), .nullable(run.started_at), .nullable(run.outcome), .nullable(run.reason),
                    .integer(Int64(run.attempts)),
                    milliseconds, .nullable(run.trigger), .nullable(run.statements), .nullable(run.error),
                ]
            })
    }

    private func write(_ columns: [String], _ rows: [[Cell]]) throws {
        let format = format ?? .standard(isTerminal: StandardStreams.isOutputTerminal), colors = CommandOutput.outputColors(color)
        try format.makeFormatter(columns: columns, colors: colors, width: TerminalSize.outputColumns).writeTable(rows)
    }
}

extension Cell {
    /// Returns a text cell, or a NULL cell for `nil`.
    fileprivate static func nullable(_ text: String?) -> Cell {
        text.map { .text(Array($0.utf8)) } ?? .null
    }
}
