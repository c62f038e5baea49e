internal import CPeriluneRows
internal import Foundation
internal import GRDB
internal import Logging
internal import Perilune
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua

/// The environment of a scenario: a database, a clock and random numbers. Used on one thread.
final class ScenarioStage {
    let environment: ScriptEnvironment
    let clock: ScenarioClock
    let output: ScenarioOutput
    let writer: any DatabaseWriter
    let trace: StatementTrace
    /// The file of the database; `nil` for a database in memory.
    let databasePath: String?
    private let retainedFolder: PrivateFolder
    private let extensions: SQLiteExtensions

    /// The location of a database.
    enum Place {
        case memory
        case file
        /// A database that a function makes from the initial contents.
        case elsewhere(MakeDatabase)
    }

    typealias MakeDatabase = @Sendable (_ contents: DatabaseQueue, Configuration) throws -> DatabaseQueue

    /// - Parameter extensions: The extensions that the database loads.
    init(_ place: Place, image: DatabaseImage?, seed: UInt64, extensions: SQLiteExtensions = .none) throws {
        let (clock, output, folder) = (ScenarioClock(), ScenarioOutput(), PrivateFolder())
        self.clock = clock
        self.output = output
        retainedFolder = folder
        environment = Self.environment(clock: clock, seed: seed, output: output)
        trace = StatementTrace(clock: clock)
        var configuration = Configuration()
        trace.install(in: &configuration)
        self.extensions = extensions
        extensions.install(in: &configuration)
        switch place {
        case .memory:
            databasePath = nil
            writer = try environment.opening(nil, configuration) { try DatabaseQueue(path: $0, configuration: $1) }
            if let image { try trace.pausing { try writer.writeWithoutTransaction { db in try image.copy(into: db) } } }
        case .elsewhere(let make):
            databasePath = nil
            let contents = try DatabaseQueue()
            if let image { try contents.writeWithoutTransaction { db in try image.copy(into: db) } }
            let traced = configuration
            writer = try trace.pausing { try make(contents, traced) }
        case .file:
            let path = try folder.path() + "/scenario.sqlite"
            databasePath = path
            try Data(image?.bytes ?? []).write(to: URL(filePath: path))
            // The database need not survive a power failure.
            configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
            writer = try environment.opening(path, configuration) { try DatabasePool(path: $0, configuration: $1) }
        }
    }

    private static func environment(clock: ScenarioClock, seed: UInt64, output: ScenarioOutput) -> ScriptEnvironment {
        let random = RandomSource.seeded(seed)
        // Identifiers have a separate source, so that requesting one does not change later random numbers.
        let identifiers = RandomSource.seeded(seed ^ 0x5DEE_CE66_D1CE_4E5B)
        let uuid = UUIDSource { UUID(bits: identifiers.next(), identifiers.next()) }
        var logger = Logger(label: "scenario", factory: { _ in OutputLogHandler(output: output) })
        logger.logLevel = .info
        var environment = ScriptEnvironment.machine
        (environment.context, environment.date) = (.test, clock.source)
        (environment.random, environment.uuid, environment.logger) = (random, uuid, logger)
        return environment
    }

    /// Returns the path of the scenario's private folder, which is created on first use.
    func folder() throws -> String { try retainedFolder.path() }

    /// Creates a Lua state.
    ///
    /// - Returns: The state, the loader of the library's modules, and the loop that schedules the scripts' callbacks.
    func makeState(
        limits: LuaLimits, withholding effects: OutsideEffects = [], output: @escaping @Sendable ([UInt8]) -> Void
    ) throws -> (LuaState, LibraryLoader, ScriptLoop) {
        let state = try LuaState(libraries: .trusted, limits: limits, isDeterministic: true)
        var setup = ScriptSetup(database: writer, allowsFiles: true, environment: environment)
        setup.withheld = effects
        setup.extensions = extensions
        setup.modules = [.scenarios]
        let loader = try setup.installWithChangesets(in: state)
        setup.loop.memoryName = "\(ObjectIdentifier(self))"
        try OutputCapture.install(in: state, output)
        return (state, loader, setup.loop)
    }

    /// Returns an image of the database.
    func image() throws -> DatabaseImage {
        try trace.pausing { try writer.writeWithoutTransaction { db in try DatabaseImage(of: db) } }
    }

    /// The statements of the writing connection that have not returned all of their rows.
    var unfinishedStatements: [String] {
        let statements = writer.unsafeReentrantWrite { db in
            var found: [String] = []
            var statement = sqlite3_next_stmt(db.sqliteConnection, nil)
            while let next = statement {
                if sqlite3_stmt_busy(next) != 0, let sql = sqlite3_sql(next) { found.append(String(cString: sql)) }
                statement = sqlite3_next_stmt(db.sqliteConnection, next)
            }
            return found
        }
        return statements.sorted()
    }

    /// Closes the database and removes the private folder.
    func close() {
        try? writer.close()
        retainedFolder.remove()
    }
}

/// A temporary folder that is created on first use.
private final class PrivateFolder {
    private var made: String?

    func path() throws -> String {
        if let made { return made }
        let path = try TemporaryFolder.path("scenario")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        made = path
        return path
    }

    func remove() {
        if let made { try? FileManager.default.removeItem(atPath: made) }
        made = nil
    }
}

extension UUID {
    /// Creates a random UUID (version 4) from these bits.
    fileprivate init(bits first: UInt64, _ second: UInt64) {
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: first >> (56 - 8 * $0)) }
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: second >> (56 - 8 * $0)) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

/// A log handler that writes messages of scripts to the scenario's output.
private struct OutputLogHandler: LogHandler {
    let output: ScenarioOutput
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var text = "\(event.level): \(event.message)"
        for (key, value) in (event.metadata ?? [:]).sorted(by: { $0.key < $1.key }) where key != "script" && key != "line" {
            text += " \(key)=\(value)"
        }
        output.write(text + "\n")
    }
}
