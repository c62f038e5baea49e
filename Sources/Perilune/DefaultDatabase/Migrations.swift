internal import Foundation
public import GRDB
internal import PeriluneBindings
internal import PeriluneLua

/// Migrations that create or update the schema of a database. A string literal is the path of a folder with migrations.
///
/// They are applied when Perilune opens the database. A database that the program has opened is migrated by the program, for example with
/// GRDB's `DatabaseMigrator`.
///
/// Tests with equal migrations copy a database that was migrated once. Migrations in folders are equal if their files are equal. Migrations
/// in Swift are equal only to copies of themselves, so store them, for example in a static property.
public struct Migrations: Sendable, ExpressibleByStringInterpolation {
    /// The identity of migrations, the cache key of the databases that tests copy.
    enum Identity: Hashable, Sendable {
        case object(Token)
        case files([String: Data])
    }

    /// The identity of migrations in Swift. A cache must retain its tokens, because the address of a released object may be reused.
    final class Token: Hashable, Sendable {
        static func == (first: Token, second: Token) -> Bool { first === second }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    /// The definition of the migrations.
    enum Source: Sendable {
        case folder(String)
        case migrator(DatabaseMigrator)
        /// The text of a Lua script.
        case script(String)
        case closure(@Sendable (Database) throws -> Void)
    }

    private let token: Token
    let source: Source
    /// Whether a database may have applied migrations that are not defined here.
    var acceptsUnknown = false
    /// Whether the copy of a database in a preview is erased and migrated again if applied migrations have changed.
    var erasesOnSchemaChange = false

    private init(_ source: Source) {
        token = Token()
        self.source = source
    }

    /// Creates migrations from a folder of Lua and SQL files.
    public init(stringLiteral folder: String) {
        self = .folder(folder)
    }

    /// Returns the migrations in a folder of Lua and SQL files, as used by `perilune migrate`.
    ///
    /// - Parameters:
    ///   - path: The path of the folder.
    ///   - acceptsUnknown: Whether a database may have applied migrations that the folder does not contain. By default, opening such a
    ///     database fails, because a newer version of the program has migrated it.
    ///   - erasesOnSchemaChange: Whether the copy of a database in a preview is erased and migrated again if applied migrations were
    ///     edited, renamed or removed. A live database is never erased, and a test always has a new database.
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
    ///   - acceptsUnknown: Whether a database may have applied migrations that the migrator does not contain. By default, opening such a
    ///     database fails, because a newer version of the program has migrated it.
    public static func migrator(_ migrator: DatabaseMigrator, acceptsUnknown: Bool = false) -> Migrations {
        var migrations = Migrations(.migrator(migrator))
        migrations.acceptsUnknown = acceptsUnknown
        return migrations
    }

    /// Returns a Lua script as migrations. The script runs each time the database is opened, so it must be able to update the schema from
    /// any previous state.
    ///
    /// - Parameter source: The source text of the script, which accesses the database as `db`.
    public static func script(_ source: String) -> Migrations {
        Migrations(.script(source))
    }

    /// Returns a closure as migrations. The closure runs in a transaction each time the database is opened, so it must be able to update
    /// the schema from any previous state.
    public static func inTransaction(_ body: @escaping @Sendable (Database) throws -> Void) -> Migrations {
        Migrations(.closure(body))
    }
}
