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

    private let token: Token
    /// The folder of migration files; `nil` for migrations in Swift.
    private let folder: String?
    let migrate: @Sendable (any DatabaseWriter, ScriptEnvironment) throws -> Void

    private init(folder: String? = nil, _ migrate: @escaping @Sendable (any DatabaseWriter, ScriptEnvironment) throws -> Void) {
        token = Token()
        self.folder = folder
        self.migrate = migrate
    }

    /// Creates migrations from a folder of Lua and SQL files.
    public init(stringLiteral folder: String) {
        self = .folder(folder)
    }

    /// Returns the migrations in a folder of Lua and SQL files, as run by `perilune migrate`.
    public static func folder(_ path: String) -> Migrations {
        Migrations(folder: path) { writer, environment in
            // Lua needs a larger stack than the threads of Swift concurrency provide.
            try LuaThread().run {
                let state = try LuaState(libraries: .trusted)
                try ScriptSetup(database: writer, allowsFiles: true, environment: environment).installWithChangesets(in: state)
                let migrations = try ScriptMigrations(in: state)
                try migrations.register(folder: path)
                try migrations.migrate(upTo: nil) { _, _ in }
                let status = try migrations.status()
                if !status.unknown.isEmpty {
                    environment.logger.warning("the database has migrations that \(path) lacks: \(status.unknown.joined(separator: ", "))")
                }
                if !status.edited.isEmpty {
                    environment.logger.warning("migrations of \(path) were edited after they were applied: \(status.edited.joined(separator: ", "))")
                }
            }
        }
    }

    /// Whether the migrations are files in a folder.
    var isFolder: Bool { folder != nil }

    /// Returns the identity of these migrations.
    func identity() throws -> Identity {
        guard let folder else { return .object(token) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let files = names.filter { $0.hasSuffix(".lua") || $0.hasSuffix(".sql") }
        let contents = try files.map { ($0, try Data(contentsOf: URL(filePath: "\(folder)/\($0)"))) }
        return .files(Dictionary(uniqueKeysWithValues: contents))
    }

    /// Returns migrations written in Swift.
    public static func migrator(_ migrator: DatabaseMigrator) -> Migrations {
        Migrations { writer, _ in try migrator.migrate(writer) }
    }

    /// Returns a Lua script as migrations. The script must create or update the schema from any previous state, because it runs
    /// each time the database is opened.
    ///
    /// - Parameter source: The text of the script, in which the database is `db`.
    public static func script(_ source: String) -> Migrations {
        Migrations { writer, environment in
            try LuaThread().run {
                let state = try LuaState(libraries: .sandboxed)
                try ScriptSetup(database: writer, allowsFiles: false, environment: environment).installWithChangesets(in: state)
                try state.load(LuaString(source), named: "migration").call([])
            }
        }
    }

    /// Returns a closure as migrations, which runs in a transaction. The closure must create or update the schema from any
    /// previous state, because it runs each time the database is opened.
    public static func inTransaction(_ body: @escaping @Sendable (Database) throws -> Void) -> Migrations {
        Migrations { writer, _ in try writer.write(body) }
    }
}
