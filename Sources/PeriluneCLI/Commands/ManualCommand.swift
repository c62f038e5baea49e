import ArgumentParser
internal import Foundation
internal import Perilune

/// The command `perilune manual`.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Write the manual pages of all commands, for man.",
        discussion: """
            EXAMPLES:
              perilune manual ~/.local/share/man/man1
              perilune manual /tmp/pages && man /tmp/pages/perilune-run.1
            """.paragraphs)

    @Argument(help: "The folder, which is made if it does not exist.", completion: .directory)
    var folder: String

    func run() throws {
        try OutputFolder.make(folder)
        for command in try CommandDescription.read(PeriluneCommand.self).all {
            let page = ManualPage(command: command)
            try OutputFile.write(Array(page.text.utf8), to: "\(folder)/\(page.fileName)")
        }
    }
}
