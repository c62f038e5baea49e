internal import PeriluneCluster
public import GRDB

/// A database, and how it is opened, configured and migrated: for hosts, pools, previews and the container of dependencies.
///
/// ```swift
/// let host = try await ScriptHost(database: .pool("shop.sqlite", migrations: "migrations"))
/// ```
///
/// A source follows the context. In live, its file is opened. In a test nothing touches the file: the test gets a database in memory, a
/// copy of one that was migrated once. In a preview the file is copied, and the copy is used. Two sources are exceptions:
/// ``existing(_:)`` is the same database in every context, and `inEveryContext: true` opens the file in every context.
public struct DatabaseSource: Sendable {
    enum Kind: Sendable {
        case pool(String?)
        case queue(String?)
        case inMemory
        /// The URL of a database in a cluster.
        case cluster(String)
        case existing(any DatabaseWriter)
    }

    let kind: Kind
    let migrations: Migrations?
    /// The configuration that the program chose.
    let configuration: Configuration?
    let isReadonly: Bool
    let isInEveryContext: Bool
    /// Whether tests get a file too.
    let usesFilesInTests: Bool
    let trace: SQLTrace?
    /// Whether `BEGIN` opens a transaction that lasts until SQL ends it.
    var keepsTransactions = false

    private init(
        _ kind: Kind, migrations: Migrations? = nil, configuration: Configuration? = nil, readonly: Bool = false,
        inEveryContext: Bool = false, usesFilesInTests: Bool = false, trace: SQLTrace? = nil
    ) {
        self.kind = kind
        self.migrations = migrations
        self.configuration = configuration
        isReadonly = readonly || configuration?.readonly == true
        isInEveryContext = inEveryContext
        self.usesFilesInTests = usesFilesInTests
        self.trace = trace
    }

    /// A file that is read by several connections while another one writes.
    ///
    /// - Parameters:
    ///   - path: The file, created if it does not exist, or the URL of a database in a cluster (`dqlite://h1:9001,h2:9001/shop`).
    ///     `nil`: `database.sqlite` in the program's folder for data (`$XDG_DATA_HOME`, else `~/.local/share`).
    ///   - migrations: Migrations that run when the database is opened; none by default.
    ///   - readonly: Whether the database may only be read. The file must then exist, and migrations run only on the databases of tests.
    ///   - inEveryContext: Whether the file is opened in tests and previews, too.
    ///   - configuration: The configuration of the connections; by default they wait five seconds for locks.
    ///   - usesFilesInTests: Whether tests, which otherwise get a database in memory, get a pool on a temporary file.
    ///   - trace: Receives the statements.
    public static func pool(
        _ path: String? = nil, migrations: Migrations? = nil, readonly: Bool = false, inEveryContext: Bool = false,
        configuration: Configuration? = nil, usesFilesInTests: Bool = false, trace: SQLTrace? = nil
    ) -> DatabaseSource {
        DatabaseSource(
            cluster(at: path) ?? .pool(path), migrations: migrations, configuration: configuration, readonly: readonly,
            inEveryContext: inEveryContext, usesFilesInTests: usesFilesInTests, trace: trace)
    }

    /// A file that one connection uses.
    ///
    /// The parameters have the same meaning as for ``pool(_:migrations:readonly:inEveryContext:configuration:usesFilesInTests:trace:)``.
    public static func queue(
        _ path: String? = nil, migrations: Migrations? = nil, readonly: Bool = false, inEveryContext: Bool = false,
        configuration: Configuration? = nil, usesFilesInTests: Bool = false, trace: SQLTrace? = nil
    ) -> DatabaseSource {
        DatabaseSource(
            cluster(at: path) ?? .queue(path), migrations: migrations, configuration: configuration, readonly: readonly,
            inEveryContext: inEveryContext, usesFilesInTests: usesFilesInTests, trace: trace)
    }

    private static func cluster(at path: String?) -> Kind? {
        guard let path, ClusterAddress.isMeant(by: path) else { return nil }
        return .cluster(path)
    }

    /// A database in a cluster of dqlite nodes. Tests get their own database in memory, previews a copy of the whole database.
    ///
    /// - Parameters:
    ///   - servers: The addresses of nodes as `host:port`, of which one must answer.
    ///   - name: The name of the database in the cluster; made if it does not exist.
    ///   - timeout: How long a statement, the beginning of a transaction or a commit may take, from a millisecond to a day.
    ///   - migrations: A folder of migrations. Migrations in Swift write to SQLite, so they are refused here.
    ///   - trace: Receives the statements.
    public static func cluster(
        servers: [String], name: String, timeout: Duration = .seconds(10), migrations: Migrations? = nil, trace: SQLTrace? = nil
    ) -> DatabaseSource {
        let milliseconds = min(max(Int64(timeout / .milliseconds(1)), 1), 86_400_000)
        let url = "\(ClusterAddress.scheme)\(servers.joined(separator: ","))/\(name)?timeout=\(milliseconds)ms"
        return DatabaseSource(.cluster(url), migrations: migrations, trace: trace)
    }

    /// A private database in memory, in every context.
    ///
    /// - Parameters:
    ///   - migrations: Migrations that fill the database; without them it is empty.
    ///   - configuration: The configuration of the connection.
    ///   - trace: Receives the statements.
    public static func inMemory(
        migrations: Migrations? = nil, configuration: Configuration? = nil, trace: SQLTrace? = nil
    ) -> DatabaseSource {
        DatabaseSource(.inMemory, migrations: migrations, configuration: configuration, trace: trace)
    }

    /// The database of a command, the same in every context: a file, or with `nil` a database in memory.
    package static func command(_ path: String?, readonly: Bool = false, trace: SQLTrace? = nil) -> DatabaseSource {
        guard let path else { return DatabaseSource(.inMemory, readonly: readonly, trace: trace) }
        return .queue(path, readonly: readonly, inEveryContext: true, trace: trace)
    }

    /// A database that the program has open, in every context. The caller is responsible for choosing it. It is not closed.
    public static func existing(_ writer: any DatabaseWriter) -> DatabaseSource {
        DatabaseSource(.existing(writer))
    }
}

extension DatabaseSource {
    /// The configuration of connections, without the trace.
    var connectionConfiguration: Configuration {
        var connection = configuration ?? Configuration()
        if configuration == nil { ConnectionSettings().apply(to: &connection) }
        connection.readonly = isReadonly
        if keepsTransactions { connection.allowsUnsafeTransactions = true }
        return connection
    }

    /// The settings of connections in another process.
    ///
    /// - Throws: `LuaError` with code `usage` for settings that another process does not support.
    func connectionSettings() throws -> ConnectionSettings {
        var settings = try configuration.map { try ConnectionSettings($0) } ?? ConnectionSettings()
        settings.isReadonly = isReadonly
        if case .pool = kind, !isReadonly { settings.usesLog = true }
        return settings
    }

    /// The same source for a database that is written to while it is prepared.
    var writable: DatabaseSource {
        var connection = configuration
        connection?.readonly = false
        var source = DatabaseSource(
            kind, migrations: migrations, configuration: connection, inEveryContext: isInEveryContext, usesFilesInTests: usesFilesInTests,
            trace: trace)
        source.keepsTransactions = keepsTransactions
        return source
    }

    /// The path of the file; `nil` for a database without one.
    func path(isMaking: Bool = true) throws -> String? {
        switch kind {
        case .pool(let path?), .queue(let path?): path
        case .pool(nil), .queue(nil): try DataFolder.path("database.sqlite", isMaking: isMaking)
        case .inMemory, .existing, .cluster: nil
        }
    }
}
