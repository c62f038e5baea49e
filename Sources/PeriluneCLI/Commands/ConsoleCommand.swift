import ArgumentParser
internal import Foundation
internal import Perilune
internal import PeriluneDependencies

/// The command `perilune console`.
struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Explore and change a database interactively, in Lua and SQL.",
        discussion: """
            Enter Lua, SQL, or a console command, which begins with a colon; `:help` lists
            the commands. The console prints the value of an expression: rows and records
            as tables, requests as their SQL and first rows, record classes as their
            columns. Each table has a record class, with associations derived from its
            foreign keys: `Customer:filter{ Country = "Brazil" }` works at once.

            Without a terminal, statements are read from standard input. There, an SQL
            statement ends with a semicolon or an empty line, and the first error ends the
            console with status 1; with --no-bail it goes on.

            TRANSACTIONS: BEGIN opens a transaction, which COMMIT ends and ROLLBACK undoes;
            the prompt shows that one is open. SAVEPOINT, RELEASE and ROLLBACK TO work, and
            Lua runs in the transaction, too. A transaction that is open at the end, or at
            the error that ends the console, is rolled back.

            PREVIEW: With --preview all changes go to a private copy. `:changes` shows
            them, `:apply` applies exactly these changes to the database, and `:discard`
            drops them. The database is not locked.

            EXAMPLES:
              perilune console shop.sqlite
              perilune console shop.sqlite --preview
              echo 'SELECT count(*) FROM customer' | perilune console shop.sqlite
              perilune console copy.sqlite --create < dump.sql

            Each folder has its own history, kept in $XDG_STATE_HOME/perilune. Lines that
            begin with a space are not kept.
            """.paragraphs)

    @Argument(
        help: "The database file; by default the one in the settings, or else a temporary database in memory.",
        completion: .file(extensions: ["sqlite", "sqlite3", "db"]))
    var file: String?

    @OptionGroup var database: DatabaseOption<ConsoleCommand>

    @Flag(help: "Open the database read-only.")
    var readonly = false

    @Flag(help: "Run without io, os, file modules and SQL that can access files.")
    var sandbox = false

    @Flag(
        inversion: .prefixedNo, help: "Without a terminal, stop at the first error, with status 1.")
    var bail = true

    @Flag(help: "Work on a private copy of the database.")
    var preview = false

    @OptionGroup var extending: ExtensionOptions
    @OptionGroup var creating: CreateOption
    @OptionGroup var context: ContextOptions
    @OptionGroup var common: CommonOptions

    /// The path of the database; `nil` for a private one in memory.
    private var path: String? { file.flatMap { $0 == ":memory:" ? nil : $0 } ?? database.path }

    func validate() throws {
        if file != nil, database.database != nil {
            throw ValidationError("the database is given twice; pass it as the argument or with --database")
        }
        if file?.isEmpty == true { throw ValidationError("expected the path of a database, got nothing") }
        try extending.validate(isSandboxed: sandbox)
        if preview, readonly { throw ValidationError("--preview cannot be combined with --readonly") }
    }

    func run() async throws {
        let context = try context.resolved()
        var options = try makeOptions()
        if context.context == .preview { (options.isPreview, options.mayWorkLive) = (options.database != nil, false) }
        if context.context == .test { options.database = nil }
        if common.verbose, let note = ExtensionOptions.note(isSandboxed: sandbox) { CommandOutput.note(note, common.errorColors) }
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
        if let path, !creating.create {
            try DatabaseFile.requireExisting(path, option: DatabaseFile.creating)
        }
        options.isReadonly = readonly
        options.isSandboxed = sandbox
        options.extensions = extending.paths(isSandboxed: sandbox)
        options.isPreview = preview && path != nil
        options.stopsAtErrors = bail
        options.isTerminal = StandardStreams.isInputTerminal && StandardStreams.isOutputTerminal
        options.colors = common.outputColors
        options.errorColors = common.errorColors
        return options
    }

    private func makeEditor(_ options: ConsoleOptions) -> any LineEditor {
        guard options.isTerminal else { return PlainEditor() }
        let path = LineHistory.path(
            forFolder: FileManager.default.currentDirectoryPath, environment: .ofProcess)
        return TerminalEditor(history: LineHistory(path: path), usesStyles: options.colors.isOn)
    }
}

extension ConsoleCommand: DatabaseCommand {
    static var databaseHelp: String { "The database file, instead of the argument." }
}
