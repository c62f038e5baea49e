package import GRDB

/// A statement that runs at the place of its database.
package protocol PlacedStatement {
    /// The local statement to bind, step and read, valid as long as this value.
    var statement: Statement { get }
    /// The text of the statement that the local one represents; `nil` if it represents none.
    var source: String? { get }
    /// Whether the represented statement only reads; `nil` if the local one represents none.
    var carriesReading: Bool? { get }
    /// Runs the statement.
    ///
    /// - Parameter body: Steps the local statement to its end.
    func run(_ body: () throws -> Void) throws
}

extension PlacedStatement {
    /// Executes a statement that returns no rows.
    package func execute(_ arguments: StatementArguments = StatementArguments()) throws {
        try run { try statement.execute(arguments: arguments) }
    }
}

/// A statement of a database in this process.
struct LocalStatement: PlacedStatement {
    let statement: Statement
    var source: String? { nil }
    var carriesReading: Bool? { nil }

    func run(_ body: () throws -> Void) throws { try body() }
}
