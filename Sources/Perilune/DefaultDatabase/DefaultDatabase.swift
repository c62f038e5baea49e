internal import Foundation
internal import PeriluneCluster
public import GRDB
public import PeriluneDependencies

/// How the default database is made, in every context by the same steps: it is opened, configured and migrated.
///
/// ```swift
/// try await Dependencies.prepare { $0.defaultDatabase = .pool("shop.sqlite", migrations: "migrations") }
/// ```
///
/// In live the file is opened. In a test nothing touches it: each test gets a database in memory of its own, a copy of one that
/// was migrated once. In a preview the file is copied, and the copy is used.
public struct DefaultDatabase: Sendable {
    enum Kind: Sendable {
        case pool(String?)
        case queue(String?)
        case inMemory
        /// The URL of a database in a cluster.
        case cluster(String)
        case given(any DatabaseWriter)
    }

    let kind: Kind
    let migrations: Migrations?
    let configuration: Configuration
    /// Whether tests get a file too.
    let usesFilesInTests: Bool
    /// `nil`: statements are not reported.
    var trace: Trace?

    init(
        _ kind: Kind, migrations: Migrations? = nil, configuration: Configuration = Configuration(),
        usesFilesInTests: Bool = false
    ) {
        self.kind = kind
        self.migrations = migrations
        self.configuration = configuration
        self.usesFilesInTests = usesFilesInTests
    }

    /// In a log of changes even a reader may lock the writer out for a moment, when they meet.
    private static var waitingForLocks: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        return configuration
    }

    /// A file that is read by several connections while another one writes.
    ///
    /// - Parameters:
    ///   - path: The file, created if it does not exist. `nil`: `database.sqlite` in the program's folder for data (`$XDG_DATA_HOME`,
    ///     else `~/.local/share`).
    ///   - migrations: Migrations that run when the database is opened; none by default.
    ///   - configuration: Of the connections; by default they wait five seconds for locks.
    ///   - usesFilesInTests: Whether tests, which else get a database in memory, get a pool on a temporary file.
    public static func pool(
        _ path: String? = nil, migrations: Migrations? = nil, configuration: Configuration? = nil,
        usesFilesInTests: Bool = false
    ) -> DefaultDatabase {
        DefaultDatabase(
            .pool(path), migrations: migrations, configuration: configuration ?? waitingForLocks, usesFilesInTests: usesFilesInTests)
    }

    /// A file that one connection uses.
    public static func queue(
        _ path: String? = nil, migrations: Migrations? = nil, configuration: Configuration? = nil,
        usesFilesInTests: Bool = false
    ) -> DefaultDatabase {
        DefaultDatabase(
            .queue(path), migrations: migrations, configuration: configuration ?? waitingForLocks, usesFilesInTests: usesFilesInTests)
    }

    /// A database in a cluster of dqlite nodes. Tests get their own database in memory, previews a copy of the whole database.
    ///
    /// - Parameters:
    ///   - servers: The addresses of nodes as `host:port`, of which one must answer.
    ///   - name: The name of the database in the cluster; made if it does not exist.
    ///   - timeout: How long a statement, the beginning of a transaction or a commit may take, from a millisecond to a day.
    ///   - migrations: A folder of migrations. Migrations in Swift write to SQLite, so they are refused here.
    public static func cluster(
        servers: [String], name: String, timeout: Duration = .seconds(10), migrations: Migrations? = nil
    ) -> DefaultDatabase {
        let milliseconds = min(max(Int64(timeout / .milliseconds(1)), 1), 86_400_000)
        let url = "\(ClusterAddress.scheme)\(servers.joined(separator: ","))/\(name)?timeout=\(milliseconds)ms"
        return DefaultDatabase(.cluster(url), migrations: migrations)
    }

    /// A database in memory, in every context.
    public static func inMemory(
        migrations: Migrations? = nil, configuration: Configuration = Configuration()
    ) -> DefaultDatabase {
        DefaultDatabase(.inMemory, migrations: migrations, configuration: configuration)
    }

    /// An existing database in every context. The caller is responsible for choosing it. It is not closed.
    public static func database(_ writer: any DatabaseWriter) -> DefaultDatabase {
        DefaultDatabase(.given(writer))
    }
}

/// The key of the default database.
///
/// Closing the container lets go of it: it is closed when the last host that uses it is gone, since nothing survives the use of
/// a closed one.
public enum DefaultDatabaseKey: DependencyKey {
    public static let name = "defaultDatabase"
    public static let belongsToOneTest = true

    public static func defaultSource(in context: DependencyContext) -> DependencyDefault<DefaultDatabase> {
        switch context {
        case .live:
            .none(
                cure: "call `try await Dependencies.prepare { $0.defaultDatabase = .pool(\"app.sqlite\") }` at the start of "
                    + "the program")
        case .test:
            .reported(
                .inMemory(),
                cure: "give the test one with the trait `.defaultDatabase()` of PeriluneTestSupport, or prepare one; "
                    + "an empty database in memory is used for now")
        case .preview:
            .reported(.inMemory(), cure: "prepare one at the start of the program; an empty database in memory is used for now")
        }
    }

    public static func makeValue(of source: DefaultDatabase, in scope: Dependencies) async throws -> any DatabaseWriter {
        try await DefaultDatabaseMaker(source: source, environment: .resolve(in: scope)).make()
    }
}

extension DependencyValues {
    /// The database that scripts see as `db`.
    public var defaultDatabase: DefaultDatabase? {
        get { self[DefaultDatabaseKey.self] }
        set { self[DefaultDatabaseKey.self] = newValue }
    }
}

extension Dependencies {
    /// The default database, as the current task sees it.
    public static var defaultDatabase: any DatabaseWriter {
        get async throws { try await value(for: DefaultDatabaseKey.self) }
    }
}
