/// How a result is written.
enum ResultFormat: String, CaseIterable, Sendable {
    case table, csv, json, jsonl, markdown, line

    /// The default: a table for people, lines of JSON for programs.
    static func standard(isTerminal: Bool) -> ResultFormat {
        isTerminal ? .table : .jsonl
    }

    /// Makes what writes a result in this format.
    func makeFormatter(columns: [String], colors: Colors = .off) -> any ResultFormatter {
        switch self {
        case .table: TableFormatter(columns: columns, colors: colors)
        case .csv: CSVFormatter(columns: columns)
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
