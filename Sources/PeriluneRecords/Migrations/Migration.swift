package import GRDB

/// A step in the history of a schema, which is taken once in each database.
package struct Migration {
    /// What becomes of foreign keys while a migration runs.
    package enum ForeignKeyChecks: String, CaseIterable, Sendable {
        /// They are not enforced; before the end all of them are checked. What lets tables be made anew.
        case deferred
        /// They are enforced with each statement.
        case immediate
        /// They are neither enforced nor checked.
        case disabled
    }

    package let name: String
    package let foreignKeyChecks: ForeignKeyChecks
    /// The migrations of former versions that this one replaces.
    package let merges: [String]
    /// Runs inside a transaction, with the names among ``merges`` that the database has seen.
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
