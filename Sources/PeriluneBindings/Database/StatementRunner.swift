internal import Foundation
internal import GRDB
internal import PeriluneCluster

/// Steps a statement through GRDB, which notifies its observers and keeps track of transactions. The arguments are bound already.
final class StatementRunner {
    let statement: Statement
    private let steps: StatementSteps
    /// How it runs in a cluster, if it does.
    private let compiled: ClusterDatabase.Compiled?
    private weak var cluster: ClusterDatabase?
    /// The text as it was written, if the statement stands for one in a cluster.
    let source: UnsafeMutablePointer<CChar>?

    init(_ statement: Statement) {
        self.statement = statement
        (compiled, source) = (nil, nil)
        steps = StatementSteps(statement)
    }

    /// - Parameters:
    ///   - statement: Compiled on the connection that stands for the cluster.
    ///   - cluster: What compiles it for the cluster.
    /// - Throws: ``ClusterFailure`` for what a cluster cannot do.
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

    /// Whether it stands for a statement that only reads; `nil` if it stands for none.
    var carriesReading: Bool? {
        if case .carried(let carrier) = compiled { carrier.remote.isReading } else { nil }
    }

    /// Steps to the end.
    ///
    /// - Parameter takeRow: Called for each row that the statement returns.
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
