import Testing

@testable import PeriluneScenarios

@Suite struct BoundValuesTests {
    @Test(arguments: [
        ("SELECT ?, ?2, :name", "SELECT 'it''s', -1.5e-07, NULL", ["'it''s'", "-1.5e-07", "NULL"]),
        ("SELECT '?' || ? -- ?\n, \"a?\" = ?", "SELECT '?' || x'00ff' -- ?\n, \"a?\" = 'b'", ["x'00ff'", "'b'"]),
        ("SELECT ?-?", "SELECT 5-3", ["5", "3"]),
        ("SELECT /* ? */ [?] = @a", "SELECT /* ? */ [?] = 12", ["12"]),
        ("SELECT 1", "SELECT 1", []),
        ("SELECT ?1, -?, +:a/**/", "SELECT 2, --3, +4/**/", ["2", "-3", "4"]),
        ("SELECT ?", "SELECT 'a ? b'", ["'a ? b'"]),
    ])
    func `bound values can be extracted from expanded SQL`(_ sql: String, _ expanded: String, _ values: [String]) {
        #expect(BoundValues.values(in: expanded, of: sql) == values)
    }
}
