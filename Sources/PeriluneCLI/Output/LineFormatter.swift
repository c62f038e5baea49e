internal import Perilune

/// A formatter with one line per value, aligned names, and an empty line between rows.
struct LineFormatter: ResultFormatter {
    private let names: [String]
    private let colors: Colors
    private var isFirst = true

    init(columns: [String], colors: Colors) {
        let names = columns.map { DisplayText.escaped($0) }
        let width = names.map { DisplayText.width($0) }.max() ?? 0
        self.names = names.map { String(repeating: " ", count: width - DisplayText.width($0)) + colors.bold($0) }
        self.colors = colors
    }

    mutating func write(_ row: [Cell], to output: inout [UInt8]) {
        if !isFirst { output.append("\n") }
        isFirst = false
        for (name, cell) in zip(names, row) {
            output.append("\(name) = \(cell == .null ? colors.dim("NULL") : cell.displayText)\n")
        }
    }
}
