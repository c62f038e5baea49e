import ArgumentParser
internal import Perilune

/// The command `perilune settings`.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "List the settings of the project, and where each comes from.",
        usage: "perilune settings [<options>]",
        discussion: """
            A project has its settings in perilune.toml, in the current folder or in the
            nearest one above. Paths are relative to that file. Options have precedence,
            then environment variables, then the file.

              database = "shop.sqlite"        # also PERILUNE_DATABASE
              context = "live"                # also PERILUNE_CONTEXT
              extensions = ["lib/vec0.so"]    # of SQLite; never loaded with --sandbox

              [database]                      # in place of database = "..."
              path = "shop.sqlite"
              journal_mode = "wal"            # of files that commands create
              synchronous = "normal"          # of connections that write
              double_quoted_strings = false   # of triggers and views

              [folders]
              migrations = "db/migrations"
              scenarios = "scenarios"
              types = "types"

              [limits]                        # of run and automations
              timeout = "30s"
              memory = "256M"
              output = "64M"
              disk = "4G"

            EXAMPLES:
              perilune settings
              perilune settings --format json

            EXIT STATUS: 0 success, 78 the file cannot be used.
            """.paragraphs)

    @Option(help: "The format of the table.")
    var format: ResultFormat?

    @OptionGroup var common: CommonOptions

    func run() throws {
        let rows = Setting.allCases.map { setting -> [Cell] in
            let value = Settings.current[setting]
            return [
                Self.text(setting.rawValue), value.map { Self.text($0.text) } ?? .null,
                value.map { Self.text($0.source.text) } ?? .null,
            ]
        }
        let format = format ?? .standard(isTerminal: StandardStreams.isOutputTerminal)
        try format.makeFormatter(columns: ["setting", "value", "source"], colors: common.outputColors).writeTable(rows)
        try StandardStreams.flush()
    }

    private static func text(_ text: String) -> Cell { .text(Array(text.utf8)) }
}
