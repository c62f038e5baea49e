/// The names of a list of migrations, and the rules that they must follow.
package struct MigrationNames {
    /// The names in the order of registration.
    package private(set) var registered: [String] = []
    private var registeredSet: Set<String> = []
    /// For each replaced migration, the name of the migration that replaces it.
    private var merging: [String: String] = [:]

    package init() {}

    /// Adds a migration.
    ///
    /// - Throws: ``MigrationError``, without adding the name.
    package mutating func register(_ name: String, merges: [String] = []) throws(MigrationError) {
        try Self.check(name)
        guard !registeredSet.contains(name) else {
            throw MigrationError("two migrations are named `\(name)`")
        }
        if let other = merging[name] {
            throw MigrationError("the migration `\(other)` merges `\(name)`, which must no longer be registered")
        }
        // A migration that reuses the name of one that it merges counts as applied if the merged one was applied.
        let merged = merges.filter { $0 != name }
        for former in merged { try checkMerging(former, into: name) }
        registered.append(name)
        registeredSet.insert(name)
        for former in merged { merging[former] = name }
    }

    /// Checks that a name is not empty and contains no NUL, at which some readers of stored text stop.
    private static func check(_ name: String) throws(MigrationError) {
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw MigrationError(
                "expected the name of a migration, got \(name.isEmpty ? "an empty string" : "a NUL in it")")
        }
    }

    private func checkMerging(_ former: String, into name: String) throws(MigrationError) {
        try Self.check(former)
        guard !registeredSet.contains(former) else {
            throw MigrationError(
                "`\(name)` cannot merge `\(former)`, which is still registered; a merged migration replaces the others"
            )
        }
        if let other = merging[former] {
            throw MigrationError("`\(name)` cannot merge `\(former)`, which `\(other)` merges")
        }
    }

    /// Returns whether a name is registered or merged by a registered migration.
    package func isKnown(_ name: String) -> Bool {
        registeredSet.contains(name) || merging[name] != nil
    }

    /// Checks that a database can be migrated up to a name: the migration is registered, and no later one has been applied.
    ///
    /// - Throws: ``MigrationError``.
    package func check(target: String, applied: Set<String>) throws(MigrationError) {
        guard let index = registered.firstIndex(of: target) else {
            throw MigrationError("unknown migration `\(target)`", kind: .unknown(name: target, names: registered))
        }
        if let later = registered[(index + 1)...].last(where: applied.contains) {
            throw MigrationError(
                "the database cannot be migrated back to `\(target)`: `\(later)`, which comes after it, has been applied"
            )
        }
    }
}

/// An error in a list of migrations, or in its use.
package struct MigrationError: Error, Equatable {
    package enum Kind: Equatable, Sendable {
        case argument
        /// No registered migration has the name.
        case unknown(name: String, names: [String])
        /// The database is read-only.
        case readonly
    }

    package let message: String
    package let kind: Kind

    init(_ message: String, kind: Kind = .argument) {
        self.message = message
        self.kind = kind
    }
}
