import ArgumentParser
internal import Foundation
internal import Perilune
internal import PeriluneBindings
internal import PeriluneScenarios

/// The command `perilune types`.
struct TypesCommand: AsyncParsableCommand, DatabaseCommand {
    static let databaseHelp = "The database file whose tables schema.d.lua describes."

    static let configuration = CommandConfiguration(
        commandName: "types",
        abstract: "Write types for editors (LuaCATS).",
        discussion: """
            Writes perilune.d.lua, which describes the whole Lua API, scenarios.d.lua,
            which describes the functions of scenarios, and with a database schema.d.lua,
            which describes its tables. `perilune test --types` describes the tables that
            the migrations of a project make. Files that are up to date are not touched.

            The language server finds the folder by .luarc.json, which is written if there
            is none in the current folder.

            EXAMPLES:
              perilune types .types
              perilune types .types --database shop.sqlite --check
            """.paragraphs)

    @Argument(
        help: "The folder, created if it does not exist; by default `types`, or the one in perilune.toml.", completion: .directory
    )
    var folder: String?

    @Flag(help: "Write nothing, and exit with status 1 if a file is missing or outdated.")
    var check = false

    @OptionGroup var database: DatabaseOption<TypesCommand>
    @OptionGroup var extending: ExtensionOptions

    func run() async throws {
        let folder = FolderSetting(.types, option: folder, named: "FOLDER").path
        let types = try await makeTypes()
        for flaw in types.flaws { Self.note("left out: \(flaw)") }
        guard !check else { return try Self.check(types, in: folder) }
        for path in try types.write(to: folder) { Self.note("written: \(path)") }
        try Self.writeSettings(for: folder)
    }

    private func makeTypes() async throws -> ScenarioTypes {
        guard let path = database.path else { return try .reference() }
        // The database in the settings of the project may not exist yet.
        if database.database == nil, DatabaseFile.isMissing(path) { return try .reference() }
        try DatabaseFile.requireExisting(path)
        do {
            return try await .describing(database: path, extensions: SQLiteExtensions(extending.paths()))
        } catch {
            throw CommandFailure(ErrorReport(opening: path, error: error))
        }
    }

    private static func check(_ types: ScenarioTypes, in folder: String) throws {
        let paths = types.outdated(in: folder).map(\.path)
        guard !paths.isEmpty else { return }
        var report = ErrorReport("missing or outdated: \(paths.joined(separator: ", "))", kind: "outdated")
        report.help = "`perilune types` without --check writes them"
        throw CommandFailure(report)
    }

    private static func writeSettings(for folder: String) throws {
        let path = ".luarc.json"
        guard !FileManager.default.fileExists(atPath: path) else { return }
        try OutputFile.write(Array(ProjectTemplate.editorSettings(types: folder).utf8), to: path)
        note("written: \(path)")
    }

    private static func note(_ text: String) {
        StandardStreams.writeError("\(text)\n")
    }
}
