internal import GRDB
internal import Perilune
internal import PeriluneRecords

/// A recording of the statements and changed rows of an attempt, for reports that show them.
struct RecordedDetails {
    private let stage: ScenarioStage
    private let statements: StatementTrace.Collection
    private let changes: Result<RowChangeRecorder, any Error>
    /// The maximum number of statements that are kept. Further statements are only counted.
    private static let mostStatements = 300
    private static let mostRows = 50

    /// Starts recording.
    init(on stage: ScenarioStage) {
        self.stage = stage
        changes = stage.recordChanges()
        statements = stage.trace.collect()
    }

    /// Ends the recording. Omits changes that could not be recorded, because a scenario may change its database in any way.
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
                plans[sql] = stage.trace.pausing {
                    (try? stage.writer.unsafeReentrantWrite { db in try QueryPlan.lines(of: sql, in: db) }) ?? []
                }
            }
            result.statements[index].plan = plans[sql] ?? []
        }
    }
}
