/// The format of a query result.
enum ResultFormat: String, CaseIterable, Sendable {
    case table, box, csv, tsv, json, jsonl, markdown, html, insert, line

    /// Returns the default format: a table for terminals, JSON lines for programs.
    static func standard(isTerminal: Bool) -> ResultFormat {
        isTerminal ? .table : .jsonl
    }

    /// Creates the format for the extension of a file name; `nil` if the extension is unknown.
    init?(fileName: String) {
        switch fileName.split(separator: ".").last?.lowercased() {
        case "csv": self = .csv
        case "tsv": self = .tsv
        case "json": self = .json
        case "jsonl", "ndjson": self = .jsonl
        case "md": self = .markdown
        case "html", "htm": self = .html
        case "sql": self = .insert
        case "txt": self = .box
        default: return nil
        }
    }

    /// Creates a formatter for this format.
    ///
    /// - Parameters:
    ///   - width: The terminal width for tables; `nil` to cut nothing.
    ///   - table: The table named in INSERT statements.
    ///   - pageTitle: The title of an HTML page; `nil` for a fragment.
    func makeFormatter(
        columns: [String], colors: Colors = .off, width: Int? = nil, table: String = "result", pageTitle: String? = nil
    ) -> any ResultFormatter {
        switch self {
        case .table:
            if let width {
                FittedTableFormatter(columns: columns, colors: colors, width: width)
            } else {
                TableFormatter(columns: columns, colors: colors)
            }
        case .box: TableFormatter(columns: columns, colors: colors)
        case .csv: CSVFormatter(columns: columns)
        case .tsv: CSVFormatter(columns: columns, separator: 0x09)
        case .html: HTMLFormatter(columns: columns, pageTitle: pageTitle)
        case .insert: InsertFormatter(columns: columns, table: table)
        case .json: JSONFormatter(columns: columns)
        case .jsonl: JSONLinesFormatter(columns: columns)
        case .markdown: MarkdownFormatter(columns: columns)
        case .line: LineFormatter(columns: columns, colors: colors)
        }
    }

    /// Returns a complete result in this format.
    func format(columns: [String], rows: some Sequence<[Cell]>, colors: Colors = .off) -> [UInt8] {
        var formatter = makeFormatter(columns: columns, colors: colors)
        var output: [UInt8] = []
        formatter.begin(&output)
        for row in rows { formatter.write(row, to: &output) }
        formatter.end(&output)
        return output
    }
}

/// A formatter that writes a result row by row. Each row has one cell per column.
protocol ResultFormatter {
    /// Writes the part before the first row.
    mutating func begin(_ output: inout [UInt8])
    /// Writes a row, or stores it if the format needs all rows first.
    mutating func write(_ row: [Cell], to output: inout [UInt8])
    /// Writes the part after the last row.
    mutating func end(_ output: inout [UInt8])
}

extension ResultFormatter {
    mutating func begin(_ output: inout [UInt8]) {}
    mutating func end(_ output: inout [UInt8]) {}

    /// Writes a complete table to standard output.
    consuming func writeTable(_ rows: [[Cell]]) throws {
        var output: [UInt8] = []
        begin(&output)
        for row in rows { write(row, to: &output) }
        end(&output)
        try StandardStreams.write(output)
    }
}

extension [UInt8] {
    mutating func append(_ text: String) {
        append(contentsOf: text.utf8)
    }
}
