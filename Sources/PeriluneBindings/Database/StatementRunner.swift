internal import Foundation
internal import GRDB
internal import PeriluneRecords

/// A runner that executes a statement through GRDB, which notifies observers and tracks transactions. The row path has already
/// bound the arguments.
final class StatementRunner {
    let statement: Statement
    private let steps: StatementSteps
    private let placed: any PlacedStatement
    /// The original SQL text if the statement is a local placeholder for a statement in a cluster.
    let source: UnsafeMutablePointer<CChar>?

    init(_ placed: any PlacedStatement) {
        self.placed = placed
        statement = placed.statement
        source = placed.source.map { strdup($0) }
        steps = StatementSteps(statement)
    }

    deinit { free(source) }

    /// Whether the statement in the cluster is read-only; `nil` if the statement is not a placeholder.
    var carriesReading: Bool? { placed.carriesReading }

    /// Executes the statement until it returns no more rows.
    ///
    /// - Parameter takeRow: Called for each row.
    func run(_ takeRow: () -> Void) throws { try placed.run { try steps.forEach(takeRow) } }
}
