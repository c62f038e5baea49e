import ArgumentParser
internal import Foundation
internal import GRDB
internal import Perilune

/// The command `perilune restore`.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a database from a dump.",
        usage: "perilune restore [<file>] [<options>]",
        discussion: """
            Runs the SQL that `perilune dump` or .dump of sqlite3 has written, in one
            transaction: all of it, or nothing. The database is created if it does not
            exist. Triggers, foreign keys and CHECK constraints do not act while rows are
            restored, since the dump has all rows as they were.

            EXAMPLES:
              perilune restore shop.sql --database copy.sqlite
              perilune dump --database shop.sqlite | perilune restore --database new.sqlite
              gunzip -c shop.sql.gz | perilune restore - --database copy.sqlite

            EXIT STATUS: 0 success, 1 a statement fails, as in a file that is not SQL, 64
            usage error, 65 the file is empty, binary or incomplete, 74 a file cannot be
            used, 75 the database is locked.
            """)

    @Argument(help: "The file; - reads standard input, the default in a pipe.", completion: .file(extensions: ["sql"]))
    var file: String?

    @OptionGroup var database: DatabaseOption<RestoreCommand>
    @OptionGroup var extending: ExtensionOptions
    @OptionGroup var context: LiveContextOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        _ = try database.requirePath()
        if file == nil, StandardStreams.isInputTerminal { throw ValidationError("expected the file of a dump") }
    }

    func run() throws {
        let path = try database.requirePath()
        try context.resolved().requireLive("restore", database: path)
        guard !DatabaseFile.isCluster(path) else {
            throw CommandFailure(
                ErrorReport(
                    "restore writes files, not databases in a cluster", kind: "usage",
                    help: "perilune run -e 'db:execute(io.read(\"a\"))' --database \(path) < FILE"))
        }
        let start = ContinuousClock.now
        let dump = try InputFile.read(file ?? "-", failure: { "cannot restore \($0): \($1)" })
        let isNew = !FileManager.default.fileExists(atPath: path)
        let queue = try DatabaseFile.open(path, isReadonly: false, makesFile: true, extensions: extending.paths())
        Interrupts.onFirst { queue.interrupt() }
        let line = ProgressLine()
        let outcome = Result {
            try queue.writeWithoutTransaction { db in
                var restore = DatabaseRestore(db: db, path: file ?? "standard input")
                restore.progress = { part in line?.show("restore", part: part, path) }
                try restore.run(dump)
            }
        }
        line?.erase()
        // Close explicitly, because the signal handler keeps the queue alive.
        try? queue.close()
        if isNew, (try? outcome.get()) == nil { DatabaseFile.removeIfEmpty(path) }
        try outcome.get()
        CommandOutput.note(
            "restored \(path)\(isNew ? ", created by this command" : ""), \(TimeText.text(ContinuousClock.now - start))",
            common.errorColors)
    }
}

extension RestoreCommand: DatabaseCommand {
    static var databaseHelp: String { "The database file, created if it does not exist." }
}
