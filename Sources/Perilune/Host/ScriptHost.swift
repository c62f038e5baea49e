package import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua
internal import Synchronization

/// An actor that runs Lua scripts against a database.
///
/// Each host has a dedicated thread, so scripts that block in SQLite or recurse deeply do not occupy the shared threads of Swift
/// concurrency. Several hosts run in parallel.
///
/// ```swift
/// let host = try await ScriptHost(database: .pool("shop.sqlite"))
/// try await host.run(source: "print(db:fetch_value('SELECT COUNT(*) FROM sqlite_master'))")
/// ```
public actor ScriptHost {
    nonisolated let thread: LuaThread
    /// The executor of the actor: the host's dedicated thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    let state: LuaState
    /// The Swift modules that scripts can require.
    let modules: ModuleRegistry
    /// The default database.
    package let database: any DatabaseWriter
    /// The scripts' dependencies from the container: clock, random numbers, UUIDs, logger.
    nonisolated let environment: ScriptEnvironment
    /// The receiver of unhandled errors in callbacks.
    let callbackErrors: CallbackErrors
    /// The source texts that error reports can quote.
    var sourceTexts: SourceTexts
    /// The environment that databases use on the host's thread, retained here.
    private let threadEnvironment: ThreadEnvironment?
    nonisolated let cancellation: LuaState.Cancellation
    /// The event loop that schedules timers, observations and tasks.
    let loop: ScriptLoop
    /// The reporter of run events.
    nonisolated let runReporter: RunReporter
    /// Whether `require` searches for files through `package.path`.
    nonisolated let searchesFiles: Bool
    /// The rule that determines whether scripts can see the error messages of the program's functions.
    nonisolated let disclosure: ErrorDisclosure
    /// Whether timers and tasks inherit the task-local values of the run that started them.
    nonisolated let carriesTaskLocalValues: Bool
    /// Whether the host shares its reporter with the other hosts of a pool.
    nonisolated let sharesReporter: Bool
    /// The default tag of runs.
    let runTag: String?
    let calls: LoopCalls
    /// A claim that prevents other hosts from running the same automations.
    var automationClaim: AutomationClaim?
    /// The loader of the Lua library's modules.
    let library: LibraryLoader
    /// The cancellation of calls that wait for the host to become idle.
    nonisolated let hostCancellation: HostCancellation
    nonisolated let lock = FIFOLock()
    nonisolated let isClosed = Atomic(false)
    /// The backend that runs the scripts, in this process or in another.
    let backend: any ScriptBackend
    nonisolated let control: any ScriptControl
    /// The sources in which `require` searches for modules, if scripts run in another process.
    let moduleSources: [ModuleSource]
    /// The destination of printed lines, if scripts run in another process.
    let output: ScriptOutput
    /// Whether scripts have only the sandboxed libraries.
    let isSandboxed: Bool

    /// Creates a host. For its whole lifetime, the host uses the default database, the clock, the random numbers and the logger of the
    /// current task's dependency container.
    ///
    /// - Throws: `DependencyError` if the default database was not prepared; a GRDB error if it cannot be opened; `LuaError` with code
    ///   `usage` for contradictory options, or a module folder that does not exist.
    public init(_ configuration: Configuration = Configuration()) async throws {
        let container = DependencyContainer.current
        do {
            let environment = try await ScriptEnvironment.resolve(in: container)
            guard let isolation = configuration.isolation.process else {
                try self.init(configuration, database: await configuration.openDatabase(in: container), environment: environment)
                return
            }
            let database = try await configuration.isolatedDatabase(in: container)
            try await self.init(isolation, configuration, database: database, environment: environment)
        } catch let error as BindingError {
            throw error.published
        }
    }

    /// Creates a host for untrusted scripts, with a given default database.
    ///
    /// - Throws: A `DatabaseError` if the database cannot be opened, and the errors of its migrations.
    public init(database: DatabaseSource) async throws {
        try await self.init(Configuration(database: database))
    }

    /// Creates a host that uses the system clock instead of the dependency container.
    package init(standalone configuration: Configuration) throws {
        try self.init(configuration, database: configuration.openDatabase(), environment: nil)
    }

    /// Creates a host with an open database.
    init(
        _ configuration: Configuration, database: any DatabaseWriter, environment: ScriptEnvironment?,
        worker: sending WorkerBackend? = nil
    ) throws {
        guard configuration.isolation.process == nil || worker != nil else {
            throw LuaError(.usage, "previews and hosts without dependencies run scripts in this process; leave out the isolation")
        }
        moduleSources = configuration.moduleSources
        output = configuration.output
        isSandboxed = configuration.libraries == .sandboxed
        thread = LuaThread()
        let isLive = environment.map { $0.context == .live } ?? true
        let state = try LuaState(
            libraries: configuration.libraries, limits: configuration.limits,
            isDeterministic: configuration.isDeterministic || !isLive)
        self.database = database
        if let quota = configuration.diskQuota { try database.limitSize(toBytes: quota) }
        self.environment = environment ?? .machine
        var setup = ScriptSetup(
            database: database, allowsFiles: configuration.allowsFiles, environment: self.environment)
        // No script runs in this Lua state. The state must not consume numbers of a seeded generator, which the scripts in the other
        // process use.
        if worker != nil { setup.environment.random = .system }
        if let effects = configuration.previewWithholds { setup.withheld = effects }
        setup.modules = configuration.libraryModules
        setup.keepsTransactions = configuration.keepsTransactions
        setup.definesGlobal = configuration.definesGlobalDatabase
        setup.extensions = try SQLiteExtensions(checking: configuration.sqliteExtensions)
        setup.extending = configuration.extending
        library = try setup.installWithChangesets(in: state)
        try configuration.output.install(in: state, environment: self.environment)
        // Installed even without a limit, because this function writes whole lines, which do not mix with the output of other hosts.
        if worker == nil, case .standardOutput(let limit) = configuration.output { try state.limitOutput(toBytes: limit ?? .max) }
        searchesFiles = configuration.moduleFolder != nil
        carriesTaskLocalValues = configuration.carriesTaskLocalValues
        disclosure = configuration.errorDisclosure
        if case .described = disclosure { state.disclosesText = { [disclosure] in disclosure.shows($0) } }
        let modules = ModuleRegistry(effects: configuration.effects(in: self.environment))
        self.modules = modules
        if let effects = modules.effects {
            ObjectEffects(refusingUndeclared: true) { state, _, _, name, arguments in
                effects(name, try arguments.map { try state.shortText(of: $0) })
                return []
            }.install(in: state)
        }
        // `unowned` is safe, because the host owns both the state and the modules.
        try state.addModuleResolver { [unowned state] name in try modules.table(of: name, in: state).map { .value(.table($0)) } }
        for source in configuration.moduleSources {
            try source.check()
            try state.add(source)
        }
        if configuration.moduleFolder != nil || configuration.moduleSources.isEmpty {
            try FileModules.install(in: state, folder: configuration.moduleFolder, willLook: configuration.willLookForModule)
        }
        sourceTexts = SourceTexts(moduleFolder: configuration.moduleFolder)
        cancellation = state.cancellation
        self.state = state
        loop = setup.loop
        setup.loop.signals.names = configuration.signals
        let waits = HostCancellation(queue: setup.loop.queue)
        let local = LocalControl(runs: state.cancellation, waits: waits, signals: setup.loop.signals)
        let backend: any ScriptBackend = worker ?? LocalBackend(local)
        (hostCancellation, self.backend, control) = (waits, backend, backend.control)
        callbackErrors = configuration.callbackErrors
        let reporter = configuration.runReporter ?? RunReporter(observer: configuration.runObserver)
        let tag = configuration.runTag
        (runReporter, sharesReporter, runTag) = (reporter, configuration.runReporter != nil, tag)
        setup.loop.watch = { [weak state] kind, name in
            guard reporter.isOn, let state, let kind = name == nil ? ScriptRunEvent.Kind(source: kind) : .automation else {
                return nil
            }
            let watch = RunWatch(kind, name, tag: tag, of: state, reporter)
            return LoopCallWatch(meter: watch.meter) { watch.end($0) }
        }
        // With a handler, a failed automation does not end `waitUntilIdle`, because automations continue and run again.
        if case .handle = configuration.callbackErrors { setup.loop.takesReports = true }
        threadEnvironment = environment.map { ThreadEnvironment($0) }
        let scripts = HostScripts(
            loop: setup.loop, state: state, modules: modules, library: library, threadEnvironment: threadEnvironment)
        calls = LoopCalls(of: scripts, on: thread)
        if let threadEnvironment { try thread.run { threadEnvironment.begin() } }
        // From here on, only the host's thread uses the state.
        state.thread = thread
        control.attach(to: self)
        setup.loop.queue.setWake { [weak self, thread] in
            thread.enqueue { [weak self] in self?.assumeIsolated { $0.turn() } }
        }
    }

    /// Ends the scripts' callbacks. If callbacks are still running, the state is closed after they end.
    deinit {
        guard calls.areUnderWay else { return }
        cancellation.cancelRuns()
        calls.end()
    }

    /// Changes the time limit of future runs, if the host has a time limit.
    package func limitTime(to time: Duration) {
        backend.limitTime(to: time, in: self)
    }

    /// Ends the active run, and any call of ``waitUntilIdle()``. The call that started the run throws a `LuaError` with code `cancelled`,
    /// and open transactions of the script are rolled back. Later runs are not affected. Callable from any thread.
    public nonisolated func cancel() {
        control.cancel()
    }

    /// Ends the active run, or else the next run or wait. For commands that a signal ends.
    package nonisolated func cancelRunOrNext() {
        control.cancelRunOrNext()
    }

    /// Whether the active run has exceeded its time limit. True only briefly, unless the run cannot be interrupted.
    package nonisolated var isOverdue: Bool { cancellation.isOverdue }
}
