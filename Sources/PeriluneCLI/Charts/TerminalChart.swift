internal import Perilune
internal import PeriluneScenarios

/// A chart drawn with terminal characters.
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

    /// Returns a chart with one horizontal bar per number, each on its own line.
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

    /// Returns the padding, the negative part and the positive part of a bar whose zero axis follows `left` characters.
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

    /// Returns one chart with a line per series, or one chart per series if the output has no colors.
    func lines(height: Int = 14) -> String {
        if data.series.count > 1, !colors.isOn {
            return data.series.map { series in
                var part = data
                part.series = [series]
                return series.name + "\n" + TerminalChart(data: part, width: width, colors: colors).lines(height: height)
            }.joined(separator: "\n")
        }
        let axis = ChartAxis(data.ownRange, count: 4), ordered = data.inOrder
        let names = axis.ticks.map(ChartAxis.text)
        let margin = names.map(\.count).max() ?? 0, room = max(8, width - margin - 3)
        var canvas = DotCanvas(columns: room, rows: height)
        for (index, series) in ordered.series.enumerated() { draw(series.values, ordered, index, axis, on: &canvas) }
        let row = { (value: Double) in Int(((1 - axis.part(value)) * Double(height - 1)).rounded()) }
        let tickRows = Dictionary(zip(axis.ticks, names).map { (row($0), $1) }, uniquingKeysWith: { first, _ in first })
        let zero = axis.low < 0 && axis.high > 0 ? row(0) : nil
        var text = legend
        for row in 0..<height {
            let name = row == zero ? "0" : tickRows[row] ?? ""
            let line = canvas.row(row, filling: row == zero ? "┄" : nil).map { piece in
                piece.series.map { paint(piece.text, $0) } ?? colors.dim(piece.text)
            }.joined()
            text +=
                String(repeating: " ", count: margin - name.count) + name + colors.dim(name.isEmpty ? " │" : " ┤") + line + "\n"
        }
        let indentation = String(repeating: " ", count: margin + 1)
        return text + indentation + colors.dim("└" + String(repeating: "─", count: room)) + "\n" + indentation + " "
            + Self.marks(ordered, room) + "\n"
    }

    /// Returns the row of labels below the x axis, with as many labels as fit.
    private static func marks(_ data: ChartData, _ room: Int) -> String {
        let marks = data.marks(atMost: max(2, room / 14)).map {
            (part: $0.part, text: DisplayText.cut($0.text, to: max(4, room / 2 - 1), ellipsis: "…"))
        }
        let spans = marks.map { mark in
            let width = DisplayText.width(mark.text)
            let start = max(0, min(room - width, Int((mark.part * Double(room - 1)).rounded()) - width / 2))
            return start..<start + width
        }
        var line = "", end = 0
        for index in LabelRow.shown(spans, gap: 2) {
            line += String(repeating: " ", count: spans[index].lowerBound - end) + marks[index].text
            end = spans[index].upperBound
        }
        return line
    }

    private func draw(_ values: [Double?], _ data: ChartData, _ series: Int, _ axis: ChartAxis, on canvas: inout DotCanvas) {
        var former: (x: Int, y: Int)?
        for (place, value) in zip(data.places, values) {
            guard let value else {
                former = nil
                continue
            }
            let x = Int((data.part(place) * Double(canvas.width - 1)).rounded())
            let y = Int(((1 - axis.part(value)) * Double(canvas.height - 1)).rounded())
            canvas.line(from: former ?? (x, y), to: (x, y), series)
            former = (x, y)
        }
    }
}

/// The choice of axis labels that fit without overlapping.
enum LabelRow {
    /// Returns the indices of the labels to show: the first, the last if it fits, and others between them from left to right.
    static func shown<Number: Comparable & AdditiveArithmetic>(_ spans: [Range<Number>], gap: Number) -> [Int] {
        guard let first = spans.indices.first, let last = spans.indices.last else { return [] }
        guard last > first, spans[first].upperBound + gap <= spans[last].lowerBound else { return [first] }
        var shown = [first]
        for index in spans.indices.dropFirst().dropLast()
        where spans[shown[shown.count - 1]].upperBound + gap <= spans[index].lowerBound
            && spans[index].upperBound + gap <= spans[last].lowerBound
        {
            shown.append(index)
        }
        return shown + [last]
    }
}

/// A canvas of Braille characters with eight dots each.
struct DotCanvas {
    private let columns: Int
    private var dots: [[UInt8]]
    private var owners: [[Int?]]
    /// The width of the canvas in dots.
    var width: Int { columns * 2 }
    var height: Int { dots.count * 4 }

    init(columns: Int, rows: Int) {
        self.columns = columns
        dots = Array(repeating: Array(repeating: 0, count: columns), count: rows)
        owners = Array(repeating: Array(repeating: nil, count: columns), count: rows)
    }

    private static let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]

    /// Draws a line of a series with Bresenham's algorithm.
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

    /// Returns the characters of a row, split where the series changes.
    ///
    /// - Parameter filling: The character for cells without dots; `nil` means blanks, which are omitted at the end of the row.
    func row(_ row: Int, filling: String? = nil) -> [(text: String, series: Int?)] {
        var pieces: [(text: String, series: Int?)] = []
        let last = filling == nil ? dots[row].lastIndex { $0 != 0 } ?? -1 : columns - 1
        for column in 0..<(last + 1) {
            let bits = dots[row][column]
            let character = bits == 0 ? filling ?? " " : String(Character(Unicode.Scalar(0x2800 + UInt32(bits)) ?? " "))
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
