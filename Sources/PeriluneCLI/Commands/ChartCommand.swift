import ArgumentParser
internal import Perilune

/// The kind of a chart: bars or lines.
enum ChartKind: String, CaseIterable, ExpressibleByArgument, Sendable {
    case bar, line
}

/// The command `perilune chart`.
struct ChartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chart",
        abstract: "Draw the rows of a query as bars or lines.",
        usage: "perilune chart <sql> [<options>]",
        discussion: """
            The first column has the labels, the others that hold numbers are drawn; a
            single column is drawn row by row. From three rows on, numbers and dates in
            order make lines; anything else makes bars, and --type chooses. NULL is a gap.
            Lines place rows where their number or date is; dates are 2026, 2026-01,
            2026-01-31, also with a time or with slashes.

            With --output FILE.svg it is a picture for any browser, in the colors of a
            light or a dark page.

            EXAMPLES:
              perilune chart --database x.sqlite "SELECT name, sum(n) FROM shop GROUP BY 1"
              perilune chart --database x.sqlite "SELECT date(day), total FROM invoice"
              perilune chart --database x.sqlite --type line --output x.svg - < sales.sql
            """.paragraphs)

    @Argument(help: "The statement; - reads standard input.")
    var sql: String

    @OptionGroup var database: DatabaseOption<ChartCommand>

    @Option(help: "How numbers are drawn.")
    var type: ChartKind?

    @Option(help: ArgumentHelp("The title of the picture. Defaults to the names of the columns.", valueName: "text"))
    var title: String?

    @Option(
        help: ArgumentHelp("Write a picture (SVG) to a file, replacing an existing one.", valueName: "file"),
        completion: .file(extensions: ["svg"]))
    var output: String?

    @OptionGroup var parameter: ParameterOption

    @OptionGroup var extending: ExtensionOptions
    @OptionGroup var pager: PagerOption
    @OptionGroup var context: LiveContextOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let output, !output.lowercased().hasSuffix(".svg") {
            throw ValidationError("--output: expected a file NAME.svg, got \(output)")
        }
    }

    func run() throws {
        let path = database.path
        if let path { try context.resolved().requireLive("chart", database: path) }
        if common.verbose { CommandOutput.note(database.note, common.errorColors) }
        let rows = CollectedRows()
        var runner = QueryRunner(sql: try QueryCommand.statement(sql), database: path, parameters: parameter.parameters)
        runner.extensions = extending.paths()
        let changes = try runner.run { columns in
            rows.columns = columns
            return rows
        }
        guard changes == nil else {
            throw CommandFailure(ErrorReport("the statement returns no rows", kind: "usage", help: "use a SELECT"))
        }
        let data = try ChartData(columns: rows.columns, rows: rows.rows)
        let kind = type ?? (data.isContinuous ? .line : .bar)
        if let output { return try OutputFile.write(Array(picture(data, kind).utf8), to: output) }
        let destination = OutputDestination.standardOutput
        // Draw before the pager starts, because the chart depends on the width and colors of the terminal.
        let text = text(data, kind)
        try destination.writing(pager) { try destination.write(Array(text.utf8)) }
    }

    private func text(_ data: ChartData, _ kind: ChartKind) -> String {
        let colors = common.outputColors
        guard !data.labels.isEmpty else { return colors.dim("no rows") + "\n" }
        let width = TerminalSize.outputColumns ?? 80
        let chart = TerminalChart(data: data, width: width, colors: colors)
        let head = title.map { colors.bold(DisplayText.escaped($0)) + "\n" } ?? ""
        return head + (kind == .bar ? chart.bars() : chart.lines())
    }

    private func picture(_ data: ChartData, _ kind: ChartKind) -> String {
        let names = data.series.map(\.name).joined(separator: ", ") + (data.labelName.map { " by \($0)" } ?? "")
        let chart = PictureChart(data: data, title: title ?? names)
        return kind == .bar ? chart.bars() : chart.lines()
    }
}

extension ChartCommand: DatabaseCommand {
    static var databaseHelp: String { QueryCommand.databaseHelp }
}

/// A formatter that collects the rows of a result.
final class CollectedRows: ResultFormatter {
    var columns: [String] = []
    private(set) var rows: [[Cell]] = []

    func write(_ row: [Cell], to output: inout [UInt8]) { rows.append(row) }
}
