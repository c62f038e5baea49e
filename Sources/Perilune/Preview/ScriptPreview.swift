internal import Foundation
internal import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua
internal import PeriluneRecords

/// A preview that runs scripts on a private copy of a database, and reports the changes that they would make to the original.
///
/// ```swift
/// let preview = try await ScriptPreview(of: .pool("shop.sqlite"))
/// try await preview.host.run(
///     source: "db:execute('DELETE FROM sale WHERE total < 5')")
/// let (report, plan) = try await preview.finish()
/// print(report.tables.map { "\($0.name): \($0.deleted) deleted" })
/// try await plan?.apply(to: "shop.sqlite")
/// ```
///
/// The original is read once, when the preview is created, and never opened for writing. The clock, random numbers and other dependencies
/// come from the dependency container. Scripts cannot open other database files. Sandboxed libraries have no other effects outside of the
/// database. In the libraries for trusted scripts, functions that change files or run programs fail unless `allowsEffects` is true.
public final class ScriptPreview: Sendable {
    /// The options of a preview; the public initializer describes them.
    package struct Options: Sendable {
        package var rowLimit = 10
        package var copyLimitInBytes = 64 << 20
        package var recordingLimitInBytes = 64 << 20
        package var allowsEffects = false
        package var copyProgress: (@Sendable (Double) -> Void)?

        package init() {}
    }

    /// The host that runs scripts on the copy.
    public let host: ScriptHost
    /// The recorder of calls with effects outside of the database.
    public let effects: EffectRecorder
    private let copy: PreviewCopy
    private let options: Options
    private let origin: PreviewPlan.Origin
    private let source: DatabaseSource
    private let environment: ScriptEnvironment
    private let trace: SQLTrace?
    /// The maximum size of a temporary file of changes, in bytes.
    private let fileLimitInBytes: Int
    /// `nonisolated(unsafe)` is safe, because only the queue of the copy uses this property.
    private nonisolated(unsafe) var start: ChangeCollector.Start
    /// `nonisolated(unsafe)` is safe, because only the queue of the copy uses this property.
    private nonisolated(unsafe) var found: (report: PreviewReport, changes: PlanChanges?)?

    /// Creates a preview, copies the database, and starts to record changes.
    ///
    /// - Parameters:
    ///   - source: The original; by default, the default database of the dependency container. In a test, a file is used only if the
    ///     source opens it in every context. The copy has the functions and collations of the source's `configuration`, or of the open
    ///     database.
    ///   - configuration: The configuration of the host. Its `database` is ignored.
    ///   - rowLimit: The maximum number of rows of each kind that a report shows for a table.
    ///   - copyLimitInBytes: The maximum size of an in-memory copy, in bytes. Larger databases are copied to a file in a private
    ///     temporary folder.
    ///   - recordingLimitInBytes: The maximum memory for recording changes, in bytes. The preview lowers this limit to a quarter of the
    ///     database size, but not below 16 MB. If the changes need more memory, the changed tables are compared row by row with their
    ///     previous state.
    ///   - allowsEffects: Whether scripts may change files, run programs and load native modules, if their libraries allow it. The
    ///     preview executes these effects, and the report does not contain them.
    ///   - copyProgress: A closure that receives the progress of copying a file, as a fraction from 0 to 1. Called on any thread.
    /// - Throws: A GRDB error if the database cannot be read; the errors of its migrations.
    public convenience init(
        of source: DatabaseSource? = nil, configuration: ScriptHost.Configuration = ScriptHost.Configuration(),
        rowLimit: Int = 10, copyLimitInBytes: Int = 64 << 20, recordingLimitInBytes: Int = 64 << 20, allowsEffects: Bool = false,
        copyProgress: (@Sendable (Double) -> Void)? = nil
    ) async throws {
        var options = Options()
        options.rowLimit = rowLimit
        options.copyLimitInBytes = copyLimitInBytes
        options.recordingLimitInBytes = recordingLimitInBytes
        options.allowsEffects = allowsEffects
        options.copyProgress = copyProgress
        try await self.init(of: source, configuration: configuration, options: options)
    }

    package init(
        of source: DatabaseSource? = nil, configuration: ScriptHost.Configuration = ScriptHost.Configuration(), options: Options
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
            extensions: SQLiteExtensions(checking: configuration.sqliteExtensions),
            keepsTransactions: configuration.keepsTransactions)
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
        // Asynchronous, because a script may still be using the copy.
        let recording = UncheckedBox(start.recording)
        copy.writer.asyncWriteWithoutTransaction { _ in recording.value.end() }
    }

    /// Determines the changes. Call this method after all scripts have ended. Later calls return the same result.
    ///
    /// - Returns: The report, and a plan that makes exactly these changes to the original; `nil` if the report lists obstacles.
    /// - Throws: A `DatabaseError` if the copy cannot be read.
    public func finish() async throws -> (report: PreviewReport, plan: PreviewPlan?) {
        let found = try await Self.cancellable {
            try await copy.writer.writeWithoutTransaction { [self] db in try collect(db) }
        }
        var report = found.report
        report.removeProgress()
        report.effects = effects.effects
        report.warnings += await host.nativeModuleWarnings
        guard let changes = found.changes else { return (report, nil) }
        return (report, PreviewPlan(origin: origin, changes: changes, effects: report.effects))
    }
}

extension ScriptHost {
    /// A warning that native modules may have had effects that are not in the report; empty if no script loaded a native module.
    fileprivate var nativeModuleWarnings: [String] {
        guard let paths = try? state.nativeLibraries(), !paths.isEmpty else { return [] }
        return [
            "native modules were loaded (\(paths.joined(separator: ", "))); what they change themselves is done, and is not in this report"
        ]
    }
}

extension ScriptPreview {
    /// Determines the changes so far by comparing all tables of a clone. Scripts may continue afterwards.
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
        report.removeProgress()
        report.effects = effects.effects
        report.warnings += await host.nativeModuleWarnings
        return (report, found.changes.map { PreviewPlan(origin: origin, changes: $0, effects: report.effects) })
    }

    /// Discards the changes, and copies the current state of the original again. Record objects in scripts keep their values.
    package func restart() async throws {
        let former = UncheckedBox(start.recording)
        try await copy.writer.writeWithoutTransaction { _ in former.value.end() }
        try await source.fill(copy, in: environment, nil)
        try copy.keepFormerState()
        start = try await Self.begin(on: copy, trace: trace, options).value
    }

    /// Starts to record changes of the copy, and to trace statements.
    private static func begin(
        on copy: PreviewCopy, trace: SQLTrace?, _ options: Options
    ) async throws -> UncheckedBox<ChangeCollector.Start> {
        try await copy.writer.writeWithoutTransaction { db in
            let schema = try SchemaSnapshot(db)
            let excluded = schema.tables.filter { $0.unrecordable != nil }.map(\.name)
            let recording = ChangeRecording(db, excluding: excluded, limitInBytes: try recordingLimit(db, options))
            // Tracing starts here, because earlier statements were not executed by scripts.
            trace?.start(onRecorded: db)
            return UncheckedBox(ChangeCollector.Start(schema: schema, recording: recording))
        }
    }

    /// Returns the memory limit of the recording. Beyond the limit, comparing tables is as fast as recording, and needs no memory. The
    /// limit grows with the database, because comparing a large database takes long.
    private static func recordingLimit(_ db: Database, _ options: Options) throws -> Int {
        let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0,
            pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        return min(options.recordingLimitInBytes, max(16 << 20, pages * pageSize / 4))
    }

    /// Runs an operation. If the task is cancelled, converts database errors to `CancellationError`.
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

/// A wrapper that passes a value out of a database queue. Safe because the value is used only on that queue.
private struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

extension DatabaseSource {
    /// The source to use in a test: an in-memory database instead of a file, unless the source opens files in every context.
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

    /// The configuration of the connection to a copy.
    fileprivate var configurationOfCopy: GRDB.Configuration {
        guard case .existing(let writer) = kind else { return writable.connectionConfiguration }
        return OpenedDatabases.source(of: writer)?.writable.connectionConfiguration ?? writer.configuration
    }

    /// The path or URL of the original; `nil` for an in-memory database.
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
        case .cluster(let url): try DatabasePlaces.copy(of: url, into: copy.writer)
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

extension ScriptPreview: CustomReflectable {
    /// A mirror without children: the contents belong to the preview's host and databases.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
