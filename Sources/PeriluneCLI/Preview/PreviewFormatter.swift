internal import Perilune

/// A formatter of preview reports as text.
struct PreviewFormatter {
    /// The database file; `nil` for a private database in memory.
    let database: String?
    /// The subject of the headline after a failure, such as "Before it failed, the script". The report then covers only committed changes.
    let incompleteSubject: String?
    /// Whether a plan was requested. Its obstacles are then reported as an error instead of in notes.
    let wantsPlan: Bool
    let colors: Colors
    /// The width of the terminal; `nil` for unlimited tables.
    var width: Int?

    func format(_ report: PreviewReport) -> [UInt8] {
        var text = "\(colors.bold(headline(report)))\n"
        for table in report.tables { text += "\n" + format(table) }
        if !report.schema.isEmpty { text += "\n" + colors.bold("schema") + "\n" }
        for change in report.schema { text += format(change) }
        if !report.effects.isEmpty { text += "\n" + colors.bold("effects (recorded, not performed)") + "\n" }
        for effect in report.effects {
            let call = "\(effect.name)(\(effect.arguments.joined(separator: ", ")))"
            text += "  \(DisplayText.escaped(call))\n"
        }
        var notes = report.warnings.map { "warning: \($0)" }
        notes += obstacles(report)
        if !notes.isEmpty { text += "\n" }
        for note in notes { text += colors.dim(DisplayText.escaped(note)) + "\n" }
        return Array(text.utf8)
    }

    private func headline(_ report: PreviewReport) -> String {
        let name = database.map { DisplayText.escaped($0) } ?? "an empty database"
        let subject = incompleteSubject.map { "\($0) would have changed in \(name)" } ?? "Would change in \(name)"
        return "\(subject): \(Self.headline(report))"
    }

    /// Returns a summary of the changes, such as `2 rows inserted, 1 deleted`.
    static func headline(_ report: PreviewReport) -> String {
        guard report.hasChanges else { return "nothing" }
        var parts: [String] = []
        let ways: [(name: String, count: KeyPath<TableChanges, Int>)] = [
            ("inserted", \.inserted), ("updated", \.updated), ("deleted", \.deleted),
        ]
        for way in ways {
            let count = report.tables.reduce(0) { $0 + $1[keyPath: way.count] }
            guard count > 0 else { continue }
            parts.append("\(parts.isEmpty ? Self.number(count, "row") : ConsoleRenderer.grouped(count)) \(way.name)")
        }
        if !report.schema.isEmpty { parts.append("\(Self.number(report.schema.count, "object")) of the schema") }
        if !report.effects.isEmpty { parts.append(Self.number(report.effects.count, "effect")) }
        return parts.isEmpty ? "tables without counts" : parts.joined(separator: ", ")
    }

    private func obstacles(_ report: PreviewReport) -> [String] {
        guard !report.obstacles.isEmpty else { return [] }
        if wantsPlan { return [] }  // Reported by the error that follows.
        return report.tables.compactMap { table in
            table.unrecordable.map { "note: \(table.name) cannot be part of a plan: \($0)" }
        }
    }

    // MARK: - Rows

    private func format(_ table: TableChanges) -> String {
        var text = colors.bold(DisplayText.escaped(table.name)) + "  " + Self.counts(of: table, colors) + "\n"
        if !table.rows.isEmpty { text += grid(table) }
        let hidden = table.hiddenCount
        if hidden > 0, !table.rows.isEmpty { text += colors.dim("  and \(Self.number(hidden, "row")) more") + "\n" }
        return text
    }

    /// Returns the change counts of a table, such as `+3 ~1 -2`.
    static func counts(of table: TableChanges, _ colors: Colors = .off) -> String {
        guard table.isCounted else { return "changed" }
        var parts: [String] = []
        if table.inserted > 0 { parts.append(colors.green("+\(ConsoleRenderer.grouped(table.inserted))")) }
        if table.updated > 0 { parts.append(colors.cyan("~\(ConsoleRenderer.grouped(table.updated))")) }
        if table.deleted > 0 { parts.append(colors.red("-\(ConsoleRenderer.grouped(table.deleted))")) }
        return parts.joined(separator: " ")
    }

    private func grid(_ table: TableChanges) -> String {
        let order = table.columnOrder
        let rows = table.rows.map { row -> [(cell: Cell, text: String)] in
            let cells = (row.newValues ?? row.oldValues ?? []).map(Cell.init)
            let changed = Set(row.changedPlaces)
            return [(.text([]), row.mark)]
                + order.columns.map { column in
                    let old = changed.contains(column) ? row.oldValues.map { Cell($0[column]) } : nil
                    return (cells[column], Self.text(cells[column], was: old))
                }
        }
        let fitted = FittedTable(
            columns: [""] + order.columns.map { DisplayText.escaped(table.columns[$0]) }, rows: rows, width: width.map { $0 - 2 },
            leading: order.leading + 1)
        let grid = fitted.grid
        let text = grid.box(indent: "  ", header: colors.bold) { row, column, text in
            let change = table.rows[row]
            guard let shown = fitted.shown[column], shown > 0, change.kind == .update else { return paint(text, change.kind) }
            if change.changedPlaces.contains(order.columns[shown - 1]) { return colors.cyan(text) }
            return grid.rows[row][column].isNull ? colors.dim(text) : text
        }
        let hidden = order.columns.count + 1 - fitted.shown.count { $0 != nil }
        let note = hidden > 0 ? "\(hidden) of \(order.columns.count) columns hidden" : fitted.cut
        return text + (note.map { colors.dim("  \($0)") + "\n" } ?? "")
    }

    private func paint(_ text: String, _ kind: RowChange.Kind) -> String {
        switch kind {
        case .insert: colors.green(text)
        case .update: colors.cyan(text)
        case .delete: colors.red(text)
        }
    }

    private static func text(_ cell: Cell, was old: Cell?) -> String {
        guard let old else { return shortened(cell.part(from: 0, atMost: bytesRead).displayText) }
        // For long values, show the part where the difference starts.
        let skipped = max(0, cell.commonLength(with: old) - bytesRead / 2)
        let before = old.part(from: skipped, atMost: bytesRead).displayText
        let after = cell.part(from: skipped, atMost: bytesRead).displayText
        let common = zip(before, after).prefix { $0 == $1 }.count
        let start = max(before.count, after.count) > width ? max(0, common - 10) : 0
        return "\(shortened(before, from: start)) → \(shortened(after, from: start))"
    }

    /// The number of bytes read from a value, more than are shown.
    private static let bytesRead = 1000
    private static let width = 40

    private static func shortened(_ text: String, from start: Int = 0) -> String {
        var shown = text.dropFirst(start)
        let isCut = shown.count > width
        if isCut { shown = shown.prefix(width - 1) }
        return (start > 0 ? "…" : "") + shown + (isCut ? "…" : "")
    }

    // MARK: - Schema

    private func format(_ change: SchemaChange) -> String {
        let name =
            DisplayText.escaped("\(change.type) \(change.name)")
            + (change.isPartOfTable ? " on \(DisplayText.escaped(change.table))" : "")
        switch change.kind {
        case .added: return "  " + colors.green("+ \(name)") + "\n"
        case .removed: return "  " + colors.red("- \(name)") + "\n"
        case .changed:
            let before = lines(change.before, "-").map(colors.red), after = lines(change.after, "+").map(colors.green)
            return "  \(colors.cyan("~ \(name)"))\n" + (before + after).map { "      \($0)\n" }.joined()
        }
    }

    private func lines(_ sql: String?, _ mark: String) -> [String] {
        DisplayText.escaped(sql ?? "", keepingLineBreaks: true).split(separator: "\n").map { "\(mark) \($0)" }
    }

    // MARK: - Numbers

    private static func number(_ count: Int, _ noun: String) -> String {
        "\(ConsoleRenderer.grouped(count)) \(noun)\(count == 1 ? "" : "s")"
    }
}

extension SchemaChange {
    fileprivate var isPartOfTable: Bool { type == "index" || type == "trigger" }
}

extension Cell {
    init(_ value: StoredValue) {
        switch value {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .text(let bytes): self = .text(bytes)
        case .blob(let bytes): self = .blob(bytes)
        }
    }
}
