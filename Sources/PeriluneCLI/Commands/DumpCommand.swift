import ArgumentParser
internal import GRDB
internal import Perilune
internal import PeriluneRecords

/// The command `perilune dump`.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Write a database as SQL that recreates it.",
        discussion: """
            Writes tables first, then their rows, then indexes, views and triggers, in one
            transaction. The dump is a consistent snapshot of the database. Of a damaged file
            it writes what can be read.

            EXAMPLES:
              perilune dump --database shop.sqlite > shop.sql
              perilune dump customer --database shop.sqlite --data-only
              perilune dump --database shop.sqlite | sqlite3 copy.sqlite
            """)

    @Argument(help: "Write only this table.", completion: .custom(CompletionValues.tables))
    var table: String?

    @OptionGroup var database: DatabaseOption<DumpCommand>

    @Flag(help: "Write only the schema, without rows.")
    var schemaOnly = false

    @Flag(help: "Write only the rows, without the schema.")
    var dataOnly = false

    @OptionGroup var output: OutputOption

    @OptionGroup var pager: PagerOption
    @OptionGroup var context: ContextOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        _ = try database.requirePath()
        if schemaOnly, dataOnly { throw ValidationError("--schema-only cannot be combined with --data-only") }
    }

    func run() throws {
        let path = try database.requirePath()
        try context.resolved().requireLive("dump", database: path)
        let queue = try DatabaseFile.openForReading(path)
        if let remark = try DatabaseFile.remarkOnEmpty(queue, path) { CommandOutput.note(remark, common.errorColors) }
        Interrupts.onFirst { queue.interrupt() }
        let destination = try output.open()
        let incomplete = try destination.writing(pager) { try write(queue, to: destination) }
        guard !incomplete.isEmpty else { return }
        let names = incomplete.joined(separator: ", ")
        throw CommandFailure(ErrorReport("the file is damaged: some rows of \(names) cannot be read, the others were written", kind: "corrupt"))
    }

    /// Returns the names of the tables of which rows may be missing.
    private func write(_ queue: DatabaseQueue, to destination: OutputDestination) throws -> [String] {
        var incomplete: [String] = []
        do {
            try queue.read { db in
                if let table, try TableDescription.readAll(in: db, named: table).isEmpty {
                    throw SchemaCommand.unknown(table, among: try TableDescription.readAll(in: db).map(\.name))
                }
                var dump = DatabaseDump(db: db, write: destination.write)
                dump.table = table
                dump.parts = schemaOnly ? .schema : dataOnly ? .data : .all
                incomplete = try dump.run()
            }
            return incomplete
        } catch let error as DatabaseError {
            // The transaction cannot end well where the file is damaged.
            if error.resultCode == .SQLITE_CORRUPT, !incomplete.isEmpty { return incomplete }
            throw CommandFailure(ErrorReport(error))
        }
    }
}

extension DumpCommand: DatabaseCommand {
    static var databaseHelp: String { "The database file." }
}
