import ArgumentParser
internal import Perilune

/// The command `perilune migrate new`. It is a separate command for the parser, because the argument of `migrate` is a folder.
struct NewMigrationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate-new",
        abstract: "Create a new migration file.",
        usage: "perilune migrate new <name> [--folder <folder>] [--sql]",
        discussion: """
            The file is numbered after the last migration in the folder.

            EXAMPLES:
              perilune migrate new add_prices
              perilune migrate new 'Add prices' --sql
            """.paragraphs,
        shouldDisplay: false)

    @Argument(help: "The name of the migration.")
    var name: String

    @Option(help: "The folder of the migrations; by default `migrations`, or the one in perilune.toml.", completion: .directory)
    var folder: String?

    @Flag(help: "Create SQL files: one for the migration, and one that undoes it.")
    var sql = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard name.prefix(while: { $0 != "." }).contains(where: { $0.isLetter || $0.isNumber }) else {
            throw ValidationError("expected a name with letters or digits")
        }
        if folder?.isEmpty == true { throw ValidationError("--folder: expected the path of a folder, got nothing") }
    }

    func run() throws {
        // The name may include the extension of the file.
        let ending = [".sql", ".lua"].first(where: name.lowercased().hasSuffix)
        var migration = NewMigration(
            folder: FolderSetting(.migrations, option: folder, named: "--folder").path,
            name: String(name.dropLast(ending?.count ?? 0)))
        migration.isSQL = sql || ending == ".sql"
        try StandardStreams.write(Array(migration.make().map { $0 + "\n" }.joined().utf8))
        try StandardStreams.flush()
    }
}
