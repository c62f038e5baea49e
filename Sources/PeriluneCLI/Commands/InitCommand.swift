import ArgumentParser
internal import Foundation
internal import Perilune

/// The command `perilune init`.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Create a new project: migrations, a script, scenarios and editor settings.",
        usage: "perilune init [<folder>] [<options>]",
        discussion: """
            Existing files are left unchanged.

            EXAMPLES:
              perilune init
              perilune init tasks && cd tasks && perilune test
            """.paragraphs)

    @Argument(help: "The folder, created if it does not exist.")
    var folder = "."

    @OptionGroup var common: CommonOptions

    func run() throws {
        let colors = common.errorColors
        for (name, text) in ProjectTemplate.files {
            let path = folder == "." ? name : "\(folder)/\(name)"
            guard !FileManager.default.fileExists(atPath: path) else {
                CommandOutput.note("\(path) already exists", colors)
                continue
            }
            let parent = PathParts(path).folder
            if !parent.isEmpty { try OutputFolder.make(parent) }
            try OutputFile.write(Array(text.utf8), to: path)
            try StandardStreams.write(Array((path + "\n").utf8))
        }
        try StandardStreams.flush()
        let place = folder == "." ? "" : "cd \(folder)\n  "
        CommandOutput.note("next:", colors)
        StandardStreams.writeError(
            "  \(place)perilune test\n  perilune migrate\n  perilune run scripts/add_task.lua 'Write the report'\n  perilune console\n"
        )
    }
}
