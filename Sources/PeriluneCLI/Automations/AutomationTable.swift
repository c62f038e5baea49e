internal import Perilune

/// Writes automations and their runs as tables.
struct AutomationTable: Sendable {
    let format: ResultFormat?
    let color: ColorChoice

    func write(_ automations: [Automation]) throws {
        let columns = ["name", "on", "mode", "enabled", "last_run", "outcome", "description"]
        try write(columns, automations.map { automation in
            [
                .text(automation.name), .text(automation.trigger), .text(automation.mode), .boolean(automation.isEnabled),
                .text(automation.lastRun), .text(automation.outcome), .text(automation.description),
            ]
        })
    }

    func write(_ runs: [AutomationRun]) throws {
        let columns = ["automation", "started_at", "outcome", "reason", "attempts", "ms", "trigger", "statements", "error"]
        try write(columns, runs.map { run in
            [
                .text(run.automation), .text(run.startedAt), .text(run.outcome), .text(run.reason), .integer(Int64(run.attempts)),
                .real((run.durationInMilliseconds * 1000).rounded() / 1000), .text(run.trigger), .text(run.statements),
                .text(run.error),
            ]
        })
    }

    private func write(_ columns: [String], _ rows: [[Cell]]) throws {
        let format = format ?? .standard(isTerminal: StandardStreams.isOutputTerminal)
        try format.makeFormatter(columns: columns, colors: CommandOutput.outputColors(color)).writeTable(rows)
    }
}

extension Cell {
    /// A text, or NULL.
    fileprivate static func text(_ text: String?) -> Cell {
        text.map { .text(Array($0.utf8)) } ?? .null
    }
}
