internal import Foundation
internal import GRDB
package import PeriluneBindings
internal import PeriluneLua
internal import PeriluneRecords

/// Type definitions for editors (LuaCATS): the API of scripts, the scenario language, and the tables of a project.
package struct ScenarioTypes: Sendable {
    /// The text of each file, by file name.
    package let files: [String: String]
    /// Messages about tables and views that were left out because they cannot be used.
    package private(set) var flaws: [String] = []

    /// Returns the types that are the same in all projects, generated from the reference.
    package static func reference() throws -> ScenarioTypes {
        let state = try LibraryModules.referenceState()
        defer { state.close() }
        let texts = try state.load(generator, named: "types").call([]).map { try String.fromLua($0) }
        return ScenarioTypes(files: Dictionary(uniqueKeysWithValues: zip(["perilune.d.lua", "scenarios.d.lua"], texts)))
    }

    private static let generator = """
        local index, types = require("reference").read(source), require "reference.types"
        return types.text(index, false), types.text(index, true)
        """

    private init(files: [String: String]) {
        self.files = files
    }

    /// Writes the files into a folder, and creates the folder if necessary.
    ///
    /// - Returns: The paths of the files whose contents have changed.
    /// - Throws: Errors of `FileManager` if the folder or a file cannot be written.
    package func write(to folder: String) throws -> [String] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return try outdated(in: folder).map { path, text in
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
            return path
        }
    }

    /// Returns the missing and outdated files in a folder: their paths, and the text that each should have.
    package func outdated(in folder: String) -> [(path: String, text: String)] {
        files.sorted { $0.key < $1.key }.map { ("\(folder)/\($0.key)", $0.value) }
            .filter { FileManager.default.contents(atPath: $0.path) != Data($0.text.utf8) }
    }

    /// Returns all types, including the tables of a database. Reads only the schema of the database.
    ///
    /// - Parameter extensions: The extensions that the database needs.
    /// - Throws: GRDB's error if the file cannot be read.
    package static func describing(database path: String, extensions: SQLiteExtensions = .none) async throws -> ScenarioTypes {
        var configuration = Configuration()
        configuration.readonly = true
        extensions.install(in: &configuration)
        let (schema, flaws) = try await DatabaseQueue(path: path, configuration: configuration).read { db in
            (try SchemaStatements.read(in: db), TableDescription.flaws(of: try TableDescription.readAll(in: db)))
        }
        var types = try await LargeStack.run { try ScenarioTypes(schema: schema, extensions: extensions) }
        types.flaws = flaws
        return types
    }

    private init(schema: [String], extensions: SQLiteExtensions) throws {
        let stage = try ScenarioStage(.memory, image: nil, seed: 0, extensions: extensions)
        defer { stage.close() }
        try stage.writer.writeWithoutTransaction { db in
            MissingCollations.substitute(on: db)
            for sql in schema {
                do {
                    try db.execute(sql: sql)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                    // The object is unusable, or is an index or a trigger that needs an unusable object.
                    continue
                }
            }
        }
        let state = try ScenarioState(on: stage, limits: .none, chunks: ChunkCache())
        defer { state.state.close() }
        try state.loadLanguage()
        files = try Self.reference().files.merging(["schema.d.lua": try state.types()]) { $1 }
    }

    /// Creates the types for the tables that the first scenario on a migrated database sees.
    init(
        _ selected: SelectedScenarios, databases: ScenarioDatabases, chunks: ChunkCache, extensions: SQLiteExtensions
    ) throws {
        let entries = selected.entries.sorted { ($0.scenario.file, $0.scenario.line) < ($1.scenario.file, $1.scenario.line) }
        guard let entry = entries.first(where: { $0.scenario.database == nil }) ?? entries.first else {
            throw ScenarioUsageError("--types requires at least one scenario, whose database the types describe")
        }
        let image = try databases.find(for: entry.scenario, in: entry.source).image
        let stage = try ScenarioStage(.memory, image: image, seed: 0, extensions: extensions)
        defer { stage.close() }
        let state = try ScenarioState(on: stage, limits: .none, chunks: chunks)
        defer { state.state.close() }
        try state.load(entry.source.file)
        files = try Self.reference().files.merging(["schema.d.lua": try state.types()]) { $1 }
    }
}
