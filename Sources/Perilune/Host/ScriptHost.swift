package import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua
internal import Synchronization

/// Runs scripts against a database.
///
/// A host is an actor with a separate thread: scripts may block in SQLite and recurse deeply without occupying the threads that Swift
/// concurrency shares. Several hosts run in parallel.
///
/// ```swift
/// let host = try await ScriptHost(database: .pool("shop.sqlite"))
/// try await host.run(source: "print(db:fetch_value('SELECT COUNT(*) FROM sqlite_master'))")
/// ```
public actor ScriptHost {
    nonisolated let thread: LuaThread
    /// The thread of the host, on which the actor runs.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    let state: LuaState
    /// The Swift modules for scripts.
    let modules: ModuleRegistry
    /// The default database.
    package let database: any DatabaseWriter
    /// The scripts' values from the container of dependencies.
    nonisolated let environment: ScriptEnvironment
    /// The receiver of errors in functions called by the loop.
    let callbackErrors: CallbackErrors
    /// The source texts that error reports may quote.
    var sourceTexts: SourceTexts
    /// Retains the environment that databases use on this thread.
    private let threadEnvironment: ThreadEnvironment?
    nonisolated let cancellation: LuaState.Cancellation
    /// The scheduler of the callbacks that scripts wait for.
    let loop: ScriptLoop
    /// The reporter of the begin and end of runs.
    nonisolated let runReporter: RunReporter
    /// Whether `require` looks for files that scripts may name.
    nonisolated let searchesFiles: Bool
    /// The rule that determines which error texts scripts can see.
    nonisolated let disclosure: ErrorDisclosure
    /// Whether timers and tasks see the task-local values of the runs that started them.
    nonisolated let carriesTaskLocalValues: Bool
    /// Whether other hosts of a pool use the reporter, too.
    nonisolated let sharesReporter: Bool
    /// The tag of runs without a separate tag.
    let runTag: String?
    let calls: LoopCalls
    /// Prevents other hosts from running the same automations.
    var automationClaim: AutomationClaim?
    /// The loader through which the library's modules are reached.
    let library: LibraryLoader
    /// Wakes the waiting callers when nothing is running.
    nonisolated let hostCancellation: HostCancellation
    nonisolated let lock = FIFOLock()
    nonisolated let isClosed = Atomic(false)
    /// Runs the scripts, here or in another process.
    let backend: any ScriptBackend
    nonisolated let control: any ScriptControl
    /// The places in which `require` looks, for scripts in another process.
    let moduleSources: [ModuleSource]
    /// The destination of output from scripts in another process.
    let output: ScriptOutput
    /// Whether scripts have only the libraries of the sandbox.
    let isSandboxed: Bool

    /// Creates a state for scripts. For its whole lifetime, the host uses the default database, the clock, the random numbers and the log
    /// of the dependency container that the current task sees.
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

    /// Creates a state for untrusted scripts, with a database.
    ///
    /// - Throws: A `DatabaseError` if the database cannot be opened, and the errors of its migrations.
    public init(database: DatabaseSource) async throws {
        try await self.init(Configuration(database: database))
    }

    /// Creates a state for scripts without the dependency container, with the system clock.
    package init(standalone configuration: Configuration) throws {
        try self.init(configuration, database: configuration.openDatabase(), environment: nil)
    }

    /// Creates a state for scripts with an open database.
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
        // No script runs in this state: if it took numbers from a seeded source, the scripts in the other process would miss them.
        if worker != nil { setup.environment.random = .system }
        if let effects = configuration.previewWithholds { setup.withheld = effects }
        setup.modules = configuration.libraryModules
        setup.keepsTransactions = configuration.keepsTransactions
        setup.definesGlobal = configuration.definesGlobalDatabase
        setup.extensions = try SQLiteExtensions(checking: configuration.sqliteExtensions)
        setup.extending = configuration.extending
        library = try setup.installWithChangesets(in: state)
        try configuration.output.install(in: state, environment: self.environment)
        // This is also needed without a limit, because the function writes whole lines while other hosts print.
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
        // The state belongs to the host, and so do its modules.
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
        // A failed automation does not end the wait: automations continue and will run again.
        if case .handle = configuration.callbackErrors { setup.loop.takesReports = true }
        threadEnvironment = environment.map { ThreadEnvironment($0) }
        let scripts = HostScripts(
            loop: setup.loop, state: state, modules: modules, library: library, threadEnvironment: threadEnvironment)
        calls = LoopCalls(of: scripts, on: thread)
        if let threadEnvironment { try thread.run { threadEnvironment.begin() } }
        // The object created here belongs to the thread from now on.
        state.thread = thread
        control.attach(to: self)
        setup.loop.queue.setWake { [weak self, thread] in
            thread.enqueue { [weak self] in self?.assumeIsolated { $0.turn() } }
        }
    }

    /// Ends the scripts' callbacks. If runs are active, the state is closed after they end.
    deinit {
        guard calls.areUnderWay else { return }
        cancellation.cancelRuns()
        calls.end()
    }

    /// Changes the time limit of future runs, in a host that has a time limit.
    package func limitTime(to time: Duration) {
        backend.limitTime(to: time, in: self)
    }

    /// Ends the active run, and any wait for the host to become idle. Callable from anywhere. Open transactions of the script are rolled
    /// back. The call that runs it throws a `LuaError` with code `cancelled`. Later runs are not affected.
    public nonisolated func cancel() {
        control.cancel()
    }

    /// Ends the active run, or else the next run or wait; for a command that a signal ends.
    package nonisolated func cancelRunOrNext() {
        control.cancelRunOrNext()
    }

    /// Whether the active run has exceeded its time limit: only briefly, unless nothing can end the run.
    package nonisolated var isOverdue: Bool { cancellation.isOverdue }
}
