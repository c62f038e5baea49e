package import GRDB

/// A statement that runs at the place of its database.
package protocol PlacedStatement {
    /// The local statement to bind, step and read. It is valid as long as this value exists.
    var statement: Statement { get }
    /// The SQL of the cluster statement that the local statement represents, if any.
    var source: String? { get }
    /// Whether that cluster statement only reads; `nil` if the local statement represents none.
    var carriesReading: Bool? { get }
    /// Runs the statement.
    ///
    /// - Parameter body: Steps the local statement until it is done.
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
