import ArgumentParser
internal import Foundation

/// A command that uses a database.
protocol DatabaseCommand {
    /// The help of `--database`, which says what the command does without the option, and where the file does not exist.
    static var databaseHelp: String { get }
}

/// The option `--database`, with the help of its command.
struct DatabaseOption<Command: DatabaseCommand>: ParsableArguments {
    @Option(help: ArgumentHelp(Command.databaseHelp, valueName: "path"))
    var database: String?

    /// The path of the file, by the option or by the variable `PERILUNE_DATABASE`; `nil` for a private database in memory.
    var path: String? {
        let variable = ProcessInfo.processInfo.environment["PERILUNE_DATABASE"].flatMap { $0.isEmpty ? nil : $0 }
        let path = database ?? variable
        return path == ":memory:" ? nil : path
    }

    /// The path of the file, for commands that do nothing without one.
    func requirePath() throws -> String {
        guard let path else { throw ValidationError("expected --database PATH, or the variable PERILUNE_DATABASE") }
        return path
    }

    func validate() throws {
        if database?.isEmpty == true { throw ValidationError("--database: expected the path of a file, got nothing") }
    }
}

/// The option of commands that otherwise refuse a database that does not exist: a mistyped path is not an empty database.
struct CreateOption: ParsableArguments {
    @Flag(help: "Start with an empty database if the file of --database does not exist.")
    var create = false
}
