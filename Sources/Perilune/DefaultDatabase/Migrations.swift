internal import Foundation
public import GRDB
internal import PeriluneBindings
internal import PeriluneLua

/// The migrations that create or update the schema of a database. A string literal is the path of a folder of migrations.
///
/// Tests that use the same migrations copy a database that was migrated once. Migrations in Swift are the same only if they are
/// the same value, so store the value, for example in a static property. Migrations in folders are the same if their files are
/// the same.
public struct Migrations: Sendable, ExpressibleByStringInterpolation {
    /// The identity of migrations, to reuse the databases that tests copy.
    enum Identity: Hashable, Sendable {
        case object(Token)
        case files([String: Data])
    }

    /// The identity of migrations in Swift. Dictionaries must retain their tokens, because the address of a freed object may be
    /// reused.
    final class Token: Hashable, Sendable {
        static func == (first: Token, second: Token) -> Bool { first === second }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    /// The form in which the migrations are written.
    enum Source: Sendable {
        case folder(String)
        case migrator(DatabaseMigrator)
        /// The text of a Lua script.
        case script(String)
        case closure(@Sendable (Database) throws -> Void)
    }

    private let token: Token
    let source: Source
    /// Whether a database may have migrations that these lack.
    var acceptsUnknown = false
    /// Whether private copies of a database are made again if applied migrations have changed.
    var erasesOnSchemaChange = false

    private init(_ source: Source) {
        token = Token()
        self.source = source
    }

    /// Creates migrations from a folder of Lua and SQL files.
    public init(stringLiteral folder: String) {
        self = .folder(folder)
    }

    /// A folder of migrations in Lua and SQL, as run by `perilune migrate`.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - acceptsUnknown: Whether a database is opened that has migrations which the folder lacks. By default that fails: a newer version
    ///     of the program has migrated it.
    ///   - erasesOnSchemaChange: Whether the copy of a database in a preview is emptied and migrated again if applied migrations were
    ///     edited, renamed or removed. A live database is never emptied, and a test always has a new one.
    public static func folder(_ path: String, acceptsUnknown: Bool = false, erasesOnSchemaChange: Bool = false) -> Migrations {
        var migrations = Migrations(.folder(path))
        (migrations.acceptsUnknown, migrations.erasesOnSchemaChange) = (acceptsUnknown, erasesOnSchemaChange)
        return migrations
    }

    /// Whether the migrations are files in a folder.
    var isFolder: Bool { if case .folder = source { true } else { false } }

    /// Returns the identity of these migrations.
    func identity() throws -> Identity {
        guard case .folder(let folder) = source else { return .object(token) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let files = names.filter { $0.hasSuffix(".lua") || $0.hasSuffix(".sql") }
        let contents = try files.map { ($0, try Data(contentsOf: URL(filePath: "\(folder)/\($0)"))) }
        return .files(Dictionary(uniqueKeysWithValues: contents))
    }

    /// Returns migrations written in Swift.
    ///
    /// - Parameters:
    ///   - migrator: The migrations.
    ///   - acceptsUnknown: Whether a database may have applied migrations that the migrator does not contain. By default, opening
    ///     it fails, because a newer version of the program has migrated it.
    public static func migrator(_ migrator: DatabaseMigrator, acceptsUnknown: Bool = false) -> Migrations {
        var migrations = Migrations(.migrator(migrator))
        migrations.acceptsUnknown = acceptsUnknown
        return migrations
    }

    /// Returns a Lua script as migrations. The script must create or update the schema from any previous state, because it runs
    /// each time the database is opened.
    ///
    /// - Parameter source: The text of the script, in which the database is `db`.
    public static func script(_ source: String) -> Migrations {
        Migrations(.script(source))
    }

    /// Returns a closure as migrations, which runs in a transaction. The closure must create or update the schema from any
    /// previous state, because it runs each time the database is opened.
    public static func inTransaction(_ body: @escaping @Sendable (Database) throws -> Void) -> Migrations {
        Migrations(.closure(body))
    }
}
