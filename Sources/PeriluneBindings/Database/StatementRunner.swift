internal import GRDB

/// Steps a statement through GRDB, which tells its observers and keeps its books. The arguments are bound already.
final class StatementRunner {
    let statement: Statement
    private let cursor: StepCursor

    init(_ statement: Statement) {
        self.statement = statement
        cursor = StepCursor(statement)
    }

    /// Steps to the end.
    ///
    /// - Parameter takeRow: Called for each row that the statement returns.
    func run(_ takeRow: () -> Void) throws {
        cursor._isDone = false
        try cursor.forEach { takeRow() }
    }
}

/// The cursor of a statement that the row path binds and resets.
private final class StepCursor: DatabaseCursor {
    typealias Element = Void

    let _statement: Statement
    var _isDone = false

    init(_ statement: Statement) {
        _statement = statement
    }

    func _element(sqliteStatement: SQLiteStatement) {}
}
