public import GRDB
package import PeriluneBindings
internal import PeriluneCluster
internal import PeriluneDependencies
public import PeriluneLua

/// How a host is set up.
extension ScriptHost {
    /// The settings of a host.
    public struct Configuration: Sendable {
        /// The location of the default database, `db`.
        public enum Database: Sendable {
            /// From the container of dependencies: the database given to `Dependencies.prepare`, or the test's.
            case prepared
            /// A private database in memory, empty at first.
            case inMemory
            /// A file, which is made if it does not exist. It is opened in every context: naming it is the caller's responsibility.
            ///
            /// `dqlite://h1:9001,h2:9001/shop` names a database in a cluster, which is reached through these nodes.
            case file(String)
            /// One that is open, and that others may use too.
            case open(any DatabaseWriter)
        }

        /// The default database.
        public var database: Database
        /// Whether the default database may only be read. For one that the host opens.
        public var isReadonly = false
        /// The standard functions that scripts have. Harmless ones by default.
        public var libraries: LuaLibraries = .sandboxed
        /// The limits of one run.
        public var limits: LuaLimits = .none
        /// Whether Lua behaves the same in each process: `pairs` and `next` visit keys in a fixed order, and numbers replace addresses.
        /// Tests and previews always behave so. Clock and random numbers come from the container.
        public var isDeterministic = false
        /// Whether scripts may open database files and use SQL that reaches files (`ATTACH`, `VACUUM INTO`).
        public var allowsFiles = false
        /// The paths of SQLite extensions, which each connection that scripts use loads. They are native code, which no limit restrains:
        /// list only extensions that are safe for scripts, even in a sandbox. Scripts cannot load any.
        public var extensions: [String] = []
        /// The places in which `require` looks for modules, in this order; Swift modules (``ScriptHost/register(module:_:_:)``) come
        /// first.
        public var modules: [ModuleSource] = []
        /// The folder in which `require` looks for modules last, as a script of the command line expects it: `package.path`
        /// begins as this folder, and scripts may change it. `nil`: nowhere.
        public var moduleFolder: String?
        /// The destination of lines that scripts print.
        public var output = ScriptOutput.standardOutput
        /// How many bytes scripts may print to standard output, in all; `nil`: no limit. More is an error of kind `output`.
        public var outputLimitInBytes: Int?
        /// How large the default database may become, in bytes; `nil`: as large as the disk has room. Writing more is an error of kind `full`,
        /// for scripts and for the program, on the connection that scripts use. Whole pages count; the write-ahead log does not.
        public var diskQuota: Int?
        /// Called for each statement of the default database. For a database that the host opens.
        public var trace: SQLTrace?
        /// Records the calls of functions with external effects, instead of executing them; `nil` executes them.
        public var effects: EffectRecorder?
        /// The receiver of unhandled errors in timers, observations and tasks of scripts.
        public var callbackErrors = CallbackErrors.log
        /// The signals that the program passes on by ``ScriptHost/deliver(signal:)``, without "SIG".
        public var signals: [String] = []
        /// Whether scripts have the default database as the global `db`.
        package var definesGlobalDatabase = true
        /// Called with the path of each file in which `require` looks for a module in ``moduleFolder``.
        package var willLookForModule: (@Sendable (String) -> Void)?
        /// The process in which scripts run: by default the host's.
        public var isolation = Isolation.none
        /// Whether `BEGIN` and `SAVEPOINT` open a transaction of the default database that lasts until SQL ends it, as at a prompt. For a
        /// database that the host opens, and for previews.
        package var keepsTransactions = false
        /// How the connection of a process that runs scripts is configured, as the host asks for it.
        var connection: ConnectionSettings?
        /// The effects that scripts on a copy cannot have; `nil` unless they run on a copy.
        var previewWithholds: OutsideEffects?
        /// Additional Lua modules for the library.
        package var libraryModules: [LibraryModules] = []
        /// Called with the loader of the library's modules, to add functions for scripts.
        package var extending: (@Sendable (LibraryLoader, LuaState) throws -> Void)?

        /// Makes a configuration for scripts that are not trusted.
        ///
        /// - Parameter database: The default database.
        /// - Parameter deterministic: See ``isDeterministic``.
        public init(database: Database = .prepared, deterministic: Bool = false) {
            self.database = database
            isDeterministic = deterministic
        }
    }
}

extension ScriptHost.Configuration {
    /// The default database: opened, or the container's.
    func openDatabase(in container: Dependencies) async throws -> any DatabaseWriter {
        guard case .prepared = database else { return try await openDatabase(seeing: .resolve(in: container)) }
        return try checked(await container.value(for: DefaultDatabaseKey.self))
    }

    /// Opens the default database.
    ///
    /// - Parameter environment: Whose clock it sees.
    func openDatabase(seeing environment: ScriptEnvironment = .machine) throws -> any DatabaseWriter {
        switch database {
        case .prepared: throw BindingError("usage", "a host without dependencies needs its own database")
        case .open(let writer): return try checked(writer)
        case .inMemory: return try open(nil, environment)
        case .file(let path): return try open(path, environment)
        }
    }

    private func open(_ path: String?, _ environment: ScriptEnvironment) throws -> any DatabaseWriter {
        if let path, ClusterAddress.isMeant(by: path) { return try ClusterDatabase.open(url: path, configuration: openingConfiguration) }
        return try environment.opening(path, openingConfiguration) { try DatabaseQueue(path: $0, configuration: $1) }
    }

    /// Rejects options that apply only to a database that the host opens itself, if the database is already open.
    private func checked(_ writer: any DatabaseWriter) throws -> any DatabaseWriter {
        guard !isReadonly || writer.configuration.readonly, trace == nil else {
            throw Self.onlyOwnDatabase
        }
        return writer
    }

    /// Why options of opening do not apply to a database that is open.
    static let onlyOwnDatabase = LuaError(
        .usage, "isReadonly and trace apply only to databases that the host opens; configure this one where it is opened")

    /// How connections to a database that the host opens are made.
    private var openingConfiguration: GRDB.Configuration {
        var configuration = GRDB.Configuration()
        var settings = connection ?? ConnectionSettings()
        if isReadonly { settings.isReadonly = true }
        settings.apply(to: &configuration)
        configuration.allowsUnsafeTransactions = keepsTransactions
        trace?.install(in: &configuration)
        return configuration
    }
}
