import Foundation

/// The table and the chart of the README: the times of all contestants for the same tasks, with the date and the machine.
struct SpeedReport {
    /// A row of the table.
    struct Line {
        let title: String
        /// The seconds per row or call, by contestant.
        let times: [(contestant: String, seconds: Double)]

        func seconds(_ contestant: String) -> Double? { times.first { $0.contestant == contestant }?.seconds }
    }

    static let ours = "Perilune"
    static let reference = "C"

    private let lines: [Line]
    private let contestants: [String]
    private let caption: String

    /// - Parameter machine: The machine described in the report.
    init(_ comparison: Comparison, date: Date = Date(), machine: Machine = Machine()) {
        let others = [
            Self.reference, Contestants.lsqlite3, Contestants.luaSQL, Contestants.python, Contestants.peewee,
            Contestants.sqlAlchemy, Contestants.grdb,
        ]
        lines = Measure.shown.compactMap { shown in
            let times = ([Self.ours] + others).compactMap { name in comparison.seconds(shown, name).map { (name, $0) } }
            return times.count < 2 ? nil : Line(title: shown.title, times: times)
        }
        let present = Set(lines.flatMap { $0.times.map(\.contestant) })
        contestants = ([Self.ours] + others).filter(present.contains)
        let day = date.formatted(.iso8601.year().month().day())
        caption = "\(day), \(machine.description); processor time of one row or call, the least of several runs by turns"
    }

    // MARK: - Table

    /// The Markdown table.
    var table: String {
        func cell(_ line: Line, _ name: String) -> String {
            guard let seconds = line.seconds(name) else { return "–" }
            let time = Self.text(seconds)
            guard name == Self.ours, let reference = line.seconds(Self.reference) else { return time }
            return "**\(time)** (\(String(format: "%.2f", seconds / reference)) × C)"
        }
        let head = "| µs | \(contestants.joined(separator: " | ")) |\n|---|\(contestants.map { _ in "---|" }.joined())"
        let rows = lines.map { line in "| \(line.title) | \(contestants.map { cell(line, $0) }.joined(separator: " | ")) |" }
        return ([head] + rows).joined(separator: "\n") + "\n\n\(caption).\n"
    }

    private static func text(_ seconds: Double) -> String {
        let microseconds = seconds * 1e6
        return String(format: microseconds < 10 ? "%.2f" : "%.0f", microseconds)
    }

    // MARK: - Picture

    private static let width = 760.0, left = 250.0, right = 24.0, rowHeight = 34.0, top = 56.0
    private static let colors = ["#d9480f", "#212529", "#1971c2", "#2f9e44", "#9c36b5", "#e8a800", "#868e96", "#0b7285"]

    /// The SVG chart: a row per task, with a dot for each contestant on a logarithmic scale.
    var picture: String {
        let all = lines.flatMap { $0.times.map(\.seconds) }
        let first = floor(log10((all.min() ?? 1e-7) * 1e6)), last = ceil(log10((all.max() ?? 1e-4) * 1e6))
        func x(_ microseconds: Double) -> Double {
            Self.left + (log10(microseconds) - first) / max(1, last - first) * (Self.width - Self.left - Self.right)
        }
        let bottom = Self.top + Double(lines.count) * Self.rowHeight
        var parts = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Int(Self.width)) \(Int(bottom + 62))\" font-family=\"sans-serif\" "
                + "font-size=\"13\" role=\"img\" aria-label=\"The time of one row or call, by Perilune and others\">",
            "<style>@media(prefers-color-scheme:dark){rect{fill:#0d1117}text{fill:#e6edf3}path{stroke:#30363d}"
                + "circle[fill=\"#212529\"]{fill:#e6edf3}}</style>",
            "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>",
        ]
        for (index, name) in contestants.enumerated() {
            let place = 20 + Double(index) * 92
            parts.append(Self.dot(place, 22, index))
            parts.append("<text x=\"\(Self.number(place + 10))\" y=\"26\" fill=\"#212529\">\(Self.escaped(name))</text>")
        }
        for power in Int(first)...Int(last) {
            let microseconds = pow(10, Double(power)), place = Self.number(x(microseconds))
            let label = microseconds < 1000 ? "\(Self.trimmed(microseconds)) µs" : "\(Self.trimmed(microseconds / 1000)) ms"
            parts.append("<path d=\"M\(place) \(Int(Self.top - 8))V\(Int(bottom))\" stroke=\"#dee2e6\"/>")
            parts.append("<text x=\"\(place)\" y=\"\(Int(bottom + 18))\" fill=\"#495057\" text-anchor=\"middle\">\(label)</text>")
        }
        for (row, line) in lines.enumerated() {
            let y = Self.top + (Double(row) + 0.5) * Self.rowHeight
            let title = Self.escaped(line.title.replacing("`", with: ""))
            parts.append(
                "<text x=\"\(Int(Self.left - 14))\" y=\"\(Self.number(y + 4))\" fill=\"#212529\" text-anchor=\"end\">\(title)</text>"
            )
            for (index, name) in contestants.enumerated().reversed() {
                guard let seconds = line.seconds(name) else { continue }
                parts.append(Self.dot(x(seconds * 1e6), y, index))
            }
        }
        parts.append("<text x=\"20\" y=\"\(Int(bottom + 46))\" fill=\"#868e96\" font-size=\"11\">\(Self.escaped(caption))</text>")
        return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private static func dot(_ x: Double, _ y: Double, _ index: Int) -> String {
        "<circle cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"\(index == 0 ? 7 : 5)\" fill=\"\(colors[index % colors.count])\"/>"
    }

    private static func number(_ value: Double) -> String { String(format: "%.1f", value) }

    private static func trimmed(_ value: Double) -> String { value == value.rounded() ? String(Int(value)) : String(value) }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing(
            "\"", with: "&quot;")
    }

    // MARK: - Writing

    private static let marks = (begin: "<!-- written by scripts/bench --report -->\n", end: "<!-- to here -->\n")
    private static let picturePath = "Sources/Perilune/Perilune.docc/Resources/speed.svg"

    /// Writes the table to the README and the chart to its file, in the package at the current folder.
    func write() throws {
        let folder = URL(fileURLWithPath: Self.picturePath).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try picture.write(toFile: Self.picturePath, atomically: true, encoding: .utf8)
        let readme = try String(contentsOfFile: "README.md", encoding: .utf8)
        guard let begin = readme.range(of: Self.marks.begin), let end = readme.range(of: Self.marks.end) else {
            throw RunFailure.failed("README.md has no place for the table")
        }
        let image = "![The time of one row or call](\(Self.picturePath))\n"
        try (readme[..<begin.upperBound] + "\n" + image + "\n" + table + "\n" + readme[end.lowerBound...])
            .write(toFile: "README.md", atomically: true, encoding: .utf8)
    }
}

/// A description of the machine for reports.
struct Machine: CustomStringConvertible {
    let description: String

    init() {
        func value(_ file: String, _ name: String, _ separator: Character) -> String? {
            guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
            let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
            return line?.split(separator: separator, maxSplits: 1).last.map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))
            }
        }
        let processor = value("/proc/cpuinfo", "model name", ":") ?? "unknown processor"
        let system = value("/etc/os-release", "PRETTY_NAME", "=") ?? "unknown system"
        description = "\(processor), \(ProcessInfo.processInfo.activeProcessorCount) cores, \(system)"
    }
}
