internal import Perilune

/// A bar or line chart drawn as SVG.
struct PictureChart {
    let data: ChartData
    let title: String

    /// The width of a character in the monospaced font, in SVG units.
    static let characterWidth = 7.25
    private static let colorCount = 6
    private static let width = 860.0

    private static func width(_ text: String) -> Double { Double(DisplayText.width(text)) * characterWidth }
    private static func style(_ prefix: String, _ series: Int) -> String { "\(prefix)\(series % colorCount)" }

    private func begin(height: Double) -> SVGDocument {
        var picture = SVGDocument(width: Self.width, height: height, title: title)
        picture.addText(DisplayText.cut(title, to: 110, ellipsis: "…"), x: 20, y: 26, style: "title")
        var x = 20.0
        guard data.series.count > 1 else { return picture }
        for (index, series) in data.series.enumerated() {
            picture.add("rect", ("x", x), ("y", 38), ("width", 10), ("height", 10), style: Self.style("b", index))
            picture.addText(series.name, x: x + 15, y: 47)
            x += 35 + Self.width(series.name)
        }
        return picture
    }

    private var top: Double { data.series.count > 1 ? 64 : 44 }

    // MARK: - Bars

    /// Returns a chart with one horizontal bar per number.
    func bars() -> String {
        let labels = data.labels.map { DisplayText.cut($0, to: 36, ellipsis: "…") }
        let left = 30 + (labels.map(Self.width).max() ?? 0), right = Self.width - 90
        let thickness = data.series.count > 1 ? 12.0 : 18.0, step = thickness * Double(data.series.count) + 8
        let bottom = top + step * Double(labels.count)
        let axis = ChartAxis(data.range)
        let place = { (value: Double) -> Double in left + axis.part(value) * (right - left) }
        var picture = begin(height: bottom + 34)
        for tick in axis.ticks {
            picture.addPath(
                "M\(SVGDocument.number(place(tick))) \(SVGDocument.number(top))V\(SVGDocument.number(bottom))",
                style: tick == 0 ? "axis" : "grid")
            picture.addText(ChartAxis.text(tick), x: place(tick), y: bottom + 18, anchor: "middle", style: "dim")
        }
        for (row, label) in labels.enumerated() {
            let y = top + step * Double(row) + 4
            let middle = y + thickness * Double(data.series.count) / 2
            picture.addText(label, x: left - 10, y: middle + 4, anchor: "end")
            for (index, series) in data.series.enumerated() {
                guard let value = series.values[row] else { continue }
                let barY = y + thickness * Double(index), zero = place(0), tip = place(value)
                let start = min(zero, tip), end = max(zero, tip)
                picture.addGroup(title: "\(data.labels[row]) · \(series.name): \(ChartAxis.text(value))") { picture in
                    picture.add(
                        "rect", ("x", start), ("y", barY), ("width", max(end - start, 0.5)), ("height", thickness - 2),
                        style: Self.style("b", index))
                    picture.addText(ChartAxis.text(value), x: end + 5, y: barY + thickness - 4, style: "dim")
                }
            }
        }
        return picture.text
    }

    // MARK: - Lines

    /// Returns a chart with one line per series.
    func lines() -> String {
        let axis = ChartAxis(data.ownRange), ordered = data.inOrder
        let left = 34 + (axis.ticks.map { Self.width(ChartAxis.text($0)) }.max() ?? 0), right = Self.width - 30,
            bottom = top + 320
        let x = { (index: Int) in left + ordered.part(ordered.places[index]) * (right - left) }
        let y = { (value: Double) in bottom - axis.part(value) * (bottom - self.top) }
        var picture = begin(height: bottom + 40)
        for tick in axis.ticks {
            let height = SVGDocument.number(y(tick))
            picture.addPath(
                "M\(SVGDocument.number(left)) \(height)H\(SVGDocument.number(right))",
                style: tick == axis.low || tick == 0 ? "axis" : "grid")
            picture.addText(ChartAxis.text(tick), x: left - 8, y: y(tick) + 4, anchor: "end", style: "dim")
        }
        for mark in Self.marks(ordered, left, right) {
            picture.addText(mark.text, x: mark.start, y: bottom + 20, anchor: "start", style: "dim")
            picture.addPath(
                "M\(SVGDocument.number(mark.x)) \(SVGDocument.number(bottom))V\(SVGDocument.number(bottom + 5))", style: "axis")
        }
        for (index, series) in ordered.series.enumerated() {
            picture.addGroup(title: series.name) { picture in
                picture.addPath(Self.path(series.values, x, y), style: Self.style("l", index))
                guard series.values.count <= 60 else { return }
                for (place, value) in series.values.enumerated() {
                    guard let value else { continue }
                    picture.addGroup(title: "\(ordered.labels[place]) · \(series.name): \(ChartAxis.text(value))") { picture in
                        picture.add("circle", ("cx", x(place)), ("cy", y(value)), ("r", 3), style: Self.style("b", index))
                    }
                }
            }
        }
        return picture.text
    }

    /// Returns the labels that fit below the x axis: their left edges, the x coordinates they mark, and their texts.
    private static func marks(_ data: ChartData, _ left: Double, _ right: Double) -> [(start: Double, x: Double, text: String)] {
        let marks = data.marks(atMost: 8).map { mark in
            let text = DisplayText.cut(mark.text, to: 24, ellipsis: "…"), x = left + mark.part * (right - left)
            return (start: max(left - 10, min(right + 20 - width(text), x - width(text) / 2)), x: x, text: text)
        }
        return LabelRow.shown(marks.map { $0.start..<$0.start + width($0.text) }, gap: 16).map { marks[$0] }
    }

    /// Returns the SVG path of a line. The line breaks at rows without a number.
    private static func path(_ values: [Double?], _ x: (Int) -> Double, _ y: (Double) -> Double) -> String {
        var path = "", isDrawing = false
        for (index, value) in values.enumerated() {
            if let value { path += "\(isDrawing ? "L" : "M")\(SVGDocument.number(x(index))) \(SVGDocument.number(y(value)))" }
            isDrawing = value != nil
        }
        return path
    }
}
