import ArgumentParser

/// The command `perilune`.
struct PeriluneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "perilune",
        abstract: "Run Lua scripts against SQLite databases.",
        discussion: """
            Data goes to standard output, everything else to standard error. Without
            arguments, on a terminal, `perilune` is `perilune console`.

            EXAMPLES:
              perilune run report.lua --database shop.sqlite
              perilune run -e 'print(db:fetch_value("SELECT sqlite_version()"))'
              perilune console shop.sqlite
              perilune query --database shop.sqlite 'SELECT * FROM customer'
              perilune migrate --database shop.sqlite --status
              perilune test
              perilune help db:fetch_all
            """.paragraphs,
        version: Version.perilune,
        subcommands: [
            RunCommand.self, WatchCommand.self, ConsoleCommand.self, QueryCommand.self, ChartCommand.self, ImportCommand.self,
            SchemaCommand.self, DumpCommand.self,
            RestoreCommand.self, ApplyCommand.self, MigrateCommand.self, NewMigrationCommand.self, AutomationsCommand.self,
            TestCommand.self, TypesCommand.self, InitCommand.self, SettingsCommand.self,
            DoctorCommand.self, CompletionCommand.self, ManualCommand.self, VersionCommand.self,
        ])

    /// Returns whether a command has an option. For words that are not options, and for commands with subcommands, returns true.
    static func has(_ option: String, command name: String) -> Bool {
        guard option.hasPrefix("-"),
            let command = configuration.subcommands.first(where: { $0.configuration.commandName == name }),
            command.configuration.subcommands.isEmpty
        else { return true }
        let option = option.prefix { $0 != " " && $0 != "'" }
        return helpMessage(for: command, columns: 1000).split(separator: "\n").contains { line in
            line.hasPrefix("  -") && line.split { " ,/".contains($0) }.prefix(2).contains(option)
        }
    }
}
