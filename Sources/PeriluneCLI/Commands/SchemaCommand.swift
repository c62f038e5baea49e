import ArgumentParser
internal import GRDB
internal import Perilune
internal import PeriluneRecords

/// The output format of a schema.
enum SchemaFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case sql, lua, json, diagram

    /// Creates the format for the extension of a file name; `nil` if the extension is unknown.
    init?(fileName: String) {
        switch fileName.split(separator: ".").last?.lowercased() {
        case "lua": self = .lua
        case "json": self = .json
        case "mmd": self = .diagram
        case "sql": self = .sql
        default: return nil
        }
    }
}

struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Show the schema of a database.",
        usage: "perilune schema [<table>] [<options>]",
        discussion: """
            Writes the SQL that recreates the schema: tables, indexes, views and triggers;
            JSON has no triggers.
            --format lua writes a Lua migration: it uses the schema builder for each table
            that the builder can recreate exactly, and SQL for the others. --format diagram
            writes an entity-relationship diagram for Mermaid, or, to a file NAME.svg, a
            picture of the tables and their foreign keys. Migrations and diagrams of the
            whole schema leave out the tables in which Perilune keeps what it has done.

            EXAMPLES:
              perilune schema --database shop.sqlite
              perilune schema customer --database shop.sqlite --format json
              perilune schema --database shop.sqlite --format lua --output 0001_start.lua
              perilune schema --database shop.sqlite --format diagram > schema.mmd
              perilune schema --database shop.sqlite --output schema.svg
            """.paragraphs)

    @Argument(help: "Show only this table or view.", completion: .custom(CompletionValues.tables))
    var table: String?

    @OptionGroup var database: DatabaseOption<SchemaCommand>

    @Option(help: "The format of the schema; by default that of the extension of --output, else SQL.")
    var format: SchemaFormat?

    @OptionGroup var output: OutputOption

    @OptionGroup var extending: ExtensionOptions
    @OptionGroup var pager: PagerOption
    @OptionGroup var context: LiveContextOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        _ = try database.requirePath()
        if let file = output.output, format == nil, !isPicture, SchemaFormat(fileName: file) == nil,
            OutputDestination.format(of: file) != nil, !DatabaseFile.isDatabase(file)
        {
            throw ValidationError(
                "--output: no format has the extension of \(file); use --format, or NAME.sql, .lua, .json, .mmd or .svg")
        }
        if isPicture, let format, format != .diagram {
            throw ValidationError("--format \(format.rawValue) cannot be written as a picture")
        }
    }

    private var isPicture: Bool { output.output?.lowercased().hasSuffix(".svg") == true }

    func run() async throws {
        let path = try database.requirePath()
        try context.resolved().requireLive("schema", database: path)
        let queue = try DatabaseFile.openForSchema(path, extensions: extending.paths())
        if let remark = try DatabaseFile.remarkOnEmpty(queue, path) { CommandOutput.note(remark, common.errorColors) }
        let text = try await text(queue)
        let destination = try output.open()
        try destination.writing(pager) { try destination.write(Array(text.utf8)) }
    }

    private func text(_ queue: DatabaseQueue) async throws -> String {
        let format = isPicture ? .diagram : format ?? output.output.flatMap(SchemaFormat.init(fileName:)) ?? .sql
        let leavesOutOwn = table == nil && (format == .lua || format == .diagram)
        let (tables, statements, names) = try await DatabaseFile.reading(queue) { [table] db in
            let tables = try TableDescription.readAll(in: db, named: table).filter {
                !leavesOutOwn || !OwnTables.contain($0.name)
            }
            let names = tables.isEmpty ? try TableDescription.readAll(in: db).map(\.name) : []
            let name = tables.first.flatMap { table == nil ? nil : $0.name }
            return (tables, try SchemaStatements.read(in: db, of: name, leavesOutOwn: leavesOutOwn), names)
        }
        if let table, tables.isEmpty { throw Self.unknown(table, among: names) }
        for flaw in TableDescription.flaws(of: tables) { CommandOutput.note(flaw, common.errorColors) }
        if isPicture { return SchemaPicture(Self.drawn(tables)).text }
        switch format {
        case .sql: return SchemaStatements.text(statements)
        case .json: return SchemaText.json(tables)
        case .diagram: return SchemaText.diagram(Self.drawn(tables))
        case .lua: return try await SchemaMigration.text(tables, statements)
        }
    }

    /// Returns the tables for a diagram: without views, virtual tables, and the tables in which `db:create_fts5` notes replaced rows.
    private static func drawn(_ tables: [TableDescription]) -> [TableDescription] {
        let notes = Set(tables.lazy.filter { $0.kind == "virtual" }.map { "__\($0.name)_replaced".foldedName })
        return tables.filter { $0.kind == "table" && !notes.contains($0.name.foldedName) }
    }

    static func unknown(_ table: String, among names: [String]) -> CommandFailure {
        var report = ErrorReport("unknown table \(table)", kind: "unknown_table")
        if DatabaseFile.isDatabase(table) {
            report.help = "use --database \(table)"
            return CommandFailure(report)
        }
        report.suggest(table, among: names, otherwise: names.isEmpty ? nil : "available: \(names.joined(separator: ", "))")
        return CommandFailure(report)
    }
}

extension SchemaCommand: DatabaseCommand {
    static var databaseHelp: String { "The database file." }
}
