internal import GRDB

/// Steps a statement through GRDB, which notifies its observers and keeps track of transactions. The arguments are bound already.
final class StatementRunner {
    let statement: Statement
    private let steps: StatementSteps

    init(_ statement: Statement) {
        self.statement = statement
        steps = StatementSteps(statement)
    }

    /// Steps to the end.
    ///
    /// - Parameter takeRow: Called for each row that the statement returns.
    func run(_ takeRow: () -> Void) throws {
        try steps.forEach(takeRow)
    }
}
