internal import GRDB
internal import Perilune
internal import PeriluneRecords

/// The statements and the changed rows of an attempt, for reports that show them.
struct RecordedDetails {
    private let stage: ScenarioStage
    private let statements: StatementTrace.Collection
    private let changes: Result<RowChangeRecorder, any Error>
    /// More are counted, but not kept.
    private static let mostStatements = 300
    private static let mostRows = 50

    /// Begins to record.
    init(on stage: ScenarioStage) {
        self.stage = stage
        changes = stage.recordChanges()
        statements = stage.trace.collect()
    }

    /// Ends the recording. Changes that cannot be recorded are left out: a scenario may have done anything to its database.
    func finish(_ result: inout ScenarioResult) {
        stage.trace.end(statements)
        result.statements = Array(statements.statements.prefix(Self.mostStatements))
        result.changes = ((try? stage.finish(changes).get().tables) ?? []).map { table in
            var table = table
            table.rows = Array(table.rows.prefix(Self.mostRows))
            return table
        }
        var plans: [String: [String]] = [:]
        for index in result.statements.indices {
            let sql = result.statements[index].sql
            if plans[sql] == nil {
                plans[sql] = stage.trace.pausing { (try? stage.writer.unsafeReentrantWrite { db in try QueryPlan.lines(of: sql, in: db) }) ?? [] }
            }
            result.statements[index].plan = plans[sql] ?? []
        }
    }
}
