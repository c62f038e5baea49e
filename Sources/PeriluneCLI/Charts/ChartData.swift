internal import Foundation
internal import Perilune
internal import PeriluneRecords

/// The data of a chart: for each label, one optional number per series.
struct ChartData: Equatable {
    struct Series: Equatable {
        let name: String
        var values: [Double?]
    }

    /// The name of the label column; `nil` if rows are numbered.
    var labelName: String?
    var labels: [String] = []
    var series: [Series] = []
    /// The x coordinate of each row in line charts: its number, its date, or its position among the rows.
    var places: [Double] = []
    var scale = Scale.rows
    /// Whether the labels are sorted numbers or dates, which can be drawn as lines.
    var isContinuous = false

    /// The meaning of the x coordinates.
    enum Scale {
        case rows, numbers
        /// Seconds since 1970.
        case dates
    }

    /// Creates chart data from the rows of a query. The first column contains the labels unless it is the only column; every other column
    /// of numbers becomes a series.
    ///
    /// - Throws: ``CommandFailure`` if no column contains numbers, or if one contains infinity, which cannot be drawn on an axis.
    init(columns: [String], rows: [[Cell]]) throws {
        let first = columns.count > 1 ? 1 : 0
        labelName = first == 1 ? DisplayText.escaped(columns[0]) : nil
        labels = rows.enumerated().map { index, row in first == 1 ? row[0].displayText : "\(index + 1)" }
        series = try columns.indices.dropFirst(first).compactMap { column in
            let cells = rows.map { $0[column] }
            guard cells.contains(where: \.isNumber), cells.allSatisfy({ $0.isNumber || $0 == .null }) else { return nil }
            let series = Series(name: DisplayText.escaped(columns[column]), values: cells.map(Self.number))
            if let row = series.values.firstIndex(where: { abs($0 ?? 0) > ChartAxis.greatest }) {
                throw Self.refusal(of: series, row: row + 1)
            }
            return series
        }
        guard !series.isEmpty || rows.isEmpty else {
            throw CommandFailure(
                ErrorReport(
                    first == 1
                        ? "no column after the first, which has the labels, holds numbers" : "the column holds no numbers",
                    kind: "usage",
                    help: "select the labels first and then the numbers: SELECT day, sum(total) FROM ... GROUP BY day"))
        }
        if first == 0 {
            (scale, isContinuous) = (.numbers, rows.count > 12)
            places = rows.indices.map { Double($0 + 1) }
        } else {
            setPlaces(rows.map { $0[0] })
        }
    }

    private static func number(_ cell: Cell) -> Double? {
        switch cell {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }

    private static func refusal(of series: Series, row: Int) -> CommandFailure {
        CommandFailure(
            ErrorReport(
                "column `\(series.name)` holds \(series.values[row - 1]?.isInfinite == true ? "an infinite number" : "a number beyond 1e300") "
                    + "in row \(row), which cannot be drawn", kind: "usage",
                help: "leave the row out, or a gap in its place: iif(abs(value) > 1e300, NULL, value)"))
    }

    private mutating func setPlaces(_ cells: [Cell]) {
        let numbers = cells.compactMap(Self.number),
            isAscending = { (places: [Double]) in zip(places, places.dropFirst()).allSatisfy { $0 <= $1 } }
        if numbers.count == cells.count, numbers.allSatisfy(\.isFinite) {
            (places, scale) = (numbers, .numbers)
            isContinuous = cells.count > 2 && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
        } else if let dates = Self.dates(cells) {
            (places, scale) = (dates, .dates)
            isContinuous = cells.count > 2 && (isAscending(dates) || isAscending(dates.reversed()))
        } else {
            places = cells.indices.map(Double.init)
        }
    }

    /// Parses cells with years, months, days or timestamps into seconds since 1970; returns `nil` if any cell has another format.
    private static func dates(_ cells: [Cell]) -> [Double]? {
        var dates: [Double] = []
        for cell in cells {
            guard case .text(let bytes) = cell, let match = String(decoding: bytes, as: UTF8.self).wholeMatch(of: pattern) else {
                return nil
            }
            let text = "\(match.1)-\(match.3 ?? "01")-\(match.4 ?? "01")\(match.5 ?? "")"
            guard let date = try? DateTime(parsing: text) else { return nil }
            dates.append(Double(date.microsecondsSince1970) / 1e6)
        }
        return dates
    }

    private static var pattern: Regex<(Substring, Substring, Substring?, Substring?, Substring?, Substring?)> {
        /(\d{4})(?:([-\/])(\d{2})(?:\2(\d{2})([ T][\d:.Z+-]+)?)?)?/
    }

    /// The data with rows sorted by x coordinate.
    var inOrder: ChartData {
        let order = places.indices.sorted { (places[$0], $0) < (places[$1], $1) }
        var data = self
        data.places = order.map { places[$0] }
        data.labels = order.map { labels[$0] }
        data.series = series.map { series in Series(name: series.name, values: order.map { series.values[$0] }) }
        return data
    }

    /// Returns the position of an x coordinate on the axis, from 0 to 1.
    func part(_ place: Double) -> Double {
        guard let low = places.min(), let high = places.max(), high > low else { return 0 }
        return (place - low) / (high - low)
    }

    /// Returns the positions and texts of labels below the x axis: round numbers, dates, or row labels.
    ///
    /// - Parameter count: The number of labels that fit.
    func marks(atMost count: Int) -> [(part: Double, text: String)] {
        guard let low = places.min(), let high = places.max() else { return [] }
        let marks: [(part: Double, text: String)] =
            switch scale {
            case .rows: []
            case .numbers:
                ChartAxis(low...high, count: count).ticks.filter { (low...high).contains($0) }.map {
                    (part($0), ChartAxis.text($0))
                }
            case .dates: DateAxis(low...high, count: count).ticks.map { (part($0.place), $0.text) }
            }
        return marks.count > 1 ? marks : zip(places, labels).map { (part($0), $1) }
    }

    /// The range of all numbers in the series, extended to include zero.
    var range: ClosedRange<Double> { min(ownRange.lowerBound, 0)...max(ownRange.upperBound, 0) }

    /// The range of all numbers in the series.
    var ownRange: ClosedRange<Double> {
        let values = series.flatMap(\.values).compactMap { $0 }
        return (values.min() ?? 0)...(values.max() ?? 0)
    }
}

/// The tick marks of an axis.
struct ChartAxis: Equatable {
    let ticks: [Double]
    var low: Double { ticks[0] }
    var high: Double { ticks[ticks.count - 1] }

    /// The largest magnitude that an axis supports. With larger numbers, the computation of ticks could overflow to infinity.
    static let greatest = 1e300

    /// Creates ticks at round numbers around a range, in steps of 1, 2 or 5 times a power of ten.
    init(_ range: ClosedRange<Double>, count: Int = 5) {
        let length = range.upperBound - range.lowerBound
        let magnitude = max(abs(range.lowerBound), abs(range.upperBound))
        // Smaller steps would produce ticks that are equal after rounding.
        let least = max(magnitude * 1e-12, 1e-290)
        let span = length > least ? length : max(magnitude, length == 0 ? 1 : least)
        let rough = max(span / Double(max(count, 1)), least)
        let power = pow(10, floor(log10(rough)))
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough } ?? rough
        let low = floor(range.lowerBound / step), high = max(ceil(range.upperBound / step), floor(range.lowerBound / step) + 1)
        ticks = stride(from: low, through: high, by: 1).map { $0 * step }
    }

    /// Returns the position of a number on the axis, from 0 to 1.
    func part(_ value: Double) -> Double { (value - low) / (high - low) }

    /// Formats a number with at most four decimal places, or in scientific notation if it is very large or very small.
    static func text(_ value: Double) -> String {
        if value == value.rounded(), abs(value) < 1e15 { return ConsoleRenderer.grouped(Int(value)) }
        let text = abs(value) >= 1e15 || abs(value) < 1e-4 ? String(format: "%.4g", value) : String(format: "%.4f", value)
        guard text.contains("."), !text.contains("e") else { return text }
        let trimmed = String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed())
        let whole = trimmed.prefix { $0 != "." }, digits = whole.drop { $0 == "-" }
        guard digits.count > 3, let number = Int(digits) else { return trimmed }
        return whole.prefix { $0 == "-" } + ConsoleRenderer.grouped(number) + trimmed[whole.endIndex...]
    }
}
