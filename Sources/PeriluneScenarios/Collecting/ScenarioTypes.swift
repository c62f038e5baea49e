internal import Foundation
internal import PeriluneBindings
internal import PeriluneLua

/// Types for editors (LuaCATS): what scripts see, the words of the scenario language, and the tables of a project.
public struct ScenarioTypes: Sendable {
    /// Text by the name of the file that it belongs into.
    public let files: [String: String]

    /// Those that are the same for all projects.
    package static let reference = ScenarioTypes(files: [
        "perilune.d.lua": LibraryModules.reference.source(of: "reference.types.perilune") ?? "",
        "scenarios.d.lua": LibraryModules.reference.source(of: "reference.types.scenarios") ?? "",
    ])

    private init(files: [String: String]) {
        self.files = files
    }

    /// Writes the files into a folder, which is made if it does not exist.
    ///
    /// - Returns: The paths of those that were not the same already.
    /// - Throws: What `FileManager` throws if the folder or a file cannot be written.
    public func write(to folder: String) throws -> [String] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return try files.sorted { $0.key < $1.key }.compactMap { name, text in
            let path = folder + "/" + name
            if FileManager.default.contents(atPath: path) == Data(text.utf8) { return nil }
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
            return path
        }
    }

    /// The types as the first of the scenarios that begin with a migrated database finds its tables.
    init(_ selected: SelectedScenarios, databases: ScenarioDatabases, chunks: ChunkCache) throws {
        let entries = selected.entries.sorted { ($0.scenario.file, $0.scenario.line) < ($1.scenario.file, $1.scenario.line) }
        guard let entry = entries.first(where: { $0.scenario.database == nil }) ?? entries.first else {
            throw ScenarioUsageError("--types requires at least one scenario, whose database the types describe")
        }
        let image = try databases.find(for: entry.scenario, in: entry.source).image
        let stage = try ScenarioStage(.memory, image: image, seed: 0)
        defer { stage.close() }
        let state = try ScenarioState(on: stage, limits: .none, chunks: chunks)
        defer { state.state.close() }
        try state.load(entry.source.file)
        files = Self.reference.files.merging(["schema.d.lua": try state.types()]) { $1 }
    }
}

extension ScenarioRun {
    /// Finds the scenarios and makes their types.
    ///
    /// - Throws: ``ScenarioUsageError`` if there is no scenario.
    public func types() async throws -> ScenarioTypes {
        let selected = try await selectScenarios()
        let (options, chunks, store) = (options, chunks, store)
        // Lua's parser recurses: it needs a large stack.
        return try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                let databases = ScenarioDatabases(store: store, chunks: chunks, options: options)
                continuation.resume(with: Result { try ScenarioTypes(selected, databases: databases, chunks: chunks) })
            }
            thread.stackSize = LuaThread.defaultStackSizeInBytes
            thread.start()
        }
    }
}
