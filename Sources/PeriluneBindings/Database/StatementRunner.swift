internal import Foundation
internal import GRDB
internal import PeriluneCluster

/// A runner of statements through GRDB, which notifies observers and tracks transactions. The arguments are already bound.
final class StatementRunner {
    let statement: Statement
    private let steps: StatementSteps
    /// The statement compiled for the cluster, if any.
    private let compiled: ClusterDatabase.Compiled?
    private weak var cluster: ClusterDatabase?
    /// The original text, if the statement represents one in a cluster.
    let source: UnsafeMutablePointer<CChar>?

    init(_ statement: Statement) {
        self.statement = statement
        (compiled, source) = (nil, nil)
        steps = StatementSteps(statement)
    }

    /// - Parameters:
    ///   - statement: The statement compiled on the local connection of the cluster.
    ///   - cluster: The cluster that compiles it.
    /// - Throws: ``ClusterFailure`` for operations that clusters do not support.
    init(_ statement: Statement, in cluster: ClusterDatabase, _ db: Database) throws {
        let compiled = try cluster.compile(statement, in: db)
        self.compiled = compiled
        self.cluster = cluster
        switch compiled {
        case .here:
            (self.statement, source) = (statement, nil)
        case .carried(let carrier):
            self.statement = carrier.statement
            source = strdup(carrier.remote.source)
        }
        steps = StatementSteps(self.statement)
    }

    deinit { free(source) }

    /// Whether the represented statement only reads; `nil` if it represents none.
    var carriesReading: Bool? {
        if case .carried(let carrier) = compiled { carrier.remote.isReading } else { nil }
    }

    /// Executes the statement to its end.
    ///
    /// - Parameter takeRow: Called for each row.
    func run(_ takeRow: () -> Void) throws {
        switch compiled {
        case nil: try steps.forEach(takeRow)
        case .here(let text): try cluster?.run(text, statement.sql) { try steps.forEach(takeRow) }
        case .carried(let carrier):
            do {
                try steps.forEach(takeRow)
            } catch let error as DatabaseError {
                throw DatabaseError(resultCode: error.extendedResultCode, message: error.message, sql: carrier.remote.source)
            }
        }
    }
}
