import ArgumentParser
internal import Foundation
internal import Perilune

/// The command `perilune console`.
struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Work with a database in Lua and SQL, a statement at a time.",
        discussion: """
            What is typed is Lua, SQL, or a command of the console, which begins with a
            colon: `:help` lists them. An expression shows its value: rows and records as
            tables, requests as their SQL with the first rows, record classes as their
            columns. Each table is a record class with the associations that its foreign
            keys mean, so that `Customer:filter{ Country = "Brazil" }` works at once.

            Without a terminal statements are read from standard input: SQL ends with a
            semicolon there, or with an empty line.

            PREVIEW: With --preview everything happens in a private copy. `:changes` shows
            what has changed, `:apply` makes exactly that in the database, `:discard`
            forgets it. No lock is held meanwhile.

            EXAMPLES:
              perilune console shop.sqlite
              perilune console shop.sqlite --preview
              echo 'SELECT count(*) FROM customer' | perilune console shop.sqlite

            The history is kept for each folder, in $XDG_STATE_HOME/perilune; what begins
            with a space is not.
            """)

    @Argument(
        help: "The database; a private one in memory if none is given.", completion: .file(extensions: ["sqlite", "sqlite3", "db"]))
    var file: String?

    @OptionGroup var database: DatabaseOption<ConsoleCommand>

    @Flag(help: "Open the database for reading only.")
    var readonly = false

    @Flag(help: "Run without io, os, file modules, and SQL that can access files.")
    var sandbox = false

    @Flag(help: "Work in a private copy.")
    var preview = false

    @OptionGroup var creating: CreateOption
    @OptionGroup var context: ContextOptions
    @OptionGroup var common: CommonOptions

    /// The path of the database; `nil` for a private one in memory.
    private var path: String? { file.flatMap { $0 == ":memory:" ? nil : $0 } ?? database.path }

    func validate() throws {
        if file != nil, database.database != nil { throw ValidationError("the database is named twice") }
        if file?.isEmpty == true { throw ValidationError("expected the path of a database, got nothing") }
        if preview, readonly { throw ValidationError("--preview shows changes, which --readonly does not allow") }
    }

    func run() async throws {
        let context = try context.resolved()
        var options = try makeOptions()
        if context.context == .preview { options.isPreview = options.database != nil }
        if context.context == .test { options.database = nil }
        let editor = makeEditor(options)
        let status = try await context.run { [options] in
            let session = try await ConsoleSession.start(options, editor)
            return await session.run()
        }
        try StandardStreams.flush()
        if status != 0 { throw ExitCode(status) }
    }

    private func makeOptions() throws -> ConsoleOptions {
        var options = ConsoleOptions(database: path)
        if let path, !creating.create { try DatabaseFile.requireExisting(path, option: "--create takes an empty one") }
        options.isReadonly = readonly
        options.isSandboxed = sandbox
        options.isPreview = preview && path != nil
        options.isTerminal = StandardStreams.isInputTerminal && StandardStreams.isOutputTerminal
        options.colors = common.outputColors
        options.errorColors = common.errorColors
        return options
    }

    private func makeEditor(_ options: ConsoleOptions) -> any LineEditor {
        guard options.isTerminal else { return PlainEditor() }
        let path = LineHistory.path(
            forFolder: FileManager.default.currentDirectoryPath, environment: ProcessInfo.processInfo.environment)
        return TerminalEditor(history: LineHistory(path: path), usesStyles: options.colors.isOn)
    }
}

extension ConsoleCommand: DatabaseCommand {
    static var databaseHelp: String { "The database, as other commands name it." }
}
