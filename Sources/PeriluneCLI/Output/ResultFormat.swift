/// How a result is written.
enum ResultFormat: String, CaseIterable, Sendable {
    case table, box, csv, tsv, json, jsonl, markdown, html, insert, line

    /// The default: a table for people, lines of JSON for programs.
    static func standard(isTerminal: Bool) -> ResultFormat {
        isTerminal ? .table : .jsonl
    }

    /// The format of a file by the end of its name; `nil` if that says nothing.
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

    /// Makes what writes a result in this format.
    ///
    /// - Parameters:
    ///   - width: The columns of the terminal on which a table is shown; `nil`: nothing is cut.
    ///   - table: The table that INSERTs name.
    ///   - pageTitle: The title of a page of HTML; `nil`: a table for any page.
    func makeFormatter(
        columns: [String], colors: Colors = .off, width: Int? = nil, table: String = "result", pageTitle: String? = nil
    ) -> any ResultFormatter {
        switch self {
        case .table:
            if let width { FittedTableFormatter(columns: columns, colors: colors, width: width) } else {
                TableFormatter(columns: columns, colors: colors)
            }
        case .box: TableFormatter(columns: columns, colors: colors)
        case .csv: CSVFormatter(columns: columns)
        case .tsv: CSVFormatter(columns: columns, separator: 0x09, lineEnd: "\n")
        case .html: HTMLFormatter(columns: columns, pageTitle: pageTitle)
        case .insert: InsertFormatter(columns: columns, table: table)
        case .json: JSONFormatter(columns: columns)
        case .jsonl: JSONLinesFormatter(columns: columns)
        case .markdown: MarkdownFormatter(columns: columns)
        case .line: LineFormatter(columns: columns, colors: colors)
        }
    }

    /// Writes a whole result.
    func format(columns: [String], rows: some Sequence<[Cell]>, colors: Colors = .off) -> [UInt8] {
        var formatter = makeFormatter(columns: columns, colors: colors)
        var output: [UInt8] = []
        formatter.begin(&output)
        for row in rows { formatter.write(row, to: &output) }
        formatter.end(&output)
        return output
    }
}

/// Writes a result row by row. Each row has as many cells as there are columns.
protocol ResultFormatter {
    /// Writes what comes before the first row.
    mutating func begin(_ output: inout [UInt8])
    /// Writes a row, or keeps it if the format needs to see all rows first.
    mutating func write(_ row: [Cell], to output: inout [UInt8])
    /// Writes what comes after the last row.
    mutating func end(_ output: inout [UInt8])
}

extension ResultFormatter {
    mutating func begin(_ output: inout [UInt8]) {}
    mutating func end(_ output: inout [UInt8]) {}

    /// Writes a whole table to standard output.
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
