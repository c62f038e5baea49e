internal import Perilune
internal import PeriluneRecords

/// An SVG diagram of tables and foreign keys. Each table is a box; each foreign key is a line from its column to the referenced
/// column.
struct SchemaPicture {
    private let boxes: [Box]
    private let edges: [Edge]
    private let width: Double
    private let height: Double

    /// A table with the position of its box.
    struct Box {
        let table: TableDescription
        /// The columns that the box shows.
        let columns: [TableDescription.Column]
        let width: Double
        var x = 0.0
        var y = 0.0

        static let rowHeight = 20.0
        static let headHeight = 26.0
        var height: Double { Self.headHeight + Double(columns.count) * Self.rowHeight + 6 }

        init(_ table: TableDescription) {
            self.table = table
            columns = table.columns.filter { $0.hidden != 1 }
            let texts =
                columns.map { DisplayText.width($0.name) + DisplayText.width($0.type) + 7 } + [DisplayText.width(table.name) + 2]
            width = Double(min(max(texts.max() ?? 0, 14), 56)) * PictureChart.characterWidth + 16
        }

        /// Returns the vertical center of a column's row, or of the heading if the column is not shown.
        func rowY(_ column: String?) -> Double {
            let index = columns.firstIndex { $0.name.lowercased() == column?.lowercased() }
            return index.map { y + Self.headHeight + (Double($0) + 0.5) * Self.rowHeight + 2 } ?? y + Self.headHeight / 2
        }
    }

    /// A foreign key between two boxes.
    private struct Edge {
        let from: Int
        let to: Int
        let key: TableDescription.ForeignKey
    }

    init(_ tables: [TableDescription]) {
        var boxes = tables.map(Box.init)
        edges = tables.indices.flatMap { index in
            tables[index].foreignKeys.compactMap { key in
                tables.firstIndex { $0.name.lowercased() == key.table.lowercased() }.map { Edge(from: index, to: $0, key: key) }
            }
        }
        Self.place(&boxes, Self.layers(boxes.count, edges.map { ($0.from, $0.to) }))
        self.boxes = boxes
        width = (boxes.map { $0.x + $0.width }.max() ?? 200) + 50
        height = (boxes.map { $0.y + $0.height }.max() ?? 60) + 30
    }

    // MARK: - Layout

    /// Returns the layers of the diagram from left to right. Each table is to the right of the tables it references, unless foreign keys
    /// form a cycle.
    static func layers(_ count: Int, _ edges: [(from: Int, to: Int)]) -> [[Int]] {
        var ranks = Array(repeating: 0, count: count)
        // The number of passes is bounded because ranks in a cycle would grow forever.
        for _ in 0..<count {
            var hasChanged = false
            for edge in edges where edge.from != edge.to && ranks[edge.from] <= ranks[edge.to] && ranks[edge.to] + 1 < count {
                ranks[edge.from] = ranks[edge.to] + 1
                hasChanged = true
            }
            if !hasChanged { break }
        }
        // Place each table close to the tables that reference it, because long lines would run behind other tables.
        for table in ranks.indices.sorted(by: { ranks[$0] > ranks[$1] }) {
            let children = edges.filter { $0.to == table && $0.from != table && ranks[$0.from] > ranks[table] }.map {
                ranks[$0.from]
            }
            if let nearest = children.min() { ranks[table] = nearest - 1 }
        }
        let used = Set(ranks).sorted()
        var layers = used.map { rank in ranks.indices.filter { ranks[$0] == rank } }
        sortByNeighbours(&layers, edges)
        return layers
    }

    /// Sorts each layer by the mean position of neighboring tables to reduce crossing lines.
    private static func sortByNeighbours(_ layers: inout [[Int]], _ edges: [(from: Int, to: Int)]) {
        for round in 0..<8 {
            let order = round.isMultiple(of: 2) ? Array(layers.indices) : layers.indices.reversed()
            for layer in order {
                var places: [Int: Double] = [:]
                for others in layers {
                    for (place, table) in others.enumerated() { places[table] = Double(place) / Double(others.count) }
                }
                let means = layers[layer].map { table -> (table: Int, mean: Double) in
                    let near = edges.compactMap { $0.from == table ? places[$0.to] : $0.to == table ? places[$0.from] : nil }
                    return (table, near.isEmpty ? 2 : near.reduce(0, +) / Double(near.count))
                }
                layers[layer] = means.sorted { ($0.mean, $0.table) < ($1.mean, $1.table) }.map(\.table)
            }
        }
    }

    private static let gap = (x: 90.0, y: 26.0)

    /// Positions the boxes, and splits layers that are too tall into several columns.
    private static func place(_ boxes: inout [Box], _ layers: [[Int]]) {
        let area = boxes.reduce(0) { $0 + ($1.width + gap.x) * ($1.height + gap.y) }
        let highest = max(boxes.map(\.height).max() ?? 0, area.squareRoot() * 0.9, 500)
        var x = 30.0
        for layer in layers {
            var y = 30.0, columnWidth = 0.0
            for table in layer {
                if y > 30, y + boxes[table].height > highest + 30 {
                    x += columnWidth + gap.x * 0.6
                    (y, columnWidth) = (30, 0)
                }
                (boxes[table].x, boxes[table].y) = (x, y)
                y += boxes[table].height + gap.y
                columnWidth = max(columnWidth, boxes[table].width)
            }
            x += columnWidth + gap.x
        }
    }

    // MARK: - Drawing

    var text: String {
        var picture = SVGDocument(width: width, height: height, title: "\(boxes.count) table\(boxes.count == 1 ? "" : "s")")
        for edge in edges { draw(edge, on: &picture) }
        for box in boxes { draw(box, on: &picture) }
        return picture.text
    }

    private func draw(_ box: Box, on picture: inout SVGDocument) {
        let foreign = Set(box.table.foreignKeys.flatMap(\.columns).map { $0.lowercased() })
        picture.add("rect", ("x", box.x), ("y", box.y), ("width", box.width), ("height", box.height), ("rx", 4), style: "box")
        picture.add(
            "rect", ("x", box.x), ("y", box.y), ("width", box.width), ("height", Box.headHeight), ("rx", 4), style: "head")
        let name = DisplayText.cut(
            DisplayText.escaped(box.table.name), to: Int(box.width / PictureChart.characterWidth) - 2, ellipsis: "…")
        picture.addText(name, x: box.x + 10, y: box.y + 17, style: "title")
        for column in box.columns {
            let y = box.rowY(column.name) + 4
            let mark = column.keyPosition > 0 ? "PK" : foreign.contains(column.name.lowercased()) ? "FK" : ""
            let room = Int(box.width / PictureChart.characterWidth) - 7
            let type = DisplayText.cut(
                DisplayText.escaped(column.type), to: max(room / 2, room - DisplayText.width(column.name) - 1), ellipsis: "…")
            let name = DisplayText.cut(DisplayText.escaped(column.name), to: room - DisplayText.width(type), ellipsis: "…")
            picture.addText(name, x: box.x + 34, y: y, style: column.isNotNull || column.keyPosition > 0 ? "key" : "")
            picture.addText(mark, x: box.x + 10, y: y, style: "dim")
            picture.addText(type, x: box.x + box.width - 10, y: y, anchor: "end", style: "dim")
        }
    }

    private func draw(_ edge: Edge, on picture: inout SVGDocument) {
        let (from, to) = (boxes[edge.from], boxes[edge.to])
        let target = edge.key.references.first.flatMap { $0 } ?? to.table.key.first
        let (startY, endY) = (from.rowY(edge.key.columns.first), to.rowY(target))
        // Connect the facing sides. If one box is above the other, go around their right sides.
        let isRight = from.x >= to.x + to.width, isLeft = from.x + from.width <= to.x
        let startX = isRight ? from.x : from.x + from.width, endX = isLeft ? to.x : to.x + to.width
        let startStep = isRight ? -1.0 : 1.0, endStep = isLeft ? -1.0 : 1.0
        let bend = isRight || isLeft ? max(36, abs(startX - endX) / 2) : 44
        let n = SVGDocument.number
        let path =
            "M\(n(startX)) \(n(startY))C\(n(startX + startStep * bend)) \(n(startY)) \(n(endX + endStep * bend)) \(n(endY)) \(n(endX)) \(n(endY))"
        let columns = edge.key.columns.joined(separator: ", ")
        picture.addGroup(title: "\(from.table.name) (\(columns)) → \(to.table.name)") { picture in
            picture.addPath(path, style: "edge")
            // A crow's foot marks "many", a bar marks "one".
            let isOne = from.table.indexes.contains { $0.isUnique && !$0.isPartial && Set($0.columns) == Set(edge.key.columns) }
            let foot = n(startX + startStep * 10)
            picture.addPath(
                isOne
                    ? "M\(foot) \(n(startY - 5))V\(n(startY + 5))"
                    : "M\(foot) \(n(startY))L\(n(startX)) \(n(startY - 5))M\(foot) \(n(startY))L\(n(startX)) \(n(startY + 5))",
                style: "edge")
            picture.addPath("M\(n(endX + endStep * 8)) \(n(endY - 5))V\(n(endY + 5))", style: "edge")
        }
    }
}
