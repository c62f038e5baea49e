internal import GRDB
package import PeriluneBindings
internal import PeriluneDependencies
public import PeriluneLua

/// How a host is set up.
extension ScriptHost {
    /// The settings of a host.
    public struct Configuration: Sendable {
        /// The default database, `db`. `nil`: the one in the container of dependencies, from `DependencyContainer.prepare` or of the test.
        public var database: DatabaseSource?
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
        public var sqliteExtensions: [String] = []
        /// The places in which `require` looks for modules, in this order; Swift modules (``ScriptHost/register(module:_:_:)``) come
        /// first.
        public var moduleSources: [ModuleSource] = []
        /// The folder in which `require` looks for modules last, as a script of the command line expects it: `package.path`
        /// begins as this folder, and scripts may change it. `nil`: nowhere.
        package var moduleFolder: String?
        /// The destination of lines that scripts print.
        public var output = ScriptOutput.standardOutput()
        /// How large the default database may become, in bytes; `nil`: as large as the disk has room. Writing more is an error of kind `full`,
        /// for scripts and for the program, on the connection that scripts use. Whole pages count; the write-ahead log does not.
        public var diskQuota: Int?
        /// Records the calls of functions with external effects, instead of executing them; `nil` executes them.
        public var effectRecorder: EffectRecorder?
        /// The rule by which scripts see the texts of errors that functions of the program throw.
        public var errorDisclosure = ErrorDisclosure.described
        /// Called on the thread of the host when a run begins or ends. It must return soon, and must not use the host.
        public var runObserver: (@Sendable (ScriptRunEvent) -> Void)?
        /// The tag of the runs in ``ScriptRunEvent``: a tenant, for example.
        public var runTag: String?
        /// The receiver of unhandled errors in timers, observations and tasks of scripts.
        public var callbackErrors = CallbackErrors.log
        /// The signals that the program passes on by ``ScriptHost/deliver(signal:)``, without "SIG".
        package var signals: [String] = []
        /// Whether timers and tasks of scripts see the task-local values of the task that ran the script.
        package var carriesTaskLocalValues = true
        /// Passes the events of runs on, for a host of a pool.
        var runReporter: RunReporter?
        /// Whether scripts have the default database as the global `db`.
        package var definesGlobalDatabase = true
        /// Called with the path of each file in which `require` looks for a module in ``moduleFolder``.
        package var willLookForModule: (@Sendable (String) -> Void)?
        /// The process in which scripts run: by default the host's.
        public var isolation = ScriptIsolation.none
        /// Whether `BEGIN` and `SAVEPOINT` open a transaction of the default database that lasts until SQL ends it, as at a prompt. For a
        /// database that the host opens, and for previews.
        package var keepsTransactions = false
        /// The effects that scripts on a copy cannot have; `nil` unless they run on a copy.
        var previewWithholds: OutsideEffects?
        /// Additional Lua modules for the library.
        package var libraryModules: [LibraryModules] = []
        /// Called with the loader of the library's modules, to add functions for scripts.
        package var extending: (@Sendable (LibraryLoader, LuaState) throws -> Void)?

        /// Makes a configuration for scripts that are not trusted.
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
    /// The source of the database that the host makes; `nil` for the container's.
    var databaseToMake: DatabaseSource? {
        var source = database
        source?.keepsTransactions = keepsTransactions
        return source
    }

    /// The default database: made by its source, or the container's.
    func openDatabase(in container: DependencyContainer) async throws -> any DatabaseWriter {
        guard let source = databaseToMake else { return try await container.value(for: DefaultDatabaseKey.self) }
        return try await DatabaseMaker(source: source, environment: .resolve(in: container)).make()
    }

    /// Opens the default database itself, whatever the context is.
    ///
    /// - Parameter environment: The environment whose clock the database gets.
    func openDatabase(seeing environment: ScriptEnvironment = .machine) throws -> any DatabaseWriter {
        guard let source = databaseToMake else { throw LuaError(.usage, "a host without dependencies needs its own database") }
        return try DatabaseMaker(source: source, environment: environment).makeLive()
    }
}
