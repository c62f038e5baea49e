import ArgumentParser
internal import PeriluneRecords

/// The command `perilune migrate`.
struct MigrateCommand: AsyncParsableCommand, DatabaseCommand {
    static let databaseHelp = "The database file, created if it does not exist."

    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring the schema of a database up to date.",
        usage: """
            perilune migrate [<folder>] [<options>]
            perilune migrate new <name>
            """,
        discussion: """
            Applies the pending migrations in FOLDER in the byte order of their names, each
            in its own transaction. A migration is a file NAME.sql, or a file NAME.lua that
            returns a function(db), or a table with the function `up` and the options
            `foreign_keys`, `merges` and `down`. A migration that fails is rolled back and
            stops the run; earlier ones stay applied.

            --down undoes the last migration with its function `down` or with NAME.down.sql;
            with --to, it undoes all migrations after that one, each in its own transaction.
            If one of them has no way back, nothing is changed. If undoing one fails, the
            ones undone before it stay undone. The first migration has none before it: to
            undo all, go back to it with --to, and then give --down once more.

            A database that is not empty is first copied to FILE.before-NAME.sqlite, or with
            --down to FILE.before-undoing-NAME.sqlite, unless --no-backup is given. If that
            file exists, the name ends with -2, -3 and so on. The copies are not removed,
            except that of a run which changed nothing.

            EXAMPLES:
              perilune migrate --database shop.sqlite
              perilune migrate new add_prices
              perilune migrate db/migrations --database shop.sqlite --to 0007_add_prices
              perilune migrate --database shop.sqlite --down --to 0006_add_taxes
              perilune migrate --database shop.sqlite --status
              perilune migrate --database shop.sqlite --preview
              perilune migrate --database shop.sqlite --check || echo "not up to date"

            EXIT STATUS: 0 success, 1 a migration failed; with --check, one was edited after
            being applied, or FOLDER lacks an applied one; 2 migrations are pending (with
            --check), 64 usage error, 65 a migration does not parse or the file is not a
            database, 74 a file cannot be used, 75 the database is locked, 130 Ctrl-C.
            """.paragraphs)

    @Argument(
        help: "The folder of the migrations; `migrations`, or that of perilune.toml, if none is given.", completion: .directory)
    var folder: String?

    @OptionGroup var database: DatabaseOption<MigrateCommand>

    @Option(
        help: ArgumentHelp("The last migration to apply; with --down, the last one to keep.", valueName: "name"),
        completion: .custom(CompletionValues.migrations))
    var to: String?

    @Flag(help: "Undo the last migration, or with --to all that come after it.")
    var down = false

    @Flag(help: "Only show which migrations are applied, pending, unknown or edited.")
    var status = false

    @Flag(help: "Only check: exit with status 2 if migrations are pending, 1 if one was edited or is unknown.")
    var check = false

    @Flag(help: "Run the migrations on a temporary copy of the database.")
    var dryRun = false

    @Flag(help: "Like --dry-run, and show the changes to rows and schema, as text or with --format json.")
    var preview = false

    @Flag(help: "Do not make a backup copy first.")
    var noBackup = false

    @Option(help: "The format of tables.")
    var format: ResultFormat?

    @OptionGroup var extending: ExtensionOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if folder?.isEmpty == true { throw ValidationError("expected the path of a folder, got nothing") }
        if to?.isEmpty == true { throw ValidationError("--to: expected the name of a migration, got nothing") }
        if (dryRun || preview) && (status || check) {
            throw ValidationError("--\(preview ? "preview" : "dry-run") cannot be combined with --status or --check")
        }
        if down, preview || status || check {
            throw ValidationError(
                "--down cannot be combined with --preview, --status or --check; use --dry-run to try it on a copy")
        }
        if preview, let format, format != .json { throw ValidationError("--preview supports only --format json") }
    }

    /// Returns the path of the database. ``validate()`` does not call this, so misspelled options are reported first.
    private func requireDatabase() throws -> String {
        if let path = database.path { return path }
        let isFile = database.database == nil && folder.map { DatabaseFile.isFile($0) } ?? false
        throw ValidationError(
            "expected --database with the path of a file"
                + (isFile ? ": did you mean `perilune migrate --database \(folder ?? "")`?" : ""))
    }

    func run() async throws {
        let colors = common.errorColors
        let folder = FolderSetting(.migrations, option: folder, named: "FOLDER")
        var request = MigrationRequest(folder: Self.trimmed(folder.path), database: try requireDatabase())
        request.target = to
        let context = try context.resolved()
        request.isDown = down
        request.isDryRun = dryRun
        if preview || context.context == .preview { request.preview = format == .json ? .json : .text }
        let usesCopy = dryRun || request.preview != nil && !down
        if !usesCopy || status || check { try context.requireLive("migrate", database: request.database) }
        request.makesBackup = !noBackup
        if let word = self.folder, DatabaseFile.isMissing(word) { request.helpOnMissingFolder = helpOnMissingFolder(word) }
        request.extensions = extending.paths()
        if common.verbose {
            CommandOutput.note(database.note, colors)
            CommandOutput.note("migrations: \(request.folder)\(folder.origin)", colors)
            for note in [ExtensionOptions.note(), self.context.note].compactMap({ $0 }) { CommandOutput.note(note, colors) }
        }
        let format = format ?? .standard(isTerminal: StandardStreams.isOutputTerminal)
        let runner = MigrationCommandRunner(
            request: request, colors: colors, outputColors: common.outputColors
        ) { columns in
            format.makeFormatter(columns: columns, colors: common.outputColors)
        }
        let exitStatus = try await run(runner, request)
        try StandardStreams.flush()
        if exitStatus != 0 { throw ExitCode(exitStatus) }
    }

    /// Returns advice on a word in place of the folder that has another meaning, as in `migrate status` or `migrate --down 0002_tax`.
    private func helpOnMissingFolder(_ word: String) -> String? {
        if let use = OtherNames.option("--" + word, of: "migrate") {
            return "use `\(use.hasPrefix("perilune") ? use : "perilune migrate \(use)")`"
        }
        if PeriluneCommand.has("--" + word, command: "migrate") { return "use `perilune migrate --\(word)`" }
        let names = Settings.current[.migrations].flatMap { try? MigrationFolder($0.text).files.map(\.name) } ?? []
        let name = names.contains(word) ? word : nearestName(to: word, among: names)
        if let name { return "did you mean `perilune migrate \(down ? "--down " : "")--to \(name)`?" }
        return down ? "--down undoes the last migration; with --to NAME, all that come after NAME" : nil
    }

    private func run(_ runner: MigrationCommandRunner, _ request: MigrationRequest) async throws -> Int32 {
        if status || check { return try await runner.show(status: status, check: check) }
        if request.isDown { return try await runner.migrateDown() }
        if let format = request.preview { return try await runner.preview(format) }
        return try await runner.migrate()
    }

    /// Returns the path without trailing slashes, which would appear in file names.
    private static func trimmed(_ path: String) -> String {
        var path = path[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        return String(path)
    }
}
