public import GRDB

/// What brings a database to its schema.
///
/// Keep it, in a static property for example: tests copy a database that was migrated once by the same migrations.
public struct Migrations: Sendable {
    /// Tells contents apart, for the databases that tests copy.
    enum Identity: Hashable, Sendable {
        case object(ObjectIdentifier)
    }

    private final class Token: Sendable {}

    private let token: Token
    let migrate: @Sendable (any DatabaseWriter) throws -> Void

    var identity: Identity { .object(ObjectIdentifier(token)) }

    private init(_ migrate: @escaping @Sendable (any DatabaseWriter) throws -> Void) {
        token = Token()
        self.migrate = migrate
    }

    /// Migrations written in Swift.
    public static func migrator(_ migrator: DatabaseMigrator) -> Migrations {
        Migrations { try migrator.migrate($0) }
    }

    /// A closure that brings a database to its schema in one transaction, whatever it was before.
    public static func closure(_ body: @escaping @Sendable (Database) throws -> Void) -> Migrations {
        Migrations { try $0.write(body) }
    }
}
