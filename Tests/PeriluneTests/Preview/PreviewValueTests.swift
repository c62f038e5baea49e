import Foundation
import Perilune
import Testing

@Suite struct PreviewValueTests {
    private static let values: [StoredValue] = [
        .null, .integer(.min), .integer(.max), .real(0.1), .real(-.infinity), .real(.infinity), "", "é\0x",
        .text([0xFF, 0xFE]),
        .blob([]), .blob([0, 255]),
    ]

    @Test func `values of a preview round-trip through JSON`() throws {
        let data = try JSONEncoder().encode(Self.values)
        #expect(try JSONDecoder().decode([StoredValue].self, from: data) == Self.values)
    }

    @Test func `values of a preview have the JSON types that programs expect`() throws {
        var table = TableChanges(name: "t")
        table.rows = [RowChange(kind: .insert, after: [1, .real(1.5), nil, "x", .blob([255])])]
        var report = PreviewReport()
        report.tables = [table]
        #expect(try report.json().contains(#""after":[1,1.5,null,"x",{"$blob":"/w=="}]"#))
        #expect(try report.json().contains(#""is_counted":true"#))
        report.tables[0].rows = [RowChange(kind: .update, before: [1, 2, nil], after: [1, 3, nil])]
        #expect(try report.json().contains(#"{"after":[1,3,null],"before":[1,2,null],"changed":[1],"kind":"update"}"#))
    }

    @Test func `values of a preview are sorted as in SQLite`() {
        let values: [StoredValue] = [.null, -1, .real(-0.5), 0, .real(0.5), 1, "", "a", "b", .blob([]), .blob([0])]
        #expect(values.shuffled().sorted() == values)
    }
}
