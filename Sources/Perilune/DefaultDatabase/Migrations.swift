internal import Foundation
public import GRDB
internal import PeriluneBindings
internal import PeriluneLua

/// Migrations that bring a database to its schema. A string denotes a folder of migrations.
///
/// Tests copy a database that was migrated once by the same migrations. Migrations in Swift are the same only if they are one value, so
/// keep it, in a static property for example. Migrations in a folder are the same if the files are.
public struct Migrations: Sendable, ExpressibleByStringInterpolation {
    /// Identifies the contents, for the databases that tests copy.
    enum Identity: Hashable, Sendable {
        case object(Token)
        case files([String: Data])
    }

    /// Identifies migrations in Swift. Everything that is keyed by it retains it, because the address of a freed object may be reused.
    final class Token: Hashable, Sendable {
        static func == (first: Token, second: Token) -> Bool { first === second }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    private let token: Token
    /// The folder, if they are files.
    private let folder: String?
    let migrate: @Sendable (any DatabaseWriter, ScriptEnvironment) throws -> Void

    private init(folder: String? = nil, _ migrate: @escaping @Sendable (any DatabaseWriter, ScriptEnvironment) throws -> Void) {
        token = Token()
        self.folder = folder
        self.migrate = migrate
    }

    /// A folder of migrations, in Lua and SQL.
    public init(stringLiteral folder: String) {
        self = .folder(folder)
    }

    /// A folder of migrations in Lua and SQL, as run by `perilune migrate`.
    public static func folder(_ path: String) -> Migrations {
        Migrations(folder: path) { writer, environment in
            // Lua needs more stack than threads of Swift concurrency have.
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

    /// Whether they are files, whose statements scripts run.
    var isFolder: Bool { folder != nil }

    /// Returns the identity of these migrations.
    func identity() throws -> Identity {
        guard let folder else { return .object(token) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let files = names.filter { $0.hasSuffix(".lua") || $0.hasSuffix(".sql") }
        let contents = try files.map { ($0, try Data(contentsOf: URL(filePath: "\(folder)/\($0)"))) }
        return .files(Dictionary(uniqueKeysWithValues: contents))
    }

    /// Migrations written in Swift.
    public static func migrator(_ migrator: DatabaseMigrator) -> Migrations {
        Migrations { writer, _ in try migrator.migrate(writer) }
    }

    /// A Lua script that brings a database to its schema, whatever it was before. It runs each time the database is opened.
    ///
    /// - Parameter source: The text of the script, which sees the database as `db`.
    public static func script(_ source: String) -> Migrations {
        Migrations { writer, environment in
            try LuaThread().run {
                let state = try LuaState(libraries: .sandboxed)
                try ScriptSetup(database: writer, allowsFiles: false, environment: environment).installWithChangesets(in: state)
                try state.load(LuaString(source), named: "migration").call([])
            }
        }
    }

    /// A closure that brings a database to its schema in one transaction, whatever it was before.
    public static func inTransaction(_ body: @escaping @Sendable (Database) throws -> Void) -> Migrations {
        Migrations { writer, _ in try writer.write(body) }
    }
}
