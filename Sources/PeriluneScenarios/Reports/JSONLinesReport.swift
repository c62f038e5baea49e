internal import PeriluneRecords

/// A report for programs that follow a run: each event is one JSON object on its own line.
final class JSONLinesReport: ScenarioReport {
    private let style: ScenarioReportStyle
    private let write: (String) -> Void

    /// The version of the format. It increases when fields change or disappear, not when fields are added.
    static let version = 1

    init(_ style: ScenarioReportStyle, _ write: @escaping (String) -> Void) {
        (self.style, self.write) = (style, write)
    }

    func receive(_ event: ScenarioEvent) {
        switch event {
        case .started(let run):
            emit(
                "run_started",
                [
                    ("count", .integer(run.count)), ("seed", .string(run.seed.description)),
                    ("order", .string(run.order.rawValue)), ("workers", .integer(run.workers)),
                ])
        case .scenarioStarted(let scenario): emit("scenario_started", [("id", .string(scenario.id))])
        case .scenarioEnded(let result): emit("scenario_ended", Self.fields(of: result, style))
        case .ended(let summary): emit("run_ended", fields(of: summary))
        }
    }

    private func emit(_ event: String, _ fields: [(String, JSONText?)]) {
        write(JSONText.object([("version", .integer(Self.version)), ("event", .string(event))] + fields).text + "\n")
    }

    private func fields(of summary: ScenarioSummary) -> [(String, JSONText?)] {
        let outcomes: [ScenarioOutcome] = [.passed, .failed, .timedOut, .errored, .skipped, .interrupted]
        return outcomes.map { ($0.rawValue, .integer(summary.count($0))) } + [
            ("flaky", .integer(summary.flaky.count)), ("not_run", .integer(summary.notRun)),
            ("was_interrupted", .boolean(summary.wasInterrupted)), ("only", .strings(summary.focused.map(\.id))),
            ("obsolete_snapshots", summary.obsoleteSnapshots.isEmpty ? nil : .strings(summary.obsoleteSnapshots)),
            ("removed_snapshots", summary.removedSnapshots.isEmpty ? nil : .strings(summary.removedSnapshots)),
            ("milliseconds", .number(summary.duration / .milliseconds(1))), ("exit_status", .integer(Int(summary.exitStatus))),
        ]
    }

    private static func fields(of result: ScenarioResult, _ style: ScenarioReportStyle) -> [(String, JSONText?)] {
        let isFailure = !result.outcome.isSuccess
        return result.scenario.jsonFields + [
            ("outcome", .string(result.outcome.rawValue)), ("reason", result.reason.map { .string($0) }),
            ("flaky", result.isFlaky ? true : nil), ("attempts", .integer(result.attempts)),
            ("round", result.round.map { .integer($0) }), ("milliseconds", .number(result.duration / .milliseconds(1))),
            ("seed", .string(result.seed.description)), ("queries", .integer(result.queryCount)),
            ("steps", result.steps.isEmpty ? nil : .list(result.steps.map(Self.step))),
            ("failures", result.failures.isEmpty ? nil : .list(result.failures.map(Self.failure))),
            (
                "earlier_attempts", result.earlierAttempts.isEmpty ? nil : .list(result.earlierAttempts.map(Self.attempt))
            ),
            ("checks", .integer(result.checkCount)), ("warnings", result.warnings.isEmpty ? nil : .strings(result.warnings)),
            ("crashes", result.crashes.map(Self.crashes)),
            ("notes", result.notes.isEmpty ? nil : .strings(result.notes)),
            (
                "attachments",
                result.attachments.isEmpty
                    ? nil
                    : .list(
                        result.attachments.map {
                            .object([("name", .string($0.name)), ("text", .string($0.text))])
                        })
            ),
            ("output", result.output.isEmpty ? nil : .string(result.output)),
            ("database", result.database.map { .string($0) }),
            ("own_seed", result.scenario.seed.map { .string($0) }),
            ("rerun", isFailure ? .string(FailureText(style: style).rerun(result)) : nil),
        ]
    }

    private static func attempt(_ attempt: ScenarioAttemptResult) -> JSONText {
        .object([
            ("outcome", .string(attempt.outcome.rawValue)), ("milliseconds", .number(attempt.duration / .milliseconds(1))),
            ("steps", attempt.steps.isEmpty ? nil : .list(attempt.steps.map(Self.step))),
            ("failures", attempt.failures.isEmpty ? nil : .list(attempt.failures.map(Self.failure))),
            ("output", attempt.output.isEmpty ? nil : .string(attempt.output)),
        ])
    }

    private static func crashes(_ crashes: CrashSummary) -> JSONText {
        .object([
            ("points", .integer(crashes.count)), ("runs", .integer(crashes.trials.count)),
            (
                "failed",
                crashes.failed.isEmpty
                    ? nil
                    : .list(
                        crashes.failed.map { trial in
                            .object([
                                ("numbers", .list(trial.numbers.map { .integer($0) })),
                                ("points", .strings(trial.points.map(\.text))),
                            ])
                        })
            ),
        ])
    }

    private static func step(_ step: ScenarioStep) -> JSONText {
        .object([
            ("name", .string(step.name)), ("outcome", step.hasPassed ? "passed" : "failed"),
            ("milliseconds", step.duration.map { .number($0 / .milliseconds(1)) }), ("line", step.line.map { .integer($0) }),
        ])
    }

    private static func failure(_ failure: ScenarioFailure) -> JSONText {
        .object([
            ("message", .string(failure.message)), ("kind", failure.kind.map { .string($0) }),
            ("file", failure.file.map { .string($0) }), ("line", failure.line.map { .integer($0) }),
            ("step", failure.step.map { .string($0) }), ("expression", failure.expression.map { .string($0) }),
            ("source", failure.source.map { .string($0) }),
            ("details", failure.details.isEmpty ? nil : .strings(failure.details)),
            ("frames", failure.frames.isEmpty ? nil : .strings(failure.frames)),
            ("traceback", failure.traceback.map { .string($0) }), ("statement", failure.statement.map(Self.statement)),
        ])
    }

    private static func statement(_ statement: StatementRecord) -> JSONText {
        .object([
            ("sql", .string(statement.sql)), ("arguments", .strings(statement.arguments)),
            ("rows", .integer(statement.rows)), ("milliseconds", .number(statement.duration / .milliseconds(1))),
            ("file", statement.file.map { .string($0) }), ("line", statement.line.map { .integer($0) }),
            ("plan", statement.plan.isEmpty ? nil : .strings(statement.plan)),
        ])
    }
}

extension Scenario {
    /// The JSON fields of a scenario in lists and events.
    var jsonFields: [(String, JSONText?)] {
        [
            ("id", .string(id)), ("name", .string(name)), ("groups", groups.isEmpty ? nil : .strings(groups)),
            ("case", caseName.map { .string($0) }), ("file", .string(file)), ("line", .integer(line)),
            ("tags", tags.isEmpty ? nil : .strings(tags)),
        ]
    }

    /// The scenario as one line of JSON.
    public var json: String {
        JSONText.object(jsonFields + [("skip", skip.map { .string($0) }), ("todo", isTodo ? true : nil)]).text
    }
}
