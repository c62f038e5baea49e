package import GRDB

// All that Perilune has of GRDB beside what GRDB promises: what it keeps to itself, read by reflection, and names with an underscore.
// The package is pinned to GRDB 7.10 for its sake; GRDBInternalsTests fail by the name of the part that another version lacks.

extension Database {
    /// Whether observers of transactions may be registered.
    ///
    /// Read of `Database.observationBroker.transactionObservations`. Where that is not found, the answer is yes, which costs time but
    /// nothing else.
    package var mayBeObserved: Bool {
        let observers = Mirror(reflecting: self).descendant("observationBroker", "some", "transactionObservations")
        guard let observers else { return true }
        return Mirror(reflecting: observers).children.count > 0
    }
}

/// The savepoints that Swift has opened on a connection.
///
/// Read of `Database.observationBroker.savepointStack.savepoints`.
package struct OpenSavepoints {
    /// An object of GRDB's that stays the same as long as the connection.
    private let stack: Any

    /// `nil` if GRDB keeps them elsewhere.
    package init?(on db: Database) {
        guard let stack = Mirror(reflecting: db).descendant("observationBroker", "some", "savepointStack") else { return nil }
        self.stack = stack
    }

    /// How many are open; `nil` if GRDB keeps them elsewhere.
    package var count: Int? {
        Mirror(reflecting: stack).descendant("savepoints").map { Mirror(reflecting: $0).children.count }
    }
}

/// Steps a statement through GRDB, again and again, without taking its values.
///
/// `DatabaseCursor` is public; what a type needs to be one (`_statement`, `_isDone`, `_element`) has underscores. A cursor of GRDB's own
/// would reset the arguments, which the row path has bound.
package final class StatementSteps {
    private let cursor: Cursor

    package init(_ statement: Statement) {
        cursor = Cursor(statement)
    }

    /// Steps to the end.
    ///
    /// - Parameter takeRow: Called for each row that the statement returns.
    package func forEach(_ takeRow: () -> Void) throws {
        cursor._isDone = false
        try cursor.forEach { takeRow() }
    }

    private final class Cursor: DatabaseCursor {
        typealias Element = Void

        let _statement: Statement
        var _isDone = false

        init(_ statement: Statement) {
            _statement = statement
        }

        func _element(sqliteStatement: SQLiteStatement) {}
    }
}
