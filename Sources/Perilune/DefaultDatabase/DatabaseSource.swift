public import GRDB
internal import PeriluneRecords

/// A description of a database for hosts, pools, previews and the dependency container: its location, configuration and migrations.
///
/// ```swift
/// let host = try await ScriptHost(
///     database: .pool("shop.sqlite", migrations: "migrations"))
/// ```
///
/// The context determines which database is opened. In the context `live`, it is the file itself. A test uses an in-memory copy of a
/// database that was migrated once, and never opens the file. A preview uses a copy of the file. There are two exceptions: ``existing(_:)``
/// is the same database in every context, and `inEveryContext: true` opens the file in every context.
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
    /// The configuration given by the program; `nil` for the default settings.
    let configuration: Configuration?
    let isReadonly: Bool
    let isInEveryContext: Bool
    /// Whether tests use a temporary file instead of an in-memory database.
    let usesFilesInTests: Bool
    let trace: SQLTrace?
    let journal: JournalOptions
    /// Whether a transaction that a script opens with `BEGIN` stays open until a statement ends it.
    var keepsTransactions = false

    private init(
        _ kind: Kind, migrations: Migrations? = nil, configuration: Configuration? = nil, readonly: Bool = false,
        inEveryContext: Bool = false, usesFilesInTests: Bool = false, journal: JournalOptions = JournalOptions(),
        trace: SQLTrace? = nil
    ) {
        self.kind = kind
        self.journal = journal
        self.migrations = migrations
        self.configuration = configuration
        isReadonly = readonly || configuration?.readonly == true
        isInEveryContext = inEveryContext
        self.usesFilesInTests = usesFilesInTests
        self.trace = trace
    }

    /// Returns a database file with several connections, which can read while one connection writes.
    ///
    /// - Parameters:
    ///   - path: The path of the file, created if missing, or the URL of a database in a cluster
    ///     (`dqlite://h1:9001,h2:9001/shop`). By default `database.sqlite` in the program's data folder (in `$XDG_DATA_HOME`,
    ///     else in `~/.local/share`).
    ///   - migrations: The migrations to run when the database is opened; none by default.
    ///   - readonly: Whether the database is readonly. A readonly file must exist, and migrations run only on the databases of tests.
    ///   - inEveryContext: Whether tests and previews also open the file.
    ///   - configuration: The configuration of the connections. By default, connections wait five seconds for locks.
    ///   - usesFilesInTests: Whether tests use a pool on a temporary file instead of an in-memory database.
    ///   - synchronous: The synchronization of commits; by default `normal`. A pool always has a write-ahead log.
    ///   - trace: The trace that receives the executed statements.
    public static func pool(
        _ path: String? = nil, migrations: Migrations? = nil, readonly: Bool = false, inEveryContext: Bool = false,
        configuration: Configuration? = nil, usesFilesInTests: Bool = false, synchronous: Synchronous? = nil,
        trace: SQLTrace? = nil
    ) -> DatabaseSource {
        DatabaseSource(
            cluster(at: path) ?? .pool(path), migrations: migrations, configuration: configuration, readonly: readonly,
            inEveryContext: inEveryContext, usesFilesInTests: usesFilesInTests,
            journal: JournalOptions(synchronous: synchronous), trace: trace)
    }

    /// Returns a database file with one connection.
    ///
    /// - Parameters:
    ///   - path: The path of the file or the URL of a database in a cluster, with the same default as for a pool.
    ///   - migrations: The migrations to run when the database is opened; none by default.
    ///   - readonly: Whether the database is readonly. A readonly file must exist, and migrations run only on the databases of tests.
    ///   - inEveryContext: Whether tests and previews also open the file.
    ///   - configuration: The configuration of the connection. By default, it waits five seconds for locks.
    ///   - usesFilesInTests: Whether tests use a temporary file instead of an in-memory database.
    ///   - journal: The journal of a new file. By default, it has a write-ahead log if the file system supports it. An existing file keeps
    ///     its journal.
    ///   - synchronous: The synchronization of commits; by default `full`.
    ///   - trace: The trace that receives the executed statements.
    public static func queue(
        _ path: String? = nil, migrations: Migrations? = nil, readonly: Bool = false, inEveryContext: Bool = false,
        configuration: Configuration? = nil, usesFilesInTests: Bool = false, journal: Journal? = nil,
        synchronous: Synchronous? = nil, trace: SQLTrace? = nil
    ) -> DatabaseSource {
        DatabaseSource(
            cluster(at: path) ?? .queue(path), migrations: migrations, configuration: configuration, readonly: readonly,
            inEveryContext: inEveryContext, usesFilesInTests: usesFilesInTests,
            journal: JournalOptions(mode: journal, synchronous: synchronous), trace: trace)
    }

    private static func cluster(at path: String?) -> Kind? {
        guard let path, ClusterAddress.isMeant(by: path) else { return nil }
        return .cluster(path)
    }

    /// Returns a database in a cluster of dqlite nodes. A test uses a separate in-memory database, and a preview uses a copy of the whole
    /// database.
    ///
    /// The program must depend on the product PeriluneCluster, and call `Clusters.enable()` before it opens the database.
    ///
    /// - Parameters:
    ///   - servers: The addresses of nodes as `host:port`. At least one node must be reachable.
    ///   - name: The name of the database in the cluster, created if missing.
    ///   - timeout: The maximum duration of a statement, of the start of a transaction, or of a commit, from a millisecond to a day.
    ///   - migrations: A folder of migrations. Migrations in Swift are rejected, because they write to SQLite in this process.
    ///   - trace: The trace that receives the executed statements.
    public static func cluster(
        servers: [String], name: String, timeout: Duration = .seconds(10), migrations: Migrations? = nil, trace: SQLTrace? = nil
    ) -> DatabaseSource {
        let milliseconds = min(max(Int64(timeout / .milliseconds(1)), 1), 86_400_000)
        let url = "\(ClusterAddress.scheme)\(servers.joined(separator: ","))/\(name)?timeout=\(milliseconds)ms"
        return DatabaseSource(.cluster(url), migrations: migrations, trace: trace)
    }

    /// Returns a private in-memory database, in every context.
    ///
    /// - Parameters:
    ///   - migrations: The migrations that fill the database, which is empty by default.
    ///   - configuration: The configuration of the connection.
    ///   - trace: The trace that receives the executed statements.
    public static func inMemory(
        migrations: Migrations? = nil, configuration: Configuration? = nil, trace: SQLTrace? = nil
    ) -> DatabaseSource {
        DatabaseSource(.inMemory, migrations: migrations, configuration: configuration, trace: trace)
    }

    /// Returns the database of a command: a file in every context, or an in-memory database if `path` is `nil`.
    package static func command(_ path: String?, readonly: Bool = false, trace: SQLTrace? = nil) -> DatabaseSource {
        guard let path else { return DatabaseSource(.inMemory, readonly: readonly, trace: trace) }
        return .queue(path, readonly: readonly, inEveryContext: true, trace: trace)
    }

    /// Returns a database that the program has already opened. The program can use it with GRDB while scripts use it. Every context,
    /// including tests and previews, uses this database. Perilune neither migrates nor closes it.
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

    /// Returns the settings of connections in another process.
    ///
    /// - Throws: `LuaError` with code `usage` for settings that another process does not support.
    func connectionSettings() throws -> ConnectionSettings {
        var settings = try configuration.map { try ConnectionSettings($0) } ?? ConnectionSettings()
        settings.isReadonly = isReadonly
        if case .pool = kind, !isReadonly { settings.usesLog = true }
        settings.journal = journal.completed
        return settings
    }

    /// Whether the program has opened the database.
    var isExisting: Bool { if case .existing = kind { true } else { false } }

    /// The same source with write access, used to fill a database before it is opened as readonly.
    var writable: DatabaseSource {
        var connection = configuration
        connection?.readonly = false
        var source = DatabaseSource(
            kind, migrations: migrations, configuration: connection, inEveryContext: isInEveryContext,
            usesFilesInTests: usesFilesInTests,
            journal: journal, trace: trace)
        source.keepsTransactions = keepsTransactions
        return source
    }

    /// Returns the path of the file; `nil` for a database without a file.
    func path(isMaking: Bool = true) throws -> String? {
        switch kind {
        case .pool(let path?), .queue(let path?): path
        case .pool(nil), .queue(nil): try DataFolder.path("database.sqlite", isMaking: isMaking)
        case .inMemory, .existing, .cluster: nil
        }
    }
}
