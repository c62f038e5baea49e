internal import Foundation
internal import GRDB
internal import PeriluneBindings
internal import PeriluneCluster
internal import PeriluneDependencies

/// Makes the default database of a context.
struct DefaultDatabaseMaker {
    let source: DefaultDatabase
    let environment: ScriptEnvironment

    func make() async throws -> any DatabaseWriter {
        if case .given(let writer) = source.kind { return writer }
        switch environment.context {
        case .live: return try makeLive()
        case .test: return try await makeForTest()
        case .preview: return try makeForPreview()
        }
    }

    // MARK: - By context

    private func makeLive() throws -> any DatabaseWriter {
        if case .cluster(let url) = source.kind { return try makeInCluster(url) }
        let writer = try open(livePath())
        try migrate(writer)
        return writer
    }

    private func makeInCluster(_ url: String) throws -> any DatabaseWriter {
        guard source.migrations?.isFolder != false else {
            throw BindingError("cluster_refused", "migrations in Swift write to SQLite in this process; use a folder of migrations for a cluster")
        }
        var configuration = source.configuration
        let slow = source.trace?.install(in: &configuration, environment)
        let writer = try ClusterDatabase.open(url: url, configuration: configuration)
        slow?.begin(with: writer)
        try migrate(writer)
        return writer
    }

    private func makeForTest() async throws -> any DatabaseWriter {
        let writer = source.usesFilesInTests ? try open(TemporaryFolder.path("test.sqlite")) : try open(nil)
        guard let migrations = source.migrations else { return writer }
        let template = try await DatabaseTemplates.shared.template(of: migrations, configuration: source.configuration)
        try template.backup(to: writer)
        return writer
    }

    private func makeForPreview() throws -> any DatabaseWriter {
        guard case .inMemory = source.kind else {
            let writer = try open(TemporaryFolder.path("preview.sqlite"))
            if case .cluster(let url) = source.kind { try ClusterDatabase.copy(of: url, into: writer) }
            if let path = try livePath(isMaking: false) {
                try writer.writeWithoutTransaction { db in try LiveFile(path: path).copy(into: db) }
            }
            try migrate(writer)
            return writer
        }
        return try makeLive()
    }

    private func migrate(_ writer: any DatabaseWriter) throws {
        try source.migrations?.migrate(writer, environment)
    }

    // MARK: - Opening

    /// Opens a file, or with `nil` a database in memory; with the clock of the environment, if that is not the machine's.
    private func open(_ path: String?) throws -> any DatabaseWriter {
        var configuration = source.configuration
        let slow = source.trace?.install(in: &configuration, environment)
        let writer = try environment.opening(path, configuration) { try open($0, isFile: path != nil, $1) }
        OpenedDatabases.note(writer, from: source)
        slow?.begin(with: writer)
        return writer
    }

    private func open(_ name: String, isFile: Bool, _ configuration: Configuration) throws -> any DatabaseWriter {
        if isFile, case .pool = source.kind { return try DatabasePool(path: name, configuration: configuration) }
        return try DatabaseQueue(path: name, configuration: configuration)
    }

    /// The path of the file; `nil` for a database in memory.
    private func livePath(isMaking: Bool = true) throws -> String? {
        switch source.kind {
        case .pool(let path?), .queue(let path?): return path
        case .pool(nil), .queue(nil): return try DataFolder.path("database.sqlite", isMaking: isMaking)
        case .inMemory, .given, .cluster: return nil
        }
    }
}

/// The folder in which a program keeps its data.
enum DataFolder {
    /// The path of a file in it.
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
