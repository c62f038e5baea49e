import ArgumentParser
internal import Foundation
internal import Perilune
internal import PeriluneBindings
internal import PeriluneScenarios

/// The command `perilune types`.
struct TypesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "types",
        abstract: "Write types for editors (LuaCATS).",
        discussion: """
            Writes perilune.d.lua, which describes the whole Lua API, and scenarios.d.lua,
            which describes the functions of scenarios. `perilune test --types` also
            describes the tables of a project. Files that are up to date are not touched.

            EXAMPLES:
              perilune types .types
            """)

    @Argument(
        help: "The folder, created if it does not exist; by default `types`, or the one in perilune.toml.", completion: .directory)
    var folder: String?

    func run() throws {
        let folder = FolderSetting(.types, option: folder, named: "FOLDER").path
        for path in try ScenarioTypes.reference.write(to: folder) { StandardStreams.writeError("written: \(path)\n") }
    }
}
