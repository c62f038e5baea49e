internal import ArgumentParser
internal import Foundation

/// A command as the argument parser describes it.
struct CommandDescription: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            /// The option as users type it.
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

    /// The words of the command, such as `perilune automations list`.
    var words: [String] {
        // The parser uses a different name for `migrate new`.
        ((superCommands ?? []) + [commandName]).flatMap { $0 == "migrate-new" ? ["migrate", "new"] : [$0] }
    }

    /// Reads the description of a command and all of its subcommands.
    static func read(_ command: any ParsableCommand.Type) throws -> CommandDescription {
        struct Tool: Decodable { let command: CommandDescription }
        return try JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8)).command
    }

    /// This command and all its subcommands, except `help`.
    var all: [CommandDescription] {
        [self] + (subcommands ?? []).filter { $0.commandName != "help" }.flatMap(\.all)
    }
}
