import ArgumentParser
internal import Foundation
internal import Perilune

/// Makes the result formats available as values of options.
extension ResultFormat: ExpressibleByArgument {}

struct QueryCommand: ParsableCommand, DatabaseCommand {
    static let databaseHelp =
        "The database file, which must exist; by default the one in the settings, or else an empty database in memory."

    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Run one SQL statement and print its rows.",
        discussion: """
            Rows go to standard output: as a table on a terminal, as lines of JSON in a
            pipe. HTML is a table, and with --output a page. The database is opened
            read-only unless --write is given.

            In JSON a blob is {"$blob":"<base64>"}, text that is not UTF-8
            {"$text":"<base64>"}, infinity 9e999, and the second of two columns with the
            name a is a_2. `import` reads these forms. In CSV and TSV a blob is x'00ff' and
            infinity Inf, which `import` reads as text. Lines of all formats end with LF.

            EXAMPLES:
              perilune query --database x.sqlite 'SELECT * FROM shop WHERE id = :n' -p n=7
              perilune query --database x.sqlite --format csv 'SELECT * FROM shop' > a.csv
              perilune query --database x.sqlite --output shop.html 'SELECT * FROM shop'
              perilune query --database x.sqlite --write 'DELETE FROM shop WHERE id = 17'
              perilune query --database x.sqlite - < report.sql

            VALUES: with -p, null, true and false are literals, 12 is an integer, 1.5 a
            real, and anything else text. -p zip:text=12345 forces the type text; integer,
            real, boolean and blob (hexadecimal digits) work the same way. The name of a ?
            is its number, from 1.
            """.paragraphs)

    @Argument(help: "The statement; - reads standard input.")
    var sql: String

    @OptionGroup var database: DatabaseOption<QueryCommand>

    @Option(help: "The format of the rows.")
    var format: ResultFormat?

    @Option(
        help: ArgumentHelp(
            "Write the rows to a file, replacing an existing one; its extension sets the format unless --format is given; - is standard output.",
            valueName: "file")
    )
    var output: String?

    @Option(help: ArgumentHelp("The table name for --format insert.", valueName: "name"))
    var table = "result"

    @OptionGroup var parameter: ParameterOption

    @Flag(help: "Allow the statement to change the database.")
    var write = false

    @OptionGroup var extending: ExtensionOptions
    @OptionGroup var pager: PagerOption
    @OptionGroup var context: LiveContextOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard let output, format == nil, ResultFormat(fileName: output) == nil, OutputDestination.format(of: output) != nil,
            !DatabaseFile.isDatabase(output)
        else { return }
        throw ValidationError("--output: no format has the extension of \(output); use --format, or a file such as NAME.csv")
    }

    func run() throws {
        let path = database.path
        let output = output == "-" ? nil : output
        if let path { try context.resolved().requireLive("query", database: path) }
        let colors = common.errorColors
        if common.verbose {
            for note in [database.note, ExtensionOptions.note()].compactMap({ $0 }) { CommandOutput.note(note, colors) }
        }
        var runner = QueryRunner(sql: try Self.statement(sql), database: path, parameters: parameter.parameters)
        runner.extensions = extending.paths()
        runner.isWriting = write
        runner.showsArguments = common.verbose
        runner.note = { [common] in CommandOutput.note($0, common.errorColors) }
        let destination = try OutputDestination(output)
        runner.sink = destination.write
        let isTerminal = !destination.isFile && StandardStreams.isOutputTerminal
        let format = format ?? output.flatMap { ResultFormat(fileName: $0) } ?? .standard(isTerminal: isTerminal)
        let width = isTerminal ? TerminalSize.current.columns : nil
        let outputColors = destination.isFile ? .off : common.outputColors
        let title = output.map { URL(filePath: $0).deletingPathExtension().lastPathComponent }
        let changes = try destination.writing(pager) {
            try runner.run { columns in
                format.makeFormatter(columns: columns, colors: outputColors, width: width, table: table, pageTitle: title)
            }
        }
        if let changes, common.verbose || StandardStreams.isErrorTerminal {
            CommandOutput.note(changes == 1 ? "1 row changed" : "\(changes) rows changed", colors)
        }
    }

    /// Returns the SQL text of an argument; `-` reads it from standard input.
    ///
    /// - Throws: ``CommandFailure`` for a database file, and for a command of another shell, such as `.tables`.
    static func statement(_ sql: String) throws -> String {
        guard sql != "-" else { return String(decoding: try StandardStreams.readInput(), as: UTF8.self) }
        if DatabaseFile.isDatabase(sql) {
            throw CommandFailure(
                ErrorReport("expected a statement, got a database", kind: "usage", help: "use --database \(sql)"))
        }
        let file = sql.hasPrefix("@") ? String(sql.dropFirst()) : sql
        if SQLSource.isPath(file), DatabaseFile.isFile(file) {
            throw CommandFailure(
                ErrorReport(
                    "expected a statement, got the path of a file", kind: "usage",
                    help: "use `perilune query - < \(file)`, or for several statements `perilune console < \(file)`"))
        }
        if sql.wholeMatch(of: /[.\\][a-z].*/) != nil {
            throw CommandFailure(
                ErrorReport(
                    "\(sql) is a command of another shell, and not SQL", kind: "usage",
                    help: "use `perilune schema` for tables and columns"))
        }
        return sql
    }
}
