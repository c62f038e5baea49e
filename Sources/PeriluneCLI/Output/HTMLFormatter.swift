internal import Perilune
internal import PeriluneScenarios

/// A table of HTML, which can stand in any page.
struct HTMLFormatter: ResultFormatter {
    private let columns: [String]

    init(columns: [String]) {
        self.columns = columns
    }

    mutating func begin(_ output: inout [UInt8]) {
        let names = columns.map { "<th>\(Self.escaped(DisplayText.escaped($0)))</th>" }.joined()
        output.append("<table>\n<thead>\n<tr>\(names)</tr>\n</thead>\n<tbody>\n")
    }

    mutating func write(_ row: [Cell], to output: inout [UInt8]) {
        output.append("<tr>")
        for cell in row {
            switch cell {
            case .null: output.append("<td></td>")
            case .integer, .real: output.append("<td align=\"right\">\(cell.displayText)</td>")
            case .text(let bytes): output.append("<td>\(Self.escaped(DisplayText.escaped(bytes, keepingLineBreaks: true)))</td>")
            case .blob, .boolean: output.append("<td>\(cell.displayText)</td>")
            }
        }
        output.append("</tr>\n")
    }

    mutating func end(_ output: inout [UInt8]) {
        output.append("</tbody>\n</table>\n")
    }

    private static func escaped(_ text: String) -> String {
        MarkupText.escaped(text).replacing("\n", with: "<br>")
    }
}
