internal import Perilune

/// A formatter for boxed tables, with right-aligned numbers and escaped control characters. It cuts no values.
struct TableFormatter: ResultFormatter {
    private var grid: Grid
    private let colors: Colors

    init(columns: [String], colors: Colors) {
        grid = Grid(columns: columns.map { DisplayText.escaped($0) })
        self.colors = colors
    }

    mutating func write(_ row: [Cell], to output: inout [UInt8]) {
        grid.add(row) { $0.displayText }
    }

    mutating func end(_ output: inout [UInt8]) {
        output.append(
            grid.box(header: colors.bold) { [grid, colors] row, column, text in
                grid.rows[row][column].isNull ? colors.dim(text) : text
            })
    }
}

extension Grid {
    /// Returns the table in a box.
    ///
    /// - Parameters:
    ///   - header: Colors the name of a column.
    ///   - paint: Colors a cell, given by its row, column, and text padded to the column width.
    func box(indent: String = "", header: (String) -> String, paint: (Int, Int, String) -> String) -> String {
        var text = indent + border("┌", "┬", "┐")
        text += indent + line(columns.indices.map { header(padded(columns[$0], column: $0)) })
        text += indent + border("├", "┼", "┤")
        for row in rows.indices {
            text += indent + line(columns.indices.map { paint(row, $0, padded(rows[row][$0].text, column: $0)) })
        }
        return text + indent + border("└", "┴", "┘")
    }

    private func line(_ cells: [String]) -> String {
        "│ " + cells.joined(separator: " │ ") + " │\n"
    }

    private func border(_ left: String, _ middle: String, _ right: String) -> String {
        left + widths.map { String(repeating: "─", count: $0 + 2) }.joined(separator: middle) + right + "\n"
    }
}

/// A formatter for GitHub Markdown tables that are also aligned as plain text.
struct MarkdownFormatter: ResultFormatter {
    private var grid: Grid

    init(columns: [String]) {
        grid = Grid(columns: columns.map { Self.escape(DisplayText.escaped($0)) }, minimalWidth: 3)
    }

    mutating func write(_ row: [Cell], to output: inout [UInt8]) {
        grid.add(row) { cell in
            guard case .text(let bytes) = cell else { return cell.displayText }
            let lines = DisplayText.escaped(bytes, keepingLineBreaks: true).split(
                separator: "\n", omittingEmptySubsequences: false)
            return lines.map { Self.escape(String($0)) }.joined(separator: "<br>")
        }
    }

    mutating func end(_ output: inout [UInt8]) {
        output.append(line(grid.columns.indices.map { grid.padded(grid.columns[$0], column: $0) }))
        output.append(
            line(
                grid.widths.indices.map { column in
                    let dashes = String(repeating: "-", count: grid.widths[column] - 1)
                    return grid.isRight(column) ? dashes + ":" : dashes + "-"
                }))
        for row in grid.rows {
            output.append(line(row.indices.map { grid.padded(row[$0].text, column: $0) }))
        }
    }

    private func line(_ cells: [String]) -> String {
        "| " + cells.joined(separator: " | ") + " |\n"
    }

    /// Escapes characters that would end the cell or be interpreted as markup.
    private static func escape(_ text: String) -> String {
        var result = ""
        for character in text {
            if #"|\<*`"#.contains(character) { result.append("\\") }
            result.append(character)
        }
        return result
    }
}

/// The cells of a table as text, with the column widths.
struct Grid {
    struct Entry {
        let text: String
        let isNull: Bool
    }

    let columns: [String]
    private(set) var rows: [[Entry]] = []
    private(set) var widths: [Int]
    private var hasNumber: [Bool]
    private var hasOther: [Bool]

    init(columns: [String], minimalWidth: Int = 1) {
        self.columns = columns
        widths = columns.map { max(minimalWidth, DisplayText.width($0)) }
        hasNumber = columns.map { _ in false }
        hasOther = hasNumber
    }

    mutating func add(_ row: [Cell], text: (Cell) -> String) {
        add(row.map { ($0, text($0)) })
    }

    /// Adds a row of cells with their texts.
    mutating func add(_ row: [(cell: Cell, text: String)]) {
        let entries = row.map { Entry(text: $0.text, isNull: $0.cell == .null) }
        for (column, entry) in entries.enumerated() {
            let isNumber = row[column].cell.isNumber
            widths[column] = max(widths[column], DisplayText.width(entry.text))
            hasNumber[column] = hasNumber[column] || isNumber
            hasOther[column] = hasOther[column] || !(isNumber || entry.isNull)
        }
        rows.append(entries)
    }

    /// Returns whether a column is aligned to the right, because it contains only numbers.
    func isRight(_ column: Int) -> Bool {
        hasNumber[column] && !hasOther[column]
    }

    func padded(_ text: String, column: Int) -> String {
        let padding = String(repeating: " ", count: max(0, widths[column] - DisplayText.width(text)))
        return isRight(column) ? padding + text : text + padding
    }
}
