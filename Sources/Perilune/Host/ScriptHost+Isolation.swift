internal import Foundation
internal import GRDB
internal import Logging
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneIsolation
internal import PeriluneLua
internal import PeriluneRecords

/// Hosts whose scripts run in a separate process.
extension ScriptHost {
    /// Creates a host and starts the process of its scripts.
    init(
        _ isolation: ScriptIsolation.Process, _ configuration: Configuration, database: IsolatedDatabase,
        environment: ScriptEnvironment
    ) async throws {
        try configuration.checkIsolation()
        var setup = WorkerSetup()
        (setup.database, setup.connection) = (database.path, database.settings)
        setup.diskQuota = configuration.diskQuota
        let trace = database.makeTrace(in: environment)
        if let trace { (setup.trace, setup.tracesValues) = (trace.events, trace.showsValues) }
        setup.libraries = configuration.libraries
        setup.isDeterministic = configuration.isDeterministic
        setup.limits = configuration.limits
        setup.outputLimitInBytes = configuration.output.limitInBytes
        if case .discarded = configuration.output { setup.prints = false }
        setup.context = environment.context
        let clock = environment.date.manualClock
        setup.clock = clock.flatMap { ClockLink.microseconds(of: $0) }
        setup.asksForDate = !environment.date.isSystem && clock == nil
        setup.hasModules = !configuration.moduleSources.isEmpty
        setup.reportsCommits = database.writer != nil && !database.settings.isReadonly
        setup.asksForRandom = !environment.random.isSystem
        setup.asksForUUID = !environment.uuid.isRandom
        if case .fail = configuration.callbackErrors { setup.failsForCallbacks = true }
        setup.signals = configuration.signals
        setup.logLevel = environment.logger.logLevel.rawValue
        let worker = try await WorkerConnection.start(isolation, setup, environment: environment)
        if let clock { worker.share(clock) }
        var own = configuration
        own.limits = .none
        own.diskQuota = nil
        // A placeholder: the scripts' default database is open in their own process.
        try self.init(
            own, database: DatabaseQueue(), environment: environment,
            worker: WorkerBackend(worker, timeLimit: configuration.limits.time, trace: trace, database: database))
    }

    /// The isolation layers that are active in the scripts' process; empty if scripts run in this process.
    public nonisolated var isolationLayers: Set<IsolationLayer> { control.layers }

    /// Whether the scripts' process has ended, which makes further runs impossible.
    package nonisolated var hasCrashed: Bool { control.hasEnded }

    /// The ID of the scripts' process; `nil` if scripts run in this process.
    package nonisolated var workerProcessID: Int32? { control.processID }

    /// Throws an error if the scripts' Lua state is in another process.
    func requireOwnState(for what: String) throws {
        if backend.usesHostState { return }
        throw LuaError(.usage, "scripts in a process of their own cannot have \(what); make a host without isolation")
    }
}

extension ScriptEnvironment {
    /// Returns the current time, a new UUID or a random number if the message requests one; `nil` for other messages.
    func answer(to message: WorkerMessage) -> WireValue? {
        switch message {
        case .now: (try? now().microsecondsSince1970).map { .integer($0) }
        case .uuid: .text(uuid().uuidString)
        case .random: .integer(Int64(bitPattern: random.next()))
        default: nil
        }
    }
}

/// The default database of scripts in another process.
struct IsolatedDatabase {
    /// The path of the file; `nil` for an in-memory database of the scripts' process.
    var path: String?
    var settings: ConnectionSettings
    /// The trace in the configuration of the database.
    var trace: SQLTrace?
    /// The connection to the same database in this process, if one is open.
    var writer: (any DatabaseWriter)?

    func makeTrace(in environment: ScriptEnvironment) -> SQLTrace? {
        guard let (trace, slow) = trace?.make(environment) else { return nil }
        if let writer { slow?.begin(with: writer) }
        return trace
    }
}

extension ScriptHost.Configuration {
    /// Returns the default database in a form that another process can open.
    ///
    /// - Throws: `LuaError` with code `usage` for an in-memory database of this process.
    func isolatedDatabase(in container: DependencyContainer) async throws -> IsolatedDatabase {
        guard let source = databaseToMake else { return try await isolated(container.value(for: DefaultDatabaseKey.self)) }
        let environment = try await ScriptEnvironment.resolve(in: container)
        let isLive = source.isInEveryContext || environment.context == .live
        switch source.kind {
        case .cluster where isLive: throw Self.noNetwork
        case .inMemory where source.migrations == nil:
            return IsolatedDatabase(path: nil, settings: try source.connectionSettings(), trace: source.trace)
        case .pool, .queue:
            // The scripts' process opens the file. This process opens the database only if it has to migrate it.
            guard isLive, source.migrations == nil || source.isReadonly else { break }
            return IsolatedDatabase(path: try source.path(), settings: try source.connectionSettings(), trace: source.trace)
        case .existing, .inMemory, .cluster: break
        }
        return try await isolated(DatabaseMaker(source: source, environment: environment, needsFile: true).make())
    }

    /// The error for a cluster database whose scripts run in a separate process.
    package static let noNetwork = LuaError(
        .usage,
        "a process of its own reaches no cluster, because it has no network; use a copy of the database in a file, or no isolation"
    )

    /// Returns the file and the settings of an open database.
    private func isolated(_ writer: any DatabaseWriter) async throws -> IsolatedDatabase {
        try DatabasePlaces.of(writer).refuse(Self.noNetwork)
        let source = OpenedDatabases.source(of: writer)
        let settings = try source?.connectionSettings() ?? ConnectionSettings(writer.configuration)
        // If SQLite is interrupted while it prepares a statement, it returns a generic error, which is replaced by a cancellation error.
        let path = try await Task.preferringCancellation {
            // Does not use `writer.path`, which is a URI in tests.
            try await writer.read { db in
                try String.fetchOne(db, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'") ?? ""
            }
        }
        guard FileManager.default.fileExists(atPath: path) else {
            throw LuaError(
                .usage, "the default database is in memory, where the process of the scripts cannot reach it; use one in a file")
        }
        return IsolatedDatabase(path: path, settings: settings, trace: source?.trace, writer: writer)
    }

    /// Rejects settings that are unavailable if scripts run in another process.
    func checkIsolation() throws {
        func refuse(_ what: String) -> LuaError { LuaError(.usage, "scripts in a process of their own cannot have \(what)") }
        guard libraries.isSubset(of: .sandboxed) else { throw refuse("libraries that reach files or programs: use .sandboxed") }
        guard !allowsFiles else { throw refuse("other database files (allowsFiles)") }
        guard moduleFolder == nil else { throw refuse("a package.path (moduleFolder): use moduleSources") }
        guard sqliteExtensions.isEmpty else { throw refuse("extensions of SQLite, which are native code") }
        guard previewWithholds == nil else { throw refuse("previews") }
        guard libraryModules.isEmpty, extending == nil else { throw refuse("modules that are part of a program") }
    }
}
