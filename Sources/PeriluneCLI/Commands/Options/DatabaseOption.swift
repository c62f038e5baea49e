import ArgumentParser

/// A command that uses a database.
protocol DatabaseCommand {
    /// The help of `--database`, which explains the behavior of the command if the option or the file is missing.
    static var databaseHelp: String { get }
}

/// The database of a command, from the option or the settings.
enum DatabasePath {
    static func value(option: String?) -> Settings.Value? { Settings.value(.database, option: option, named: "--database") }

    /// The path of the file; `nil` for a private database in memory.
    static func path(option: String?) -> String? { value(option: option).flatMap { $0.text == ":memory:" ? nil : $0.text } }
}

/// The option `--database` with help for a specific command.
struct DatabaseOption<Command: DatabaseCommand>: ParsableArguments {
    @Option(
        help: ArgumentHelp(Command.databaseHelp + " Or dqlite://HOST:PORT/NAME.", valueName: "path"),
        completion: .file(extensions: ["sqlite", "sqlite3", "db"]))
    var database: String?

    /// The database from the option or the settings, with its source; `nil` if neither names one.
    private var value: Settings.Value? { DatabasePath.value(option: database) }

    /// The path of the file; `nil` for a private database in memory.
    var path: String? { DatabasePath.path(option: database) }

    /// The database and its source, for `--verbose`.
    var note: String { "database: \(path ?? "private, in memory")\(value?.origin ?? "")" }

    /// Whether `--database` was given.
    var isGiven: Bool { database != nil }

    /// Returns the path of the file, for commands that require one.
    func requirePath() throws -> String {
        guard let path else {
            throw ValidationError(
                "expected --database PATH, the environment variable PERILUNE_DATABASE, or `database` in \(Settings.fileName)")
        }
        return path
    }

    func validate() throws {
        if database?.isEmpty == true { throw ValidationError("--database: expected the path of a file, got nothing") }
    }
}

/// The option `--create` for commands that otherwise reject a missing database file, because its path may be mistyped.
struct CreateOption: ParsableArguments {
    @Flag(help: "Start with an empty database if the file of --database does not exist.")
    var create = false
}
