internal import Foundation
internal import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneRecords

/// An opener that opens and migrates the database of a source, depending on the context.
struct DatabaseMaker {
    let source: DatabaseSource
    let environment: ScriptEnvironment
    /// Whether another process opens the database, too, which is therefore always a file.
    var needsFile = false

    func make() async throws -> any DatabaseWriter {
        switch source.isInEveryContext ? .live : environment.context {
        case .live: try makeLive()
        case .test: try await makeForTest()
        case .preview: try makeForPreview()
        }
    }

    // MARK: - By context

    /// Opens the source's database itself, instead of a copy for a test or a preview.
    func makeLive() throws -> any DatabaseWriter {
        switch source.kind {
        case .existing(let writer): return writer
        case .cluster(let url): return try makeInCluster(url)
        case .pool, .queue, .inMemory: break
        }
        if needsFile, case .inMemory = source.kind { return try filled("memory.sqlite", isFile: true, migrate) }
        let path = try source.path()
        let isNew = path.map { !FileManager.default.fileExists(atPath: $0) } ?? false
        let writer = try open(path, journal: FileJournal(source.journal))
        guard path == nil || !source.isReadonly else { return writer }
        do {
            try migrate(writer)
        } catch {
            if isNew, let path { Self.remove(path, of: writer) }
            throw error
        }
        return writer
    }

    /// Removes a new file after failed migrations, if it contains only the tables that record migrations.
    private static func remove(_ path: String, of writer: any DatabaseWriter) {
        let sql =
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@' AND name NOT IN (?, ?))"
        let isUsed = try? writer.read { db in
            try Bool.fetchOne(db, sql: sql, arguments: [OwnTables.migrations, OwnTables.checksums])
        }
        guard isUsed == false, (try? writer.close()) != nil else { return }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private func makeInCluster(_ url: String) throws -> any DatabaseWriter {
        guard source.migrations?.isFolder != false else {
            throw LuaError(
                .usage, "migrations in Swift write to SQLite in this process; use a folder of migrations for a cluster")
        }
        var configuration = source.connectionConfiguration
        let slow = source.trace?.install(in: &configuration, environment)
        let writer = try DatabasePlaces.open(url: url, configuration: configuration)
        slow?.begin(with: writer)
        if !source.isReadonly { try migrate(writer) }
        return writer
    }

    private func makeForTest() async throws -> any DatabaseWriter {
        if case .existing(let writer) = source.kind { return writer }
        let isFile = source.usesFilesInTests || needsFile
        guard let migrations = source.migrations else {
            return isFile ? try filled("test.sqlite", isFile: true) { _ in } : try open(nil)
        }
        let template = try await DatabaseTemplates.shared.template(
            of: migrations, configuration: source.writable.connectionConfiguration)
        return try filled("test.sqlite", isFile: isFile || source.isReadonly) { writer in try template.backup(to: writer) }
    }

    private func makeForPreview() throws -> any DatabaseWriter {
        switch source.kind {
        case .existing, .inMemory: return try makeLive()
        case .pool, .queue, .cluster: break
        }
        return try filled("preview.sqlite", isFile: true) { writer in
            if case .cluster(let url) = source.kind { try DatabasePlaces.copy(of: url, into: writer) }
            if let path = try source.path(isMaking: false) {
                try writer.writeWithoutTransaction { db in try LiveFile(path: path).copy(into: db) }
            }
            try migrate(writer)
        }
    }

    private func migrate(_ writer: any DatabaseWriter) throws {
        try source.migrations?.migrate(writer, environment)
    }

    // MARK: - Opening

    /// Creates and fills a private database. If the source is readonly, fills the database with write access and then reopens it.
    private func filled(_ name: String, isFile: Bool, _ fill: (any DatabaseWriter) throws -> Void) throws -> any DatabaseWriter {
        let path = try isFile ? TemporaryFolder.path(name) : nil
        let writer = try DatabaseMaker(source: source.writable, environment: environment).open(path)
        try fill(writer)
        guard source.isReadonly else { return writer }
        try writer.close()
        return try open(path)
    }

    /// Opens a file, or an in-memory database if `path` is `nil`. SQLite uses the environment's clock unless it is the system clock.
    ///
    /// - Parameter journal: The journal of the file; `nil` for temporary files.
    private func open(_ path: String?, journal: FileJournal? = nil) throws -> any DatabaseWriter {
        var configuration = source.connectionConfiguration
        if !isPool { journal?.install(in: &configuration, for: path) }
        let slow = source.trace?.install(in: &configuration, environment)
        let writer = try environment.opening(path, configuration) { try open($0, isFile: path != nil, $1) }
        if let pool = writer as? DatabasePool { try journal?.apply(to: pool) }
        OpenedDatabases.note(writer, from: source)
        slow?.begin(with: writer)
        return writer
    }

    private var isPool: Bool { if case .pool = source.kind { true } else { false } }

    private func open(_ name: String, isFile: Bool, _ configuration: Configuration) throws -> any DatabaseWriter {
        if isFile, isPool { return try DatabasePool(path: name, configuration: configuration) }
        return try DatabaseQueue(path: name, configuration: configuration)
    }
}

/// The folder for the program's data: a folder with the program's name in `$XDG_DATA_HOME`, or else in `~/.local/share`.
enum DataFolder {
    /// Returns the path of a file in the folder.
    ///
    /// - Parameter isMaking: Whether to create the folder.
    static func path(_ name: String, isMaking: Bool) throws -> String {
        let data =
            if let folder = EnvironmentVariables.ofProcess["XDG_DATA_HOME"], folder.hasPrefix("/") {
                URL(filePath: folder)
            } else {
                FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share")
            }
        let folder = data.appending(path: ProcessInfo.processInfo.processName)
        if isMaking { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        return folder.appending(path: name).path
    }
}
