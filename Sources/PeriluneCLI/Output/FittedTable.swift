internal import Perilune

/// A table that fits the width of a terminal: long texts are cut first, then columns are hidden.
struct FittedTable {
    /// A note on cut and hidden columns; `nil` if everything fits.
    private(set) var cut: String?
    /// The visible columns; `nil` marks hidden ones.
    let shown: [Int?]
    private(set) var grid: Grid

    /// - Parameters:
    ///   - width: The available width; `nil` for no limit.
    init(_ rows: ConsoleRows, width: Int?) {
        let columns = rows.columns.map { DisplayText.escaped($0) }
        let texts = (rows.head + rows.tail).map { row in row.map { ($0, $0.displayText) } }
        let gap = rows.count > texts.count ? rows.head.count : nil
        self.init(columns: columns, rows: texts, gap: gap, width: width)
    }

    /// - Parameters:
    ///   - columns: The names to show.
    ///   - rows: The cells and their texts.
    ///   - gap: The index of the row before which rows were omitted.
    ///   - width: The available width; `nil` for no limit.
    ///   - leading: The number of leading columns, which are cut and hidden only after all others.
    init(columns: [String], rows texts: [[(cell: Cell, text: String)]], gap: Int? = nil, width: Int?, leading: Int = 0) {
        let natural = columns.indices.map { index in
            texts.reduce(DisplayText.width(columns[index])) { max($0, DisplayText.width($1[index].text)) }
        }
        let fit = Fit(natural, width: width, leading: leading)
        self.shown = fit.shown
        let shown = fit.shown.map { index in index.map { ($0, fit.widths[$0]) } }
        grid = Grid(
            columns: shown.map { column in column.map { DisplayText.cut(columns[$0.0], to: $0.1, ellipsis: "…") } ?? "…" })
        for (index, row) in texts.enumerated() {
            if index == gap { addGap(shown.count) }
            grid.add(
                shown.map { column in
                    guard let (place, width) = column else { return (Cell.null, "…") }
                    return (row[place].cell, DisplayText.cut(row[place].text, to: width, ellipsis: "…"))
                })
        }
        if gap == texts.count { addGap(shown.count) }
        cut = fit.description
    }

    private mutating func addGap(_ count: Int) {
        grid.add((0..<count).map { _ in (Cell.null, "·") })
    }

    func text(_ colors: Colors) -> String {
        grid.box(header: colors.bold) { [grid] row, column, text in grid.rows[row][column].isNull ? colors.dim(text) : text }
    }
}

/// The visible columns of a table and their widths.
private struct Fit {
    var widths: [Int]
    /// The columns in order; `nil` marks hidden ones.
    var shown: [Int?]
    private let natural: [Int]
    private static let narrowest = 8

    init(_ natural: [Int], width: Int?, leading: Int) {
        self.natural = natural
        widths = natural
        shown = natural.indices.map { $0 }
        guard let width else { return }
        if leading > 0, leading < natural.count {
            narrow(leading..<natural.count, by: total(shown) - width)
            // This width includes the mark for hidden columns.
            var alone: [Int?] = Array(0..<leading)
            alone.append(nil)
            if total(shown) > width { narrow(0..<leading, by: total(alone) - width) }
        } else {
            narrow(natural.indices, by: total(shown) - width)
        }
        leaveOut(to: width, leading: leading)
        widen(to: width)
    }

    /// Returns the width of a box: a border and two blanks for each column, and a final border.
    private func total(_ columns: [Int?]) -> Int {
        columns.reduce(1) { $0 + 3 + ($1.map { widths[$0] } ?? 1) }
    }

    /// Reduces the widest of the columns until the excess is removed.
    private mutating func narrow(_ columns: Range<Int>, by excess: Int) {
        var excess = excess
        while excess > 0, let widest = widths[columns].max(), widest > Self.narrowest {
            let places = columns.filter { widths[$0] == widest }
            let next = max(widths[columns].filter { $0 < widest }.max() ?? 0, Self.narrowest)
            let step = max(1, min(widest - next, (excess + places.count - 1) / places.count))
            for place in places where excess > 0 {
                widths[place] -= min(step, excess)
                excess -= step
            }
        }
    }

    /// Hides columns in the middle, the leading ones last.
    private mutating func leaveOut(to width: Int, leading: Int) {
        guard total(shown) > width else { return }
        var left = 0, right = natural.count
        var columns: [Int?] = [nil]
        for turn in 0..<natural.count {
            if turn < leading || (turn - leading).isMultiple(of: 2) { left += 1 } else { right -= 1 }
            var next: [Int?] = Array(0..<left)
            next.append(nil)
            next += Array(right..<natural.count)
            guard total(next) <= width else { break }
            columns = next
        }
        shown = columns
    }

    /// Distributes the remaining width among the columns that were cut.
    private mutating func widen(to width: Int) {
        var rest = width - total(shown)
        while rest > 0 {
            let cut = shown.compactMap { $0 }.filter { widths[$0] < natural[$0] }
            guard let narrowest = cut.min(by: { widths[$0] < widths[$1] }) else { return }
            widths[narrowest] += 1
            rest -= 1
        }
    }

    var description: String? {
        let hidden = natural.count - shown.count { $0 != nil }
        let shortened = shown.compactMap { $0 }.count { widths[$0] < natural[$0] }
        if hidden > 0 { return "\(hidden) of \(natural.count) columns hidden" }
        return shortened > 0 ? "\(shortened) column\(shortened == 1 ? "" : "s") cut" : nil
    }
}
