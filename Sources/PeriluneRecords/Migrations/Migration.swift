package import GRDB

/// A step of a schema's history, which runs once in each database.
package struct Migration {
    /// The treatment of foreign keys while a migration runs.
    package enum ForeignKeyChecks: String, CaseIterable, Sendable {
        /// Not enforced while the migration runs, so that it can rebuild tables; checked at its end.
        case deferred
        /// Enforced for each statement.
        case immediate
        /// Neither enforced nor checked.
        case disabled
    }

    package let name: String
    package let foreignKeyChecks: ForeignKeyChecks
    /// The names of the older migrations that this one replaces.
    package let merges: [String]
    /// The closure that migrates a database inside a transaction. It receives the names among ``merges`` that have already been
    /// applied.
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
