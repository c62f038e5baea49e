import Foundation
import GRDB
import Perilune
import PeriluneDependencies
import PeriluneLua
import Testing

/// Runs a test with a temporary folder.
func withTemporaryFolder<Result>(
    _ body: nonisolated(nonsending) (String) async throws -> Result
) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "perilune-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path)
}

/// The process in which a host runs its scripts. Host tests run with and without isolation.
enum ScriptPlace: String, CaseIterable, CustomTestStringConvertible {
    case here = "in the process of the host"
    case isolated = "in a process of their own"

    var testDescription: String { rawValue }

    /// Returns the configuration for hosts that run scripts there.
    func configuration(_ configuration: ScriptHost.Configuration = ScriptHost.Configuration()) -> ScriptHost.Configuration {
        var configuration = configuration
        // On a busy machine, a process may be suspended for longer than the default grace period.
        if self == .isolated { configuration.isolation = .process(grace: .seconds(30)) }
        return configuration
    }

    /// Creates a host. The default databases of tests are in memory, which other processes cannot reach, so an isolated host gets
    /// its own database.
    func host(_ configuration: ScriptHost.Configuration = ScriptHost.Configuration(database: .inMemory())) async throws
        -> ScriptHost
    {
        var configuration = self.configuration(configuration)
        if self == .isolated, configuration.database == nil { configuration.database = .inMemory() }
        return try await ScriptHost(configuration)
    }
}

extension DependencyContainer {
    /// Runs an operation in a new container, as if a program had just started in that context.
    static func inProcess<Result>(
        _ context: DependencyContainer.Context, operation: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        try await DependencyContainer(.process { .notRunByTests }, context: .success(context)).with(operation)
    }
}

/// Returns the names and contents of all files in a folder.
func contents(of folder: String) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
        contents[name] = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
    }
    return contents
}

/// Migrations that create a table of authors.
let library = Migrations.inTransaction { db in
    try db.execute(sql: "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, created TEXT DEFAULT CURRENT_TIMESTAMP)")
}

extension DatabaseWriter {
    func value<Value: DatabaseValueConvertible & Sendable>(_ sql: String, as type: Value.Type = Value.self) async throws -> Value?
    {
        try await read { db in try Value.fetchOne(db, sql: sql) }
    }
}
