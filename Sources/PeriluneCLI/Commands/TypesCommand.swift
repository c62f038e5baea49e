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
            Writes perilune.d.lua, which describes all that scripts see, and scenarios.d.lua,
            which describes the words of scenarios. `perilune test --types` also describes
            the tables of a project. Files that are the same already are left alone.

            EXAMPLES:
              perilune types .types
            """)

    @Argument(
        help: "The folder, which is made if it does not exist; `types`, or that of perilune.toml, if none is given.", completion: .directory)
    var folder: String?

    func run() throws {
        let folder = FolderSetting(.types, option: folder, named: "FOLDER").path
        for path in try ScenarioTypes.reference.write(to: folder) { StandardStreams.writeError("written: \(path)\n") }
    }
}
