internal import Foundation
package import Perilune

/// An HTML page with entries that can be opened, searched, and filtered by kind. The page needs no other files, and everything
/// can be read without scripts.
package struct ReportPage {
    /// A kind of entry that a button shows or hides.
    package struct Kind {
        package let name: String
        package let title: String
        package let count: Int

        package init(_ name: String, _ title: String, _ count: Int) {
            (self.name, self.title, self.count) = (name, title, count)
        }
    }

    /// An expandable entry.
    package struct Entry {
        package let kind: String
        /// The label of the kind.
        package let mark: String
        package let title: String
        /// The place and the duration of the entry.
        package let details: [String]
        package let isOpen: Bool
        /// The contents as HTML.
        package let body: String

        package init(kind: String, mark: String, title: String, details: [String] = [], isOpen: Bool = false, body: String) {
            (self.kind, self.mark, self.title, self.details, self.isOpen, self.body) = (kind, mark, title, details, isOpen, body)
        }
    }

    package let title: String
    /// A sentence below the title.
    package let summary: String
    package var kinds: [Kind] = []
    package var entries: [Entry] = []
    /// HTML after the entries.
    package var end = ""

    package init(title: String, summary: String) {
        (self.title, self.summary) = (title, summary)
    }

    package var text: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
        <title>\(MarkupText.escaped(title))</title>
        <style>
        \(Self.style)
        </style>
        </head>
        <body>
        <header>
        <h1>\(MarkupText.escaped(title))</h1>
        <p>\(MarkupText.escaped(summary))</p>
        <div class="tools">
        <input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off">
        <div class="kinds" role="group" aria-label="Show">\(kinds.map(button).joined())</div>
        <output id="shown" aria-live="polite"></output>
        </div>
        <p class="keys"><kbd>/</kbd> search <kbd>j</kbd> <kbd>k</kbd> next, previous <kbd>Enter</kbd> open, close <kbd>e</kbd> <kbd>c</kbd> \
        open, close all \(kinds.indices.map { "<kbd>\($0 + 1)</kbd>" }.joined(separator: " ")) show, hide</p>
        </header>
        <main>
        \(entries.enumerated().map(entry).joined())\(end)</main>
        <script>
        \(Self.script)
        </script>
        </body>
        </html>

        """
    }

    private func button(_ kind: Kind) -> String {
        "<button type=\"button\" data-kind=\"\(kind.name)\" aria-pressed=\"true\" class=\"\(kind.name)\">\(MarkupText.escaped(kind.title)) <b>\(kind.count)</b></button>"
    }

    private func entry(_ number: Int, _ entry: Entry) -> String {
        let details = entry.details.map { "<span class=\"detail\">\(MarkupText.escaped($0))</span>" }.joined()
        return """
            <details class="entry \(entry.kind)" id="entry-\(number + 1)" data-kind="\(entry.kind)"\(entry.isOpen ? " open" : "")>
            <summary><span class="mark">\(MarkupText.escaped(entry.mark))</span><span class="title">\(MarkupText.escaped(entry.title))</span>\(details)</summary>
            <div class="body">
            \(entry.body)</div>
            </details>

            """
    }

    // MARK: - Contents of entries

    /// Returns a section with a heading; an empty string if the section is empty.
    package static func section(_ title: String, _ body: String) -> String {
        body.isEmpty ? "" : "<section><h2>\(MarkupText.escaped(title))</h2>\n\(body)</section>\n"
    }

    /// Returns preformatted text in which the prefix of a line determines its mark: `+ ` for missing lines, `- ` for unexpected ones, and
    /// `! ` for rows with different values.
    package static func lines(_ lines: [String]) -> String {
        guard !lines.isEmpty else { return "" }
        let marked = lines.map { line in
            let text = MarkupText.escaped(line)
            if line.hasPrefix("! ") { return "<mark>\(text)</mark>" }
            return line.hasPrefix("- ")
                ? "<del>\(text)</del>" : line.hasPrefix("+ ") ? "<ins>\(text)</ins>" : "<span>\(text)</span>"
        }
        return "<pre class=\"lines\">\(marked.joined())</pre>\n"
    }

    package static func text(_ text: String) -> String {
        text.isEmpty ? "" : "<pre>\(MarkupText.escaped(text))</pre>\n"
    }

    /// Returns an HTML table of rows that are already HTML.
    package static func table(_ columns: [String], _ rows: [String]) -> String {
        let names = columns.map { "<th scope=\"col\">\(MarkupText.escaped($0))</th>" }.joined()
        return
            "<div class=\"wide\"><table>\n<thead><tr>\(names)</tr></thead>\n<tbody>\n\(rows.joined())</tbody>\n</table></div>\n"
    }

    /// Returns a list of statements with their times and plans.
    package static func statements(_ statements: [StatementRecord]) -> String {
        guard !statements.isEmpty else { return "" }
        let slowest = max(statements.map(\.duration).max() ?? .zero, .nanoseconds(1))
        return table(
            ["time", "rows", "statement", "place"],
            statements.map { statement in
                let part = Int((statement.duration / slowest * 100).rounded())
                let arguments =
                    statement.arguments.isEmpty
                    ? "" : "<div class=\"dim\">\(MarkupText.escaped(statement.arguments.joined(separator: ", ")))</div>"
                let plan =
                    statement.plan.isEmpty
                    ? "" : "<pre class=\"plan\">\(MarkupText.escaped(statement.plan.joined(separator: "\n")))</pre>"
                let place = statement.file.map { "\($0)\(statement.line.map { ":\($0)" } ?? "")" } ?? ""
                return """
                    <tr><td class="number"><span class="time" style="--part:\(part)%">\(TimeText.text(statement.duration))</span></td>\
                    <td class="number">\(statement.rows)</td><td><code>\(MarkupText.escaped(statement.sql))</code>\(arguments)\(plan)</td>\
                    <td class="dim">\(MarkupText.escaped(place))</td></tr>

                    """
            })
    }

    /// Returns the changes in the rows of a table, each marked by its kind.
    package static func changes(_ table: TableChanges) -> String {
        let order = table.columnOrder.columns
        let rows = table.rows.map { row -> String in
            let values = row.newValues ?? row.oldValues ?? [], changed = Set(row.changedPlaces)
            let cells = order.map { index -> String in
                guard changed.contains(index), let before = row.oldValues else { return "<td>\(value(values[index]))</td>" }
                return "<td class=\"changed\"><del>\(value(before[index]))</del> <ins>\(value(values[index]))</ins></td>"
            }
            return
                "<tr class=\"\(row.kind.rawValue)\"><th scope=\"row\" title=\"\(row.kind.rawValue)\">\(row.mark)</th>\(cells.joined())</tr>\n"
        }
        let more = table.hiddenCount > 0 ? "<p class=\"dim\">and \(table.hiddenCount) more</p>\n" : ""
        return rows.isEmpty ? more : self.table([""] + order.map { table.columns[$0] }, rows) + more
    }

    private static func value(_ value: StoredValue) -> String {
        switch value {
        case .null: "<span class=\"dim\">NULL</span>"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let bytes): MarkupText.escaped(DisplayText.escaped(bytes, keepingLineBreaks: true))
        case .blob(let bytes): "<span class=\"dim\">blob of \(bytes.count) byte\(bytes.count == 1 ? "" : "s")</span>"
        }
    }
}
