internal import Perilune
internal import PeriluneScenarios

/// A chart in the characters of a terminal.
struct TerminalChart {
    let data: ChartData
    let width: Int
    let colors: Colors

    private static let styles: [TerminalStyle] = [.cyan, .yellow, .green, .red, .bold]

    private func paint(_ text: String, _ series: Int) -> String {
        Self.styles[series % Self.styles.count].apply(to: text, if: colors.isOn)
    }

    private var legend: String {
        guard data.series.count > 1 else { return "" }
        return data.series.enumerated().map { index, series in paint("■ ", index) + series.name }.joined(separator: "   ") + "\n"
    }

    // MARK: - Bars

    /// A bar for each number, in a row of its own.
    func bars() -> String {
        let labelWidth = min(data.labels.map(DisplayText.width).max() ?? 0, max(8, width / 3))
        let numbers = data.series.map { series in series.values.map { $0.map(ChartAxis.text) ?? "NULL" } }
        let numberWidth = numbers.joined().map(\.count).max() ?? 0
        let room = max(4, width - labelWidth - numberWidth - 4)
        let range = data.range
        let unit = range.upperBound > range.lowerBound ? Double(room) / (range.upperBound - range.lowerBound) : 0
        let left = Int((-range.lowerBound * unit).rounded(.up))
        var text = legend
        for (row, label) in data.labels.enumerated() {
            for (index, series) in data.series.enumerated() {
                let name = index == 0 ? DisplayText.cut(label, to: labelWidth, ellipsis: "…") : ""
                let padding = String(repeating: " ", count: labelWidth - DisplayText.width(name))
                let bar = Self.bar(series.values[row].map { $0 * unit }, left: left)
                let shape = "\(bar.before)\(paint(bar.negative, index))\(colors.dim("│"))\(paint(bar.positive, index))"
                let number = series.values[row] == nil ? colors.dim("NULL") : numbers[index][row]
                text += "\(name)\(padding) \(shape) \(number)\n"
            }
        }
        return text
    }

    /// A bar around an axis that has some columns on its left.
    private static func bar(_ length: Double?, left: Int) -> (before: String, negative: String, positive: String) {
        let blanks = { (count: Int) in String(repeating: " ", count: max(0, count)) }
        guard let length, length != 0 else { return (blanks(left), "", "") }
        if length < 0 {
            let halves = max(1, Int((-length * 2).rounded()))
            let text = (halves.isMultiple(of: 2) ? "" : "▐") + String(repeating: "█", count: halves / 2)
            return (blanks(left - text.count), text, "")
        }
        let eighths = max(1, Int((length * 8).rounded()))
        let rest = eighths % 8
        let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return (blanks(left), "", String(repeating: "█", count: eighths / 8) + parts[rest])
    }

    // MARK: - Lines

    /// A line for each series; one below the other where colors do not tell them apart.
    func lines(height: Int = 14) -> String {
        if data.series.count > 1, !colors.isOn {
            return data.series.map { series in
                var part = data
                part.series = [series]
                return series.name + "\n" + TerminalChart(data: part, width: width, colors: colors).lines(height: height)
            }.joined(separator: "\n")
        }
        let axis = ChartAxis(data.ownRange, count: 4)
        let names = axis.ticks.map(ChartAxis.text)
        let margin = names.map(\.count).max() ?? 0
        var canvas = DotCanvas(columns: max(8, width - margin - 3), rows: height)
        for (index, series) in data.series.enumerated() { draw(series.values, index, axis, on: &canvas) }
        let tickRows = Dictionary(
            zip(axis.ticks, names).map { (Int(((1 - axis.part($0)) * Double(height - 1)).rounded()), $1) }, uniquingKeysWith: { first, _ in first })
        var text = legend
        for row in 0..<height {
            let name = tickRows[row] ?? ""
            let line = canvas.row(row).map { piece in piece.series.map { paint(piece.text, $0) } ?? piece.text }.joined()
            text += String(repeating: " ", count: margin - name.count) + name + colors.dim(name.isEmpty ? " │" : " ┤") + line + "\n"
        }
        let first = data.labels.first ?? "", last = data.labels.count > 1 ? data.labels[data.labels.count - 1] : ""
        let gap = max(1, width - margin - 3 - DisplayText.width(first) - DisplayText.width(last))
        return text + String(repeating: " ", count: margin + 1) + colors.dim("└" + String(repeating: "─", count: max(8, width - margin - 3))) + "\n"
            + String(repeating: " ", count: margin + 2) + first + String(repeating: " ", count: gap) + last + "\n"
    }

    private func draw(_ values: [Double?], _ series: Int, _ axis: ChartAxis, on canvas: inout DotCanvas) {
        let last = max(values.count - 1, 1)
        var former: (x: Int, y: Int)?
        for (index, value) in values.enumerated() {
            guard let value else {
                former = nil
                continue
            }
            let x = Int((Double(index) / Double(last) * Double(canvas.width - 1)).rounded())
            let y = Int(((1 - axis.part(value)) * Double(canvas.height - 1)).rounded())
            canvas.line(from: former ?? (x, y), to: (x, y), series)
            former = (x, y)
        }
    }
}

/// Dots on a terminal, eight to a character: the signs of Braille.
struct DotCanvas {
    private let columns: Int
    private var dots: [[UInt8]]
    private var owners: [[Int?]]
    /// In dots.
    var width: Int { columns * 2 }
    var height: Int { dots.count * 4 }

    init(columns: Int, rows: Int) {
        self.columns = columns
        dots = Array(repeating: Array(repeating: 0, count: columns), count: rows)
        owners = Array(repeating: Array(repeating: nil, count: columns), count: rows)
    }

    private static let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]

    /// Draws a line of a series (Bresenham's).
    mutating func line(from start: (x: Int, y: Int), to end: (x: Int, y: Int), _ series: Int) {
        var (x, y) = start
        let (dx, dy) = (abs(end.x - x), -abs(end.y - y))
        let (stepX, stepY) = (x < end.x ? 1 : -1, y < end.y ? 1 : -1)
        var error = dx + dy
        while true {
            if (0..<width).contains(x), (0..<height).contains(y) {
                dots[y / 4][x / 2] |= Self.bits[y % 4][x % 2]
                owners[y / 4][x / 2] = series
            }
            if x == end.x, y == end.y { return }
            let doubled = 2 * error
            if doubled >= dy { (error, x) = (error + dy, x + stepX) }
            if doubled <= dx { (error, y) = (error + dx, y + stepY) }
        }
    }

    /// The characters of a row, those of one series together.
    func row(_ row: Int) -> [(text: String, series: Int?)] {
        var pieces: [(text: String, series: Int?)] = []
        let last = dots[row].lastIndex { $0 != 0 } ?? -1
        for column in 0..<(last + 1) {
            let bits = dots[row][column]
            let character = bits == 0 ? " " : String(Character(Unicode.Scalar(0x2800 + UInt32(bits)) ?? " "))
            let owner = bits == 0 ? nil : owners[row][column]
            if let former = pieces.last, former.series == owner {
                pieces[pieces.count - 1].text += character
            } else {
                pieces.append((character, owner))
            }
        }
        return pieces
    }
}
