internal import Foundation
internal import GRDB
internal import PeriluneRecords

/// A runner of statements through GRDB, which notifies observers and tracks transactions. The arguments are already bound.
final class StatementRunner {
    let statement: Statement
    private let steps: StatementSteps
    private let placed: any PlacedStatement
    /// The original text, if the statement represents one in a cluster.
    let source: UnsafeMutablePointer<CChar>?

    init(_ placed: any PlacedStatement) {
        self.placed = placed
        statement = placed.statement
        source = placed.source.map { strdup($0) }
        steps = StatementSteps(statement)
    }

    deinit { free(source) }

    /// Whether the represented statement only reads; `nil` if it represents none.
    var carriesReading: Bool? { placed.carriesReading }

    /// Executes the statement to its end.
    ///
    /// - Parameter takeRow: Called for each row.
    func run(_ takeRow: () -> Void) throws { try placed.run { try steps.forEach(takeRow) } }
}
