import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// `perilune chart`, and schema diagrams as images.
@Suite(.patience, .startsPrograms) struct ChartTests {
    private static func data(_ rows: [[Cell]]) throws -> ChartData {
        try ChartData(columns: ["label", "n", "m"].prefix(rows.first?.count ?? 2).map { $0 }, rows: rows)
    }

    private static func text(_ text: String) -> Cell { .text(Array(text.utf8)) }

    @Test func `the length of a bar is proportional to its number on both sides of zero`() throws {
        let data = try Self.data([
            [Self.text("a"), .integer(4)], [Self.text("bb"), .real(-2)], [Self.text("c"), .null], [Self.text("d"), .integer(0)],
        ])
        let chart = TerminalChart(data: data, width: 24, colors: .off).bars()
        #expect(
            chart == """
                a       │█████████▍ 4
                bb ▐████│ -2
                c       │ NULL
                d       │ 0

                """, "\(chart)")
    }

    @Test func `the lines of a chart pass through their numbers and stop at missing ones`() throws {
        let data = try Self.data((0..<5).map { [.integer(Int64($0)), $0 == 2 ? .null : .integer(Int64($0 * 10))] })
        #expect(data.isContinuous)
        let chart = TerminalChart(data: data, width: 30, colors: .off).lines(height: 5)
        let lines = chart.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first?.hasPrefix("40 ┤") == true && lines.contains { $0.hasPrefix(" 0 ┤") }, "\(chart)")
        #expect(lines[lines.count - 2].hasPrefix("    0") && lines[lines.count - 2].hasSuffix("4"), "\(chart)")
        // The highest point is the last, the lowest the first, and the middle is empty.
        #expect(lines[5].count == 29 && lines[0].count == 29, "\(chart)")
        let middle = lines[0..<5].map { Array($0.dropFirst(4)) }.compactMap { $0.count > 13 ? $0[13] : nil }
        #expect(middle.allSatisfy { $0 == " " }, "\(chart)")
    }

    @Test(
        arguments: [
            (0.0...10.0, [0, 2, 4, 6, 8, 10]), (-3...7, [-4, -2, 0, 2, 4, 6, 8]), (0...0.3, [0, 0.1, 0.2, 0.3]), (5...5, [5, 6]),
            (0...0, [0, 0.2]),
        ] as [(ClosedRange<Double>, [Double])])
    func `axes of a chart begin and end at round numbers`(range: ClosedRange<Double>, ticks: [Double]) {
        let axis = ChartAxis(range)
        #expect(axis.low <= range.lowerBound && axis.high >= range.upperBound && axis.high > axis.low)
        #expect(axis.ticks.first.map { abs($0 - ticks[0]) < 1e-9 } == true, "\(axis.ticks)")
    }

    @Test func `a chart can draw numbers of every magnitude`() {
        let magnitudes = [0, Double.leastNonzeroMagnitude, 1e-300, 1e-12, 1, 9_007_199_254_740_993, 1e17, 1e300]
        for first in magnitudes + magnitudes.map({ -$0 }) {
            for second in [first, first.nextUp, first.nextDown, -first, 0, 1, 1e300, -1e300] where abs(second) <= 1e300 {
                let axis = ChartAxis(min(first, second)...max(first, second))
                #expect(axis.ticks.count < 20 && axis.high > axis.low && (axis.high - axis.low).isFinite, "\(first) \(second)")
                #expect(
                    (-0.01...1.01).contains(axis.part(first)) && (-0.01...1.01).contains(axis.part(second)), "\(first) \(second)")
            }
        }
    }

    @Test func `the numbers on an axis are as short as possible`() {
        #expect(
            [1234567, 0.5, 2.25, 1e20, 1.0 / 3, -7].map(ChartAxis.text) == ["1,234,567", "0.5", "2.25", "1e+20", "0.3333", "-7"]
                && [48137.4, -1234567.25, -0.5, 999.5].map(ChartAxis.text) == ["48,137.4", "-1,234,567.25", "-0.5", "999.5"])
        #expect(
            [-500, -150_000, -1_234_567, -99, 999, -1000].map(ChartAxis.text) == [
                "-500", "-150,000", "-1,234,567", "-99", "999", "-1,000",
            ])
    }

    @Test func `a line chart places rows by their numbers or dates, in any order`() throws {
        let numbers = try Self.data([[.integer(100), .integer(3)], [.integer(1), .integer(1)], [.integer(2), .integer(2)]])
        #expect(numbers.inOrder.labels == ["1", "2", "100"] && numbers.inOrder.series[0].values == [1, 2, 3])
        #expect(numbers.inOrder.places.map(numbers.part) == [0, 1.0 / 99, 1])
        let dates = try Self.data(["2026-01-01", "2026-01-02", "2026-12-31"].map { [Self.text($0), .integer(1)] })
        #expect(dates.isContinuous && dates.scale == .dates && dates.part(dates.places[1]) == 1.0 / 364)
        for texts in [
            ["2012/01/01", "2012/01/03", "2012/02/01"], ["2010", "2011", "2015"], ["2012-01", "2012-02", "2012-06"],
            ["2026-01-01 10:00", "2026-01-01 11:30", "2026-01-02 00:00"], ["2026-03-01", "2026-02-01", "2026-01-01"],
        ] {
            let data = try Self.data(texts.map { [Self.text($0), .integer(1)] })
            #expect(data.isContinuous && data.scale == .dates, "\(texts)")
        }
        for texts in [["2012-13-01", "2012-01-03", "2012-02-01"], ["b", "a", "c"], ["2026-01-01", "2026-03-01", "2026-02-01"]] {
            #expect(try !Self.data(texts.map { [Self.text($0), .integer(1)] }).isContinuous, "\(texts)")
        }
    }

    @Test(
        arguments: [
            (0.0, 86400.0 * 365 * 20, 8, ["1970", "1975", "1980", "1985"]),
            (0, 86400 * 3, 8, ["1970-01-01", "12:00", "1970-01-02", "12:00", "1970-01-03", "12:00", "1970-01-04"]),
            (0, 86400 * 200, 8, ["1970-01", "1970-02", "1970-03", "1970-04", "1970-05", "1970-06", "1970-07"]),
            (0, 20, 8, ["00:00:00", "00:00:05", "00:00:10", "00:00:15", "00:00:20"]),
        ] as [(Double, Double, Int, [String])])
    func `date axes have ticks at the starts of years, months, days or hours`(
        low: Double, high: Double, count: Int, texts: [String]
    ) {
        #expect(DateAxis(low...high, count: count).ticks.map(\.text) == texts)
    }

    @Test func `the labels below an axis do not overlap`() {
        #expect(LabelRow.shown([0..<10, 5..<15, 14..<24, 30..<40, 36..<46], gap: 2) == [0, 2, 4])
        #expect(LabelRow.shown([0..<10, 5..<15], gap: 2) == [0])
        #expect(LabelRow.shown([Range<Int>](), gap: 2) == [])
    }

    @Test func `a chart marks zero if a line crosses it`() throws {
        let data = try Self.data([[.integer(1), .integer(-5)], [.integer(2), .integer(5)], [.integer(3), .integer(-5)]])
        let lines = TerminalChart(data: data, width: 30, colors: .off).lines(height: 5).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix(" 0 ┤┄┄") }, "\(lines.joined(separator: "\n"))")
        #expect(PictureChart(data: data, title: "").lines().components(separatedBy: "class=\"axis\"").count > 3)
    }

    @Test func `data that cannot be drawn is refused with a reason`() throws {
        let folder = try TestFolder()
        let texts = try folder.perilune("chart", "SELECT 'a', 'b'")
        #expect(texts.status == 64 && texts.errors.contains("no column after the first, which has"), "\(texts.errors)")
        #expect(try folder.perilune("chart", "SELECT 1, 'b'").errors.contains("no column after the first"))
        #expect(try folder.perilune("chart", "SELECT 'a'").errors.contains("the column holds no numbers"))
        let infinity = try folder.perilune("chart", "VALUES ('a', 1), ('b', -9e999)")
        #expect(infinity.status == 64 && infinity.errors.contains("infinite number in row 2"), "\(infinity.errors)")
        #expect(infinity.errors.contains("iif(abs(value) > 1e300, NULL, value)"), "\(infinity.errors)")
        let beyond = try folder.perilune("chart", "VALUES ('a', 1.7e308)")
        #expect(beyond.status == 64 && beyond.errors.contains("a number beyond 1e300 in row 1"), "\(beyond.errors)")
        #expect(try folder.perilune("chart", "--output", "x.png", "SELECT 1").errors.contains("expected a file NAME.svg"))
        #expect(try folder.perilune("chart", "SELECT 1 WHERE 0").output == "no rows\n")
        #expect(try folder.perilune("chart", "CREATE TABLE t (a)").status == 1)
    }

    @Test func `a chart is drawn in the terminal and as an image`() throws {
        let folder = try TestFolder()
        let sql = "WITH t(label, n, m) AS (VALUES ('<one>', 1, 3), ('two', 2, 2.5)) SELECT * FROM t"
        let shown = try folder.perilune("chart", "--title", "All & more", sql)
        #expect(shown.output.hasPrefix("All & more\n■ n   ■ m\n<one> │"), "\(shown.output)\(shown.errors)")
        for type in ["bar", "line"] {
            #expect(try folder.perilune("chart", "--type", type, "--title", "All & more", "--output", "x.svg", sql).status == 0)
            let picture = try String(contentsOfFile: folder.path + "/x.svg", encoding: .utf8)
            #expect(picture.contains("<title>All &amp; more</title>") && picture.contains("&lt;one&gt;"), "\(picture)")
            #expect(try folder.shell("xmllint --noout x.svg").status == 0)
        }
    }

    @Test func `a table is placed to the right of the tables that it references, even in cycles`() {
        #expect(SchemaPicture.layers(3, [(1, 0), (2, 1)]) == [[0], [1], [2]])
        // Table 3 is placed next to the only table that references it, not at the left edge.
        #expect(SchemaPicture.layers(4, [(1, 0), (2, 1), (2, 3)]) == [[0], [1, 3], [2]])
        #expect(SchemaPicture.layers(2, [(0, 0), (1, 0)]) == [[0], [1]])
        #expect(SchemaPicture.layers(3, [(0, 1), (1, 0)]).flatMap { $0 }.sorted() == [0, 1, 2])
        #expect(SchemaPicture.layers(0, []) == [])
    }

    @Test func `a schema is drawn as an image of tables and foreign keys`() throws {
        let folder = try TestFolder()
        let made = try folder.perilune(
            "run", "--database", "x.sqlite", "-e",
            """
            db:execute[[CREATE TABLE author (id INTEGER PRIMARY KEY, "na<me" TEXT NOT NULL, boss INTEGER REFERENCES author);
              CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author (id)); CREATE VIEW v AS SELECT 1]]
            """)
        #expect(made.status == 0)
        #expect(try folder.perilune("schema", "--database", "x.sqlite", "--output", "x.svg").status == 0)
        let picture = try String(contentsOfFile: folder.path + "/x.svg", encoding: .utf8)
        #expect(picture.contains("<title>book (author_id) → author</title>") && picture.contains("na&lt;me"), "\(picture)")
        #expect(picture.components(separatedBy: "class=\"head\"").count == 3)
        #expect(try folder.shell("xmllint --noout x.svg").status == 0)
        #expect(try folder.perilune("schema", "--database", "x.sqlite", "--format", "json", "--output", "x.svg").status == 64)
    }
}
