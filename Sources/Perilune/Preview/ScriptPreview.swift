internal import Foundation
internal import GRDB
internal import PeriluneBindings
internal import PeriluneCluster
internal import PeriluneDependencies

/// Runs scripts on a private copy of a database, and reports the changes that they would make in the original.
///
/// ```swift
/// let preview = try await ScriptPreview(of: .pool("shop.sqlite"))
/// try await preview.host.run(source: "db:execute('DELETE FROM sale WHERE total < 5')")
/// let (report, plan) = try await preview.finish()
/// print(report.tables.map { "\($0.name): \($0.deleted) deleted" })
/// try await plan?.apply(to: "shop.sqlite")
/// ```
///
/// The original is read once, at the beginning, and never opened for writing. Clock, random numbers and the like come from the
/// container of dependencies. Scripts cannot open other database files.
/// Other effects outside of the database depend on their libraries: sandboxed ones have none. Of the libraries for trusted scripts,
/// functions that change files or run programs are refused, unless the options allow them.
public final class ScriptPreview: Sendable {
    /// How a preview is done.
    public struct Options: Sendable {
        /// How many rows of each kind a report shows for a table.
        public var rowLimit = 10
        /// The maximum size of a copy in memory; larger copies are files in a private temporary folder.
        public var copyLimitInBytes = 64 << 20
        /// The memory for recording changes; a quarter of the size of the database is enough, and 16 MB of it always. If they take more,
        /// the changed tables are compared row by row with their previous state.
        public var recordingLimitInBytes = 64 << 20
        /// Whether scripts may change files, run programs and load native modules, if their libraries allow it. These effects are
        /// executed and not in the report.
        public var allowsEffects = false
        /// Called while a file is copied, on any thread, with the part of it that is: 0 to 1.
        public var copyProgress: (@Sendable (Double) -> Void)?

        /// The default options.
        public init() {}
    }

    /// Runs scripts on the copy.
    public let host: ScriptHost
    /// Records the calls of functions with external effects.
    public let effects: EffectRecorder
    private let copy: PreviewCopy
    private let options: Options
    private let origin: PreviewPlan.Origin
    private let source: DatabaseSource
    private let environment: ScriptEnvironment
    private let trace: SQLTrace?
    /// How large a temporary file of changes may become.
    private let fileLimitInBytes: Int
    /// Only touched on the queue of the copy.
    private nonisolated(unsafe) var start: ChangeCollector.Start
    /// Only touched on the queue of the copy.
    private nonisolated(unsafe) var found: (report: PreviewReport, changes: PlanChanges?)?

    /// Copies the database and begins to record.
    ///
    /// - Parameter configuration: Of the host; its database is not used.
    /// - Parameter source: The original; by default the default database of the container. In a test, a file is used only if the source
    ///   opens it in every context. The copy has the functions and collations of the source's `configuration`, or of the database that is
    ///   open.
    /// - Parameter options: What the preview does.
    /// - Throws: An error of GRDB if the database cannot be read, `LuaError` if the seed fails.
    public init(
        of source: DatabaseSource? = nil, configuration: ScriptHost.Configuration = ScriptHost.Configuration(),
        options: Options = Options()
    ) async throws {
        TemporaryFolder.removeAbandoned()
        let container = DependencyContainer.current
        var environment = try await ScriptEnvironment.resolve(in: container)
        let source =
            if let source {
                environment.context == .test ? source.ofTests : source
            } else {
                DatabaseSource.existing(try await container.value(for: DefaultDatabaseKey.self))
            }
        environment.context = .preview
        let trace = source.trace?.make(environment).0
        let copy = try PreviewCopy(
            inMemory: source.size <= options.copyLimitInBytes, environment: environment,
            configuration: source.configurationOfCopy,
            extensions: SQLiteExtensions(checking: configuration.sqliteExtensions), keepsTransactions: configuration.keepsTransactions)
        start = try await Self.cancellable { [environment, source] in
            try await source.fill(copy, in: environment, options.copyProgress)
            try copy.keepFormerState()
            return try await Self.begin(on: copy, trace: trace, options)
        }.value
        self.copy = copy
        self.options = options
        self.source = source
        self.environment = environment
        self.trace = trace
        fileLimitInBytes = configuration.limits.diskInBytes ?? .max
        origin = PreviewPlan.Origin(path: source.pathOfOriginal, schemaHash: start.schema.hash)
        effects = configuration.effectRecorder ?? EffectRecorder()
        var configuration = configuration
        configuration.effectRecorder = effects
        configuration.previewWithholds = options.allowsEffects ? .databases : .all
        host = try ScriptHost(configuration, database: copy.writer, environment: environment)
    }

    deinit {
        // Not waited for: a script may still run.
        let recording = UncheckedBox(start.recording)
        copy.writer.asyncWriteWithoutTransaction { _ in recording.value.end() }
    }

    /// Determines the changes, when no script runs any more. Later calls return the same result.
    ///
    /// - Returns: The report, and a plan that makes exactly these changes to the original; no plan if the report names obstacles.
    /// - Throws: A `DatabaseError` if the copy cannot be read.
    public func finish() async throws -> (report: PreviewReport, plan: PreviewPlan?) {
        let found = try await Self.cancellable {
            try await copy.writer.writeWithoutTransaction { [self] db in try collect(db) }
        }
        var report = found.report
        report.effects = effects.effects
        report.warnings += await host.nativeModuleWarnings
        guard let changes = found.changes else { return (report, nil) }
        return (report, PreviewPlan(origin: origin, changes: changes, effects: report.effects))
    }
}

extension ScriptHost {
    /// A warning that native modules can have changed more than a report of the database shows; none if no script has loaded one.
    fileprivate var nativeModuleWarnings: [String] {
        guard let paths = try? state.nativeLibraries(), !paths.isEmpty else { return [] }
        return ["native modules were loaded (\(paths.joined(separator: ", "))); what they change themselves is done, and is not in this report"]
    }
}

extension ScriptPreview {
    /// Determines the changes so far; scripts may continue afterwards. Takes as long as comparing all tables.
    ///
    /// - Returns: The same values as ``finish()``.
    package func look() async throws -> (report: PreviewReport, plan: PreviewPlan?) {
        let seen = try copy.clone(in: environment)
        let found = try await Self.cancellable {
            let (start, rowLimit, limit) = (UncheckedBox(start), options.rowLimit, fileLimitInBytes)
            return try await seen.writer.writeWithoutTransaction { db in
                let collector = try ChangeCollector(
                    db, copy: seen, start: start.value, rowLimit: rowLimit, fileLimitInBytes: limit, usesRecording: false)
                return UncheckedBox(try collector.collect())
            }.value
        }
        var report = found.report
        report.effects = effects.effects
        report.warnings += await host.nativeModuleWarnings
        return (report, found.changes.map { PreviewPlan(origin: origin, changes: $0, effects: report.effects) })
    }

    /// Discards the changes: copies the original again in its current state. The scripts' records are unchanged.
    package func restart() async throws {
        let former = UncheckedBox(start.recording)
        try await copy.writer.writeWithoutTransaction { _ in former.value.end() }
        try await source.fill(copy, in: environment, nil)
        try copy.keepFormerState()
        start = try await Self.begin(on: copy, trace: trace, options).value
    }

    /// Begins to record.
    private static func begin(
        on copy: PreviewCopy, trace: SQLTrace?, _ options: Options
    ) async throws -> UncheckedBox<ChangeCollector.Start> {
        try await copy.writer.writeWithoutTransaction { db in
            let schema = try SchemaSnapshot(db)
            let excluded = schema.tables.filter { $0.unrecordable != nil }.map(\.name)
            let recording = ChangeRecording(db, excluding: excluded, limitInBytes: try recordingLimit(db, options))
            // Earlier statements are not the script's.
            trace?.start(onRecorded: db)
            return UncheckedBox(ChangeCollector.Start(schema: schema, recording: recording))
        }
    }

    /// For more changes, comparing is as fast and takes no memory; in a large database it takes long.
    private static func recordingLimit(_ db: Database, _ options: Options) throws -> Int {
        let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0, pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        return min(options.recordingLimitInBytes, max(16 << 20, pages * pageSize / 4))
    }

    /// Runs an operation. After a cancellation, any SQLite error becomes a `CancellationError`.
    private static func cancellable<Result: Sendable>(
        _ operation: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        do {
            return try await operation()
        } catch is DatabaseError where Task.isCancelled {
            throw CancellationError()
        }
    }

    private func collect(_ db: Database) throws -> (report: PreviewReport, changes: PlanChanges?) {
        if let found { return found }
        db.trace(options: [])
        let collector = try ChangeCollector(
            db, copy: copy, start: start, rowLimit: options.rowLimit, fileLimitInBytes: fileLimitInBytes)
        let found = try collector.collect()
        self.found = found
        return found
    }
}

/// Carries a value out of the queue of a database, to be used on that queue only.
private struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

extension DatabaseSource {
    /// The source in a test, which uses no file that is not meant for every context.
    fileprivate var ofTests: DatabaseSource {
        if case .existing = kind { return self }
        return isInEveryContext ? self : .inMemory(migrations: migrations, configuration: configuration, trace: trace)
    }

    /// The size of the data to copy, in bytes.
    fileprivate var size: Int {
        switch kind {
        case .pool, .queue: (try? path(isMaking: false)).map { LiveFile(path: $0).size } ?? 0
        case .existing(let reader):
            (try? reader.read { db in
                try (Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0) * (Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
            }) ?? 0
        case .cluster, .inMemory: 0
        }
    }

    /// The configuration of a copy's connection.
    fileprivate var configurationOfCopy: GRDB.Configuration {
        guard case .existing(let writer) = kind else { return writable.connectionConfiguration }
        return OpenedDatabases.source(of: writer)?.writable.connectionConfiguration ?? writer.configuration
    }

    /// The path or URL of the original.
    fileprivate var pathOfOriginal: String? {
        switch kind {
        case .cluster(let url): url
        case .pool, .queue: (try? path(isMaking: false)).map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        case .existing(let reader): reader.path == ":memory:" ? nil : reader.path
        case .inMemory: nil
        }
    }

    fileprivate func fill(
        _ copy: PreviewCopy, in environment: ScriptEnvironment, _ progress: (@Sendable (Double) -> Void)?
    ) async throws {
        switch kind {
        case .cluster(let url): try ClusterDatabase.copy(of: url, into: copy.writer)
        case .pool, .queue:
            guard let path = try path(isMaking: false) else { break }
            let file = LiveFile(path: path, progress: progress)
            try await copy.writer.writeWithoutTransaction { db in try file.copy(into: db) }
        case .existing(let reader): try reader.backup(to: copy.writer)
        case .inMemory: break
        }
        try migrations?.migrate(copy.writer, environment)
    }
}
