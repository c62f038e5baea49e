internal import ArgumentParser
internal import Foundation

/// A command as its parser describes it.
struct CommandDescription: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            /// As it is typed.
            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        let kind: String
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let allValues: [String]?
        let abstract: String?
        let discussion: String?
    }

    let superCommands: [String]?
    let commandName: String
    let shouldDisplay: Bool?
    let abstract: String?
    let discussion: String?
    let subcommands: [CommandDescription]?
    let arguments: [Argument]?

    /// All of its words, as in `perilune automations list`.
    var words: [String] {
        // The parser has a name of its own for `migrate new`.
        ((superCommands ?? []) + [commandName]).flatMap { $0 == "migrate-new" ? ["migrate", "new"] : [$0] }
    }

    /// The command `perilune` with all others.
    static func read() throws -> CommandDescription {
        struct Tool: Decodable { let command: CommandDescription }
        return try JSONDecoder().decode(Tool.self, from: Data(PeriluneCommand._dumpHelp().utf8)).command
    }

    /// This command and those below it that have a page: all but the help of subcommands.
    var all: [CommandDescription] {
        [self] + (subcommands ?? []).filter { $0.commandName != "help" }.flatMap(\.all)
    }
}
