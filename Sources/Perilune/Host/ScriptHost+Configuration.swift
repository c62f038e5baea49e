internal import GRDB
package import PeriluneBindings
internal import PeriluneDependencies
public import PeriluneLua

/// The settings of a host.
extension ScriptHost {
    /// The settings of a host.
    public struct Configuration: Sendable {
        /// The default database, which scripts use as `db`. If `nil`, the host uses the database in the dependency container, as set by
        /// `DependencyContainer.prepare` or by a test.
        public var database: DatabaseSource?
        /// The Lua standard libraries that scripts can use; by default, only harmless functions.
        public var libraries: LuaLibraries = .sandboxed
        /// The limits of each run.
        public var limits: LuaLimits = .none
        /// Whether Lua behaves the same in every process: `pairs` and `next` visit keys in a fixed order, and texts contain numbers instead
        /// of memory addresses. Always on in tests and previews. The clock and random numbers come from the dependency container.
        public var isDeterministic = false
        /// Whether scripts may open database files, and use SQL that accesses files (`ATTACH`, `VACUUM INTO`).
        public var allowsFiles = false
        /// The paths of SQLite extensions, which every connection used by scripts loads. Extensions are native code without limits: list
        /// only extensions that are safe for sandboxed scripts. Scripts cannot load extensions.
        public var sqliteExtensions: [String] = []
        /// The sources in which `require` searches for modules, in this order. Swift modules (``ScriptHost/register(module:_:_:)``) take
        /// precedence.
        public var moduleSources: [ModuleSource] = []
        /// The folder that `require` searches last, for scripts on the command line. `package.path` initially contains this folder, and
        /// scripts may change `package.path`. `nil` disables this search.
        package var moduleFolder: String?
        /// The destination of printed lines.
        public var output = ScriptOutput.standardOutput()
        /// The maximum size of the default database, in bytes; `nil` for no limit. A write that exceeds the limit fails with an error of
        /// kind `full`, for scripts and for the program, on the connection that scripts use. The size is measured in whole pages, without
        /// the write-ahead log.
        public var diskQuota: Int?
        /// A recorder for calls of functions with external effects, which are recorded instead of executed; `nil` to execute them.
        public var effectRecorder: EffectRecorder?
        /// The rule that determines whether scripts can see the error messages of the program's functions.
        public var errorDisclosure = ErrorDisclosure.described
        /// A closure that is called on the host's thread when a run starts or ends. The closure must return quickly and must not use the
        /// host.
        public var runObserver: (@Sendable (ScriptRunEvent) -> Void)?
        /// The tag of the host's runs in ``ScriptRunEvent``, for example the name of a tenant.
        public var runTag: String?
        /// The receiver of unhandled errors in timers, observations and tasks of scripts.
        public var callbackErrors = CallbackErrors.log
        /// The signals that the program forwards with ``ScriptHost/deliver(signal:)``, without the prefix "SIG".
        package var signals: [String] = []
        /// Whether timers and tasks of a script inherit the task-local values of the Swift task that ran the script.
        package var carriesTaskLocalValues = true
        /// The event reporter that the hosts of a pool share.
        var runReporter: RunReporter?
        /// Whether scripts can access the default database as the global `db`.
        package var definesGlobalDatabase = true
        /// A closure that is called with each file path that `require` tries when it searches ``moduleFolder``.
        package var willLookForModule: (@Sendable (String) -> Void)?
        /// The process in which scripts run; by default the host's process.
        public var isolation = ScriptIsolation.none
        /// Whether a transaction that SQL opens with `BEGIN` or `SAVEPOINT` stays open until SQL ends it, as at an SQL prompt. Applies to a
        /// default database that the host opens, and to previews.
        package var keepsTransactions = false
        /// The external effects that are withheld while scripts run on a copy of the database; `nil` if they run on the database itself.
        var previewWithholds: OutsideEffects?
        /// Additional modules of the Lua library.
        package var libraryModules: [LibraryModules] = []
        /// A closure that adds functions for scripts. Receives the loader of the library's modules.
        package var extending: (@Sendable (LibraryLoader, LuaState) throws -> Void)?

        /// Creates a configuration for untrusted scripts.
        ///
        /// - Parameter database: The default database; if `nil`, the database in the dependency container.
        /// - Parameter deterministic: See ``isDeterministic``.
        public init(database: DatabaseSource? = nil, deterministic: Bool = false) {
            self.database = database
            isDeterministic = deterministic
        }
    }
}

extension ScriptHost.Configuration {
    /// The source of the database that the host opens; `nil` if the host uses the container's database.
    var databaseToMake: DatabaseSource? {
        var source = database
        source?.keepsTransactions = keepsTransactions
        return source
    }

    /// Opens the default database, or returns the container's database.
    func openDatabase(in container: DependencyContainer) async throws -> any DatabaseWriter {
        guard let source = databaseToMake else { return try await container.value(for: DefaultDatabaseKey.self) }
        return try await DatabaseMaker(source: source, environment: .resolve(in: container)).make()
    }

    /// Opens the default database directly, even in tests and previews.
    ///
    /// - Parameter environment: The environment that provides the database's clock.
    func openDatabase(seeing environment: ScriptEnvironment = .machine) throws -> any DatabaseWriter {
        guard let source = databaseToMake else { throw LuaError(.usage, "a host without dependencies needs its own database") }
        return try DatabaseMaker(source: source, environment: environment).makeLive()
    }
}
