internal import Perilune
internal import PeriluneScenarios

/// A renderer that formats values for the console.
struct ConsoleRenderer {
    let colors: Colors
    /// The width of the terminal in columns; `nil` to show everything.
    var width: Int?
    /// Whether a note explains how to show values that were cut.
    var mentionsLast = false

    /// Returns the values as lines, each ending with a line feed.
    func text(_ values: [ConsoleValue]) -> String {
        // Several simple values share a line, separated by tabs as `print` separates them.
        let texts = values.compactMap { value -> String? in
            guard case .text(let text, let type) = value, !text.contains("\n") else { return nil }
            return colored(text, type)
        }
        if texts.count == values.count, !texts.isEmpty { return texts.joined(separator: "\t") + "\n" }
        return values.map(text).joined()
    }

    private func text(_ value: ConsoleValue) -> String {
        switch value {
        case .text(let text, let type): colored(text, type) + "\n"
        case .outcome(let text): colors.dim(text) + "\n"
        case .rows(let rows): text(rows)
        }
    }

    private func colored(_ text: String, _ type: String) -> String {
        switch type {
        case "string": colors.green(text)
        case "number", "boolean": colors.cyan(text)
        case "nil": colors.dim(text)
        default: text
        }
    }

    private func text(_ rows: ConsoleRows) -> String {
        var text = ""
        if let title = rows.title { text += colors.bold(DisplayText.escaped(title)) + "\n" }
        if let sql = rows.sql { text += colors.cyan(DisplayText.escaped(sql)) + "\n" }
        if rows.isSingle, let width, let row = rows.head.first, FittedTable(rows, width: width).cut != nil {
            return text + lines(rows.columns, row, width)
        }
        let table = FittedTable(rows, width: width)
        text += table.text(colors)
        let notes = notes(of: rows, cut: table.cut)
        if !notes.isEmpty { text += colors.dim(notes.joined(separator: " · ")) + "\n" }
        return text
    }

    /// Returns a row that is too wide for a table, with one line per column.
    private func lines(_ columns: [String], _ row: [Cell], _ width: Int) -> String {
        var formatter = LineFormatter(columns: columns, colors: colors)
        var output: [UInt8] = []
        formatter.write(row, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private func notes(of rows: ConsoleRows, cut: String?) -> [String] {
        var notes: [String] = []
        let shown = rows.head.count + rows.tail.count
        if shown < rows.count {
            notes.append("\(Self.grouped(rows.count)) rows, \(shown) shown")
        } else if !rows.isSingle, !rows.hidesCount {
            notes.append(rows.count == 1 ? "1 row" : "\(Self.grouped(rows.count)) rows")
        }
        if let cut { notes.append(cut) }
        if mentionsLast, shown < rows.count || cut != nil { notes.append(":last shows all") }
        if let note = rows.note { notes.append(note) }
        return notes
    }

    /// Returns a number with separators: `1,234,567`.
    static func grouped(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }
}
