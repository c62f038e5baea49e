import ArgumentParser
internal import Foundation
internal import GRDB
internal import Perilune

/// The command `perilune import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import rows from CSV, TSV or JSON files into a table.",
        discussion: """
            Detects and reports the format, separator, encoding and header of each file,
            and the types of its columns. Columns are matched by name. An empty field is
            NULL; `""` is an empty string, but NULL in a column of numbers, dates or
            booleans. --null NA makes fields with that text NULL, too, also in JSON. In a
            file of one column an empty line is a row.

            In a new table a column of numbers is INTEGER or REAL, of dates such as
            2015-07-22 DATE, with times DATETIME, of true and false BOOLEAN, else TEXT. In
            JSON only dates are read from strings. --primary-key makes its columns NOT NULL.
            Numbers with leading zeros, such as 007, stay text, and so do integers of
            more than 64 bits, numbers with a decimal comma, such as 12,5, and yes and no.
            CSV has no form for blobs and infinity, which come back as text such as x'00ff'
            and Inf; write JSON lines to import them again.

            In a column of dates, a time with T or a time zone, 2015-07-22T14:30:00+02:00,
            is stored in UTC in the form that records compare, 2015-07-22 12:30:00.000;
            other dates are checked and stored as they are (`help dates`). An impossible
            date such as 2026-13-01 makes a new column of dates TEXT, and so does the only
            text in a column of dates or booleans, or of JSON numbers, unless --errors sets
            its row aside.

            In JSON, {"$blob":"<base64>"} is a blob, as `query` writes it. An object without
            a field leaves that column to its default, and with --upsert unchanged. SQLite
            refuses it, even for an existing row, if the column is NOT NULL without a default.

            The first row is the header unless it looks like the rows below it, as a row of
            numbers does; --header and --no-header decide. Quotes around a field may hold
            separators and line ends; --quote none is for files in which quotes are text.

            Either all rows are imported or none: invalid rows are reported with line and
            column. With --errors FILE the others are imported, and the invalid rows are
            written to that file in the format of the original, header included: correct
            them and import the file with the same options. If no row is invalid, an
            existing file becomes empty. In JSON lines the invalid rows include lines that
            are not JSON; in JSON and JSON lines, objects with a field that the table lacks.

            EXAMPLES:
              perilune import customers.csv --table customer --database shop.sqlite
              perilune import *.csv --table visit --create --database visits.sqlite
              perilune import a.json --table a --primary-key id --upsert --database a.db
              perilune import a.csv --null NA --table air --create --database air.sqlite
              perilune import a --separator '|' --columns b,,c --table a --database a.db
              perilune import - --format jsonl --table a --database a.db < a.jsonl

            EXIT STATUS: 0 success, 1 the table does not exist or does not match, 64 usage
            error, 65 some rows are invalid, 74 a file cannot be used, 75 the database is
            locked.
            """.paragraphs)

    @Argument(help: "The files; - reads standard input.", completion: .file(extensions: ["csv", "tsv", "json", "jsonl", "txt"]))
    var files: [String]

    @Option(help: "The table to import into.", completion: .custom(CompletionValues.tables))
    var table: String

    @OptionGroup var database: DatabaseOption<ImportCommand>

    @Flag(help: "Create the table and the database if they do not exist.")
    var create = false

    @Option(help: ArgumentHelp("The columns that identify a row, separated by commas.", valueName: "columns"))
    var primaryKey: String?

    @Flag(help: "Update the rows whose key already exists.")
    var upsert = false

    @Option(
        help: ArgumentHelp(
            "The column names for the fields of the file, separated by commas; an empty name skips a field.", valueName: "names"))
    var columns: String?

    @Option(help: "The format of the files.")
    var format: ImportFormat?

    @Option(help: ArgumentHelp("The separator of CSV fields.", valueName: "sign"))
    var separator: String?

    @Option(
        help: ArgumentHelp(
            "The sign around CSV fields with separators, by default \"; `none` if quotes are text.", valueName: "sign"))
    var quote: String?

    @Option(
        name: .customLong("null"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("The text of fields that are NULL, such as NA; repeatable.", valueName: "text"))
    var nulls: [String] = []

    @Option(help: ArgumentHelp("Skip lines at the start of each CSV file, before its header.", valueName: "count"))
    var skip: Int = 0

    @Flag(inversion: .prefixedNo, help: "Whether the first row contains the column names.")
    var header: Bool?

    @Option(help: "The encoding of the files.")
    var encoding: TextEncoding?

    @Option(
        help: ArgumentHelp("Write invalid rows to a file, replacing an existing one, and import the others.", valueName: "file"))
    var errors: String?

    @OptionGroup var extending: ExtensionOptions
    @OptionGroup var context: LiveContextOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        _ = try database.requirePath()
        if table.isEmpty { throw ValidationError("--table: expected a name, got nothing") }
        if let separator, separator != "\\t", separator.utf8.count != 1 {
            throw ValidationError("--separator: expected one ASCII character")
        }
        if let quote, !["", "none"].contains(quote), quote.utf8.count != 1 {
            throw ValidationError("--quote: expected one ASCII character or none")
        }
        let signs: [UInt8?] = [settings.separator, settings.quote ?? UInt8(ascii: "\"")]
        if signs.contains(0x0A) || signs.contains(0x0D) { throw ValidationError("--separator and --quote: expected no line end") }
        if signs[0] != nil, signs[0] == signs[1] {
            throw ValidationError("--separator and --quote: expected two different signs")
        }
        if skip < 0 { throw ValidationError("--skip: expected a number of lines, got \(skip)") }
        if errors?.isEmpty == true { throw ValidationError("--errors: expected the path of a file, got nothing") }
    }

    func run() throws {
        let path = try database.requirePath()
        try context.resolved().requireLive("import", database: path)
        let colors = common.errorColors, start = ContinuousClock.now
        let sources = try files.map { try ImportSource($0, settings) }
        for source in sources { show(source, colors) }
        if errors != nil, let other = sources.first(where: { $0.head != sources[0].head }) {
            throw CommandFailure(
                ErrorReport(
                    "\(sources[0].path) and \(other.path) have different headers, which --errors cannot write to one file",
                    kind: "usage", help: "import them one by one"))
        }
        // Open the error file before the import, so that an unusable path fails first.
        let badRows = try errors.map { try OutputFile($0, besides: files) }
        let isNew = create && !FileManager.default.fileExists(atPath: path)
        let queue = try DatabaseFile.open(
            path, isReadonly: false, makesFile: create, option: DatabaseFile.creating,
            extensions: extending.paths())
        Interrupts.onFirst { queue.interrupt() }
        let line = ProgressLine()
        var importer = Importer(table: table)
        importer.makesTable = create
        importer.primaryKey = Self.names(primaryKey) ?? []
        importer.upserts = upsert
        importer.skipsBadRows = errors != nil
        importer.progress = { part, rows in line?.show("import", part: part, "\(ConsoleRenderer.grouped(rows)) rows") }
        let outcome = Result { try importer.run(sources, in: queue) }
        line?.erase()
        // Close explicitly, because the signal handler keeps the queue alive.
        try? queue.close()
        if isNew, (try? outcome.get().isCommitted) != true { DatabaseFile.removeIfEmpty(path) }
        try report(outcome.get(), badRows, sources[0].head, colors, ContinuousClock.now - start)
    }

    private var settings: ImportSettings {
        ImportSettings(
            format: format, encoding: encoding, separator: separator == "\\t" ? 0x09 : separator?.utf8.first,
            quote: quote.map { $0 == "none" ? nil : $0.utf8.first }, skippedLines: skip, nulls: Set(nulls.map { Array($0.utf8) }),
            hasHeader: header,
            columns: Self.names(columns))
    }

    private static func names(_ list: String?) -> [String]? {
        list.map { $0.split(separator: ",", omittingEmptySubsequences: false).map { String($0).trimmed } }
    }

    private func show(_ source: ImportSource, _ colors: Colors) {
        let columns = source.columns.map { "\($0.name) \($0.forms.kind(setsAside: errors != nil)?.rawValue ?? "empty")" }.joined(
            separator: ", ")
        CommandOutput.note("\(source.path): \(source.description): \(columns)", colors)
        for column in source.columns {
            guard let odd = column.oddValue else { continue }
            let text = "\(source.path): column \(column.name) holds \(odd.others) except for \(odd.text)"
            switch odd.kind {
            case .missing: CommandOutput.note("\(text): --null \(odd.text) makes that NULL", colors)
            case .other: CommandOutput.note("\(text) in line \(odd.line)", colors)
            // With --errors the row is reported when it is set aside.
            case .mistake where errors == nil:
                CommandOutput.note("\(text) in line \(odd.line): --errors FILE sets such rows aside", colors)
            case .mistake: break
            }
        }
    }

    private func report(
        _ outcome: Importer.Outcome, _ badRows: OutputFile?, _ head: [UInt8], _ colors: Colors, _ duration: Duration
    ) throws {
        if outcome.badCount > 0, badRows == nil { throw Self.failure(outcome) }
        var text = "\(ConsoleRenderer.grouped(outcome.rows)) \(outcome.rows == 1 ? "row" : "rows") into \(table)"
        if outcome.madeTable { text += ", created by this import" }
        let updated = outcome.rows - outcome.inserted
        if upsert {
            text += ": \(ConsoleRenderer.grouped(outcome.inserted)) inserted, \(ConsoleRenderer.grouped(updated)) updated"
        }
        text += ", \(TimeText.text(duration))"
        CommandOutput.note(text, colors)
        guard let badRows, let errors else { return }
        guard outcome.badCount > 0 else {
            // Rows of an earlier import would look like invalid rows of this import.
            if DatabaseFile.isFile(errors) { try badRows.finish() }
            return
        }
        try badRows.write(head)
        for row in outcome.badRows { try badRows.write(row.text) }
        try badRows.finish()
        for line in Self.reasons(outcome) { CommandOutput.note(line, colors) }
        CommandOutput.note("\(outcome.badCount) invalid \(outcome.badCount == 1 ? "row" : "rows") written to \(errors)", colors)
        throw ExitCode(ExitStatus.badData)
    }

    /// Describes why the first invalid rows were rejected, and counts the others.
    private static func reasons(_ outcome: Importer.Outcome) -> [String] {
        let shown = outcome.badRows.prefix(10).map(\.description)
        return shown + (outcome.badCount > shown.count ? ["and \(outcome.badCount - shown.count) more"] : [])
    }

    private static func failure(_ outcome: Importer.Outcome) -> CommandFailure {
        let count = outcome.badCount == 1 ? "1 row is invalid" : "\(outcome.badCount) rows are invalid"
        return CommandFailure(
            ErrorReport(
                "nothing was imported: \(count)\n" + reasons(outcome).joined(separator: "\n"), kind: "format",
                help: "use --errors FILE to set invalid rows aside and import the others"))
    }
}

extension ImportCommand: DatabaseCommand {
    static var databaseHelp: String { "The database file." }
}
