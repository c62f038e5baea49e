import ArgumentParser
internal import GRDB
internal import Perilune
internal import PeriluneRecords

/// The command `perilune dump`.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Write a database as SQL that recreates it.",
        usage: "perilune dump [<table>] [<options>]",
        discussion: """
            Writes tables first, then their rows, then indexes, views and triggers, in one
            transaction. The dump is a consistent snapshot of the database; `perilune
            restore` and sqlite3 read it. Of a damaged file it writes what can be read; the
            pages of the tables are checked, too, as by PRAGMA quick_check.

            --schema-only and --data-only write two dumps that make the database again one
            after the other: while the rows are written the triggers of their tables are
            dropped.

            EXAMPLES:
              perilune dump --database shop.sqlite > shop.sql
              perilune dump customer --database shop.sqlite --data-only
              perilune dump --database shop.sqlite | gzip > shop.sql.gz
              perilune dump --database shop.sqlite | perilune restore --database new.sqlite

            EXIT STATUS: 0 success, 1 a table is missing, 64 usage error, 65 the file is not
            a database, or damaged: the dump has the rows that can be read, 74 a file cannot
            be used, 75 the database is locked.
            """.paragraphs)

    @Argument(help: "Write only this table.", completion: .custom(CompletionValues.tables))
    var table: String?

    @OptionGroup var database: DatabaseOption<DumpCommand>

    @Flag(help: "Write only the schema, without rows.")
    var schemaOnly = false

    @Flag(help: "Write only the rows, without the schema.")
    var dataOnly = false

    @OptionGroup var output: OutputOption

    @OptionGroup var extending: ExtensionOptions
    @OptionGroup var pager: PagerOption
    @OptionGroup var context: LiveContextOptions
    @OptionGroup var common: CommonOptions

    /// The extensions of files that do not contain SQL.
    private static let otherFormats: Set = [
        "csv", "tsv", "json", "jsonl", "ndjson", "md", "html", "htm", "xlsx", "parquet", "db", "sqlite", "sqlite3",
    ]

    func validate() throws {
        _ = try database.requirePath()
        if let file = output.output, let format = OutputDestination.format(of: file), !DatabaseFile.isDatabase(file) {
            let use = ["db", "sqlite", "sqlite3"].contains(format) ? "VACUUM INTO" : "`perilune query --output`"
            if Self.otherFormats.contains(format) {
                throw ValidationError(
                    "--output: a dump is SQL, expected a file NAME.sql, got \(file); use \(use) for other formats")
            }
        }
        if schemaOnly, dataOnly { throw ValidationError("--schema-only cannot be combined with --data-only") }
    }

    func run() throws {
        let path = try database.requirePath()
        try context.resolved().requireLive("dump", database: path)
        let queue = try DatabaseFile.openForReading(path, extensions: extending.paths())
        if let remark = try DatabaseFile.remarkOnEmpty(queue, path) { CommandOutput.note(remark, common.errorColors) }
        // Close explicitly, because the signal handler keeps the queue alive.
        defer { try? queue.close() }
        Interrupts.onFirst { queue.interrupt() }
        let destination = try output.open()
        let (incomplete, damaged, flaws) = try destination.writing(pager) { try write(queue, to: destination) }
        for flaw in flaws { CommandOutput.note(flaw, common.errorColors) }
        let others = damaged.filter { !incomplete.contains($0) }
        guard !incomplete.isEmpty || !others.isEmpty else { return }
        let parts = [
            incomplete.isEmpty
                ? nil : "some rows of \(incomplete.joined(separator: ", ")) cannot be read, the others were written",
            others.isEmpty ? nil : "rows of \(others.joined(separator: ", ")) may be missing or wrong in the dump",
        ].compactMap { $0 }
        let advice = "`perilune doctor --database \(path)` shows the damage; compare the dump with a backup"
        throw CommandFailure(
            ErrorReport("the file is damaged: " + parts.joined(separator: "; "), kind: "corrupt", help: advice))
    }

    /// Writes the dump. Returns the names of tables whose rows may be incomplete, of tables on damaged pages, and descriptions of
    /// unusable tables and views.
    private func write(_ queue: DatabaseQueue, to destination: OutputDestination) throws -> (
        incomplete: [String], damaged: [String], flaws: [String]
    ) {
        var incomplete: [String] = [], damaged: [String] = [], flaws: [String] = []
        do {
            try queue.read { db in
                MissingCollations.substitute(on: db)
                let tables = try TableDescription.readAll(in: db, named: table)
                if let table, tables.isEmpty {
                    throw SchemaCommand.unknown(table, among: try TableDescription.readAll(in: db).map(\.name))
                }
                flaws = TableDescription.flaws(of: tables)
                var dump = DatabaseDump(db: db, tables: tables, write: destination.write)
                dump.isPart = table != nil
                dump.parts = schemaOnly ? .schema : dataOnly ? .data : .all
                incomplete = try dump.run()
                if !schemaOnly { damaged = try dump.damagedTables() }
            }
            return (incomplete, damaged, flaws)
        } catch let error as DatabaseError {
            // In a damaged file, ending the transaction can fail although the dump is written.
            let isKnown = !incomplete.isEmpty || !damaged.isEmpty
            if error.resultCode == .SQLITE_CORRUPT, isKnown { return (incomplete, damaged, flaws) }
            throw CommandFailure(ErrorReport(error))
        }
    }
}

extension DumpCommand: DatabaseCommand {
    static var databaseHelp: String { "The database file." }
}
