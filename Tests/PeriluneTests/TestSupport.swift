import Foundation
import GRDB
import Perilune
import PeriluneDependencies
import PeriluneLua
import Testing

/// A folder of its own for a test, gone after it.
func withTemporaryFolder<Result>(
    _ body: nonisolated(nonsending) (String) async throws -> Result
) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "perilune-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path)
}

/// Where the scripts of a host run: the tests of hosts are made in both places.
enum ScriptPlace: String, CaseIterable, CustomTestStringConvertible {
    case here = "in the process of the host"
    case isolated = "in a process of their own"

    var testDescription: String { rawValue }

    /// The configuration of hosts there.
    func configuration(_ configuration: ScriptHost.Configuration = ScriptHost.Configuration()) -> ScriptHost.Configuration {
        var configuration = configuration
        // On a busy machine a process may get no time for longer than the grace that is usual.
        if self == .isolated { configuration.isolation = .process(grace: .seconds(30)) }
        return configuration
    }

    /// Makes a host. Default databases of tests are in memory, where another process cannot reach them: it has one of its own.
    func host(_ configuration: ScriptHost.Configuration = ScriptHost.Configuration(database: .inMemory)) async throws -> ScriptHost {
        var configuration = self.configuration(configuration)
        if self == .isolated, case .prepared = configuration.database { configuration.database = .inMemory }
        return try await ScriptHost(configuration)
    }
}

extension Dependencies {
    /// Runs an operation in a container of its own, as if a program of that context had just been started.
    static func inProcess<Result>(
        _ context: DependencyContext, operation: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        try await Dependencies(.process { .notRunByTests }, context: .success(context)).run(operation: operation)
    }
}

/// The names of all files in a folder, with their contents.
func contents(of folder: String) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
        contents[name] = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
    }
    return contents
}

/// A table of authors.
let library = Migrations.closure { db in
    try db.execute(sql: "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, created TEXT DEFAULT CURRENT_TIMESTAMP)")
}

extension DatabaseWriter {
    func value<Value: DatabaseValueConvertible & Sendable>(_ sql: String, as type: Value.Type = Value.self) async throws -> Value? {
        try await read { db in try Value.fetchOne(db, sql: sql) }
    }
}
