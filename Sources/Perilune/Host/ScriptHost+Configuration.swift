internal import GRDB
package import PeriluneBindings
internal import PeriluneDependencies
public import PeriluneLua

/// The settings of a host.
extension ScriptHost {
    /// The settings of a host.
    public struct Configuration: Sendable {
        /// The default database, `db`. `nil` for the database in the dependency container, from `DependencyContainer.prepare` or the test.
        public var database: DatabaseSource?
        /// The standard functions that scripts have. Harmless ones by default.
        public var libraries: LuaLibraries = .sandboxed
        /// The limits of one run.
        public var limits: LuaLimits = .none
        /// Whether Lua behaves the same in each process: `pairs` and `next` visit keys in a fixed order, and numbers replace addresses.
        /// Tests and previews always do so. The clock and random numbers come from the dependency container.
        public var isDeterministic = false
        /// Whether scripts may open database files and use SQL that reaches files (`ATTACH`, `VACUUM INTO`).
        public var allowsFiles = false
        /// The paths of SQLite extensions loaded by each connection that scripts use. They are native code without any limits: list only
        /// extensions that are safe for scripts, even in a sandbox. Scripts cannot load any.
        public var sqliteExtensions: [String] = []
        /// The places in which `require` searches for modules, in this order; Swift modules (``ScriptHost/register(module:_:_:)``) come
        /// first.
        public var moduleSources: [ModuleSource] = []
        /// The folder in which `require` searches last, as expected by scripts of the command line: `package.path` initially contains this
        /// folder, and scripts may change it. `nil`: nowhere.
        package var moduleFolder: String?
        /// The destination of lines that scripts print.
        public var output = ScriptOutput.standardOutput()
        /// The maximum size of the default database, in bytes; `nil` for no limit. Writing more is an error of kind `full`, for scripts and
        /// for the program, on the connection that scripts use. Whole pages count; the write-ahead log does not.
        public var diskQuota: Int?
        /// Records the calls of functions with external effects, instead of executing them; `nil` executes them.
        public var effectRecorder: EffectRecorder?
        /// The rule that determines which error texts of the program's functions scripts can see.
        public var errorDisclosure = ErrorDisclosure.described
        /// A closure called on the thread of the host when a run begins or ends. It must return quickly and must not use the host.
        public var runObserver: (@Sendable (ScriptRunEvent) -> Void)?
        /// The tag of the runs in ``ScriptRunEvent``, for example a tenant.
        public var runTag: String?
        /// The receiver of unhandled errors in timers, observations and tasks of scripts.
        public var callbackErrors = CallbackErrors.log
        /// The signals that the program forwards with ``ScriptHost/deliver(signal:)``, without the prefix "SIG".
        package var signals: [String] = []
        /// Whether timers and tasks of scripts see the task-local values of the task that ran the script.
        package var carriesTaskLocalValues = true
        /// The reporter of a pool, which receives the events of runs.
        var runReporter: RunReporter?
        /// Whether the global `db` is the default database.
        package var definesGlobalDatabase = true
        /// A closure called with the path of each file in which `require` searches for a module in ``moduleFolder``.
        package var willLookForModule: (@Sendable (String) -> Void)?
        /// The process in which scripts run; by default the host's process.
        public var isolation = ScriptIsolation.none
        /// Whether a transaction of the default database that SQL opens with `BEGIN` or `SAVEPOINT` lasts until SQL ends it, as at a
        /// prompt. For a database that the host opens, and for previews.
        package var keepsTransactions = false
        /// The withheld effects of scripts on a copy; `nil` if they do not run on a copy.
        var previewWithholds: OutsideEffects?
        /// Additional Lua modules for the library.
        package var libraryModules: [LibraryModules] = []
        /// A closure called with the loader of the library's modules, to add functions for scripts.
        package var extending: (@Sendable (LibraryLoader, LuaState) throws -> Void)?

        /// Creates a configuration for untrusted scripts.
        ///
        /// - Parameter database: The default database; by default the one in the container.
        /// - Parameter deterministic: See ``isDeterministic``.
        public init(database: DatabaseSource? = nil, deterministic: Bool = false) {
            self.database = database
            isDeterministic = deterministic
        }
    }
}

extension ScriptHost.Configuration {
    /// The source of the database that the host opens; `nil` for the container's.
    var databaseToMake: DatabaseSource? {
        var source = database
        source?.keepsTransactions = keepsTransactions
        return source
    }

    /// Returns the default database: opened from its source, or taken from the container.
    func openDatabase(in container: DependencyContainer) async throws -> any DatabaseWriter {
        guard let source = databaseToMake else { return try await container.value(for: DefaultDatabaseKey.self) }
        return try await DatabaseMaker(source: source, environment: .resolve(in: container)).make()
    }

    /// Opens the default database itself in every context.
    ///
    /// - Parameter environment: The environment whose clock the database gets.
    func openDatabase(seeing environment: ScriptEnvironment = .machine) throws -> any DatabaseWriter {
        guard let source = databaseToMake else { throw LuaError(.usage, "a host without dependencies needs its own database") }
        return try DatabaseMaker(source: source, environment: environment).makeLive()
    }
}
