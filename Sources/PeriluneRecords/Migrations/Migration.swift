package import GRDB

/// A step in the history of a schema, which runs once in each database.
package struct Migration {
    /// The handling of foreign keys while a migration runs.
    package enum ForeignKeyChecks: String, CaseIterable, Sendable {
        /// Not enforced, and checked at the end, so that tables can be rebuilt.
        case deferred
        /// Enforced with each statement.
        case immediate
        /// Neither enforced nor checked.
        case disabled
    }

    package let name: String
    package let foreignKeyChecks: ForeignKeyChecks
    /// The older migrations that this one replaces.
    package let merges: [String]
    /// Runs inside a transaction, with the names among ``merges`` that have been applied to the database.
    package let body: (Database, _ applied: Set<String>) throws -> Void

    package init(
        _ name: String, foreignKeyChecks: ForeignKeyChecks = .deferred, merges: [String] = [],
        body: @escaping (Database, _ applied: Set<String>) throws -> Void
    ) {
        self.name = name
        self.foreignKeyChecks = foreignKeyChecks
        self.merges = merges
        self.body = body
    }
}
