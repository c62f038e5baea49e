internal import Perilune
internal import PeriluneScenarios

/// A formatter for an HTML table, as a fragment or a complete page.
struct HTMLFormatter: ResultFormatter {
    private let columns: [String]
    /// The title of the page; `nil` for a fragment.
    private let pageTitle: String?

    init(columns: [String], pageTitle: String? = nil) {
        self.columns = columns
        self.pageTitle = pageTitle
    }

    mutating func begin(_ output: inout [UInt8]) {
        let names = columns.map { "<th>\(Self.escaped(DisplayText.escaped($0)))</th>" }.joined()
        if let pageTitle { output.append(Self.head(title: pageTitle)) }
        output.append("<table>\n<thead>\n<tr>\(names)</tr>\n</thead>\n<tbody>\n")
    }

    mutating func write(_ row: [Cell], to output: inout [UInt8]) {
        output.append("<tr>")
        for cell in row {
            switch cell {
            case .null: output.append(pageTitle == nil ? "<td></td>" : "<td class=\"null\">NULL</td>")
            case .integer, .real: output.append("<td align=\"right\">\(cell.displayText)</td>")
            case .text(let bytes): output.append("<td>\(Self.escaped(DisplayText.escaped(bytes, keepingLineBreaks: true)))</td>")
            case .blob, .boolean: output.append("<td>\(cell.displayText)</td>")
            }
        }
        output.append("</tr>\n")
    }

    mutating func end(_ output: inout [UInt8]) {
        output.append("</tbody>\n</table>\n")
        if pageTitle != nil { output.append("</body>\n</html>\n") }
    }

    private static func head(title: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(MarkupText.escaped(title))</title>
        <style>
        \(style)
        </style>
        </head>
        <body>
        <h1>\(MarkupText.escaped(title))</h1>

        """
    }

    private static let style = """
        :root { --page: #fff; --ink: #1f2328; --dim: #59636e; --line: #d1d9e0; --panel: #f6f8fa }
        @media (prefers-color-scheme: dark) { :root { --page: #0d1117; --ink: #e6edf3; --dim: #9198a1; --line: #30363d; --panel: #151b23 } }
        body { margin: 24px; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif }
        h1 { font-size: 20px }
        table { border-collapse: collapse; font-variant-numeric: tabular-nums }
        th, td { border: 1px solid var(--line); padding: 3px 10px; text-align: left; vertical-align: top; overflow-wrap: anywhere }
        td[align=right] { text-align: right; white-space: nowrap }
        th { position: sticky; top: 0; background: var(--panel) } tbody tr:nth-child(even) { background: var(--panel) }
        .null { color: var(--dim); font-size: 12px }
        """

    private static func escaped(_ text: String) -> String {
        MarkupText.escaped(text).replacing("\n", with: "<br>")
    }
}
