import CPeriluneRows
import PeriluneTestTools
import Testing

@testable import Perilune

@Suite struct FormerRowsTests {
    /// Compares with a dictionary, using random data.
    @Test func `stored rows are found by their keys and keep their original values`() {
        var generator = SeededGenerator(state: 7)
        for keyCount in [1, 3, 9, 300] {
            let rows = FormerRows(in: keyCount == 9 ? .run : .machine)
            var known: [[UInt8]: Int] = [:], kept: [(key: [UInt8], values: [UInt8]?, isIndirect: Bool)] = []
            for _ in 0..<3000 {
                let number = UInt64.random(in: 0..<1000, using: &generator)
                let key = (0..<keyCount).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0 % 2)) &+ UInt64($0)) }
                let isIndirect = Bool.random(using: &generator)
                let isFound = key.withUnsafeBytes { rows.note($0, isIndirect: isIndirect) }
                #expect(isFound == (known[key] != nil))
                if let place = known[key] {
                    kept[place].isIndirect = kept[place].isIndirect && isIndirect
                } else {
                    let values =
                        number % 3 == 0
                        ? nil : [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Int(number % 50) * 100)
                    (key + (values ?? [])).withUnsafeBytes {
                        #expect(rows.add($0, keyCount: keyCount, wasThere: values != nil, isIndirect: isIndirect))
                    }
                    known[key] = kept.count
                    kept.append((key, values, isIndirect))
                }
            }
            #expect(rows.rows.count == kept.count)
            for (row, expected) in zip(rows.rows, kept) {
                #expect(
                    Array(row.key) == expected.key && row.values.map(Array.init) == expected.values
                        && row.isIndirect == expected.isIndirect)
            }
        }
    }

    @Test func `a row that is larger than a memory block can be stored`() {
        let rows = FormerRows(in: .run), bytes = [UInt8](repeating: 5, count: 3 << 20)
        for key in UInt8(1)...3 {
            #expect(![key].withUnsafeBytes { rows.note($0, isIndirect: false) })
            ([key] + bytes).withUnsafeBytes { #expect(rows.add($0, keyCount: 1, wasThere: true, isIndirect: false)) }
        }
        #expect(rows.rows.map { $0.key[0] } == [1, 2, 3] && rows.rows.allSatisfy { $0.values?.count == bytes.count })
    }
}

@Suite struct ChangesetValuesTests {
    private static let values: [StoredValue] = [
        .null, .integer(.min), .integer(-1), .integer(.max), .real(-0.5), .real(.infinity), .text([]), .text(Array("a\0b".utf8)),
        .text(Array(repeating: 97, count: 127)), .text(Array(repeating: 97, count: 128)),
        .blob(Array(repeating: 0, count: 20_000)), .blob([]),
    ]

    @Test func `values of a changeset are read one by one and bound unchanged`() throws {
        var writer = ChangesetWriter(), single: [[UInt8]] = []
        for value in Self.values {
            var one = ChangesetWriter()
            one.append(value)
            single.append(one.bytes)
            writer.append(value)
        }
        writer.bytes.withUnsafeBytes { #expect(ChangesetValues($0).map(Array.init) == single) }

        var connection: OpaquePointer?, statement: OpaquePointer?
        try #require(sqlite3_open(":memory:", &connection) == SQLITE_OK)
        defer { sqlite3_close(connection) }
        let parameters = Self.values.map { _ in "?" }.joined(separator: ", ")
        try #require(sqlite3_prepare_v2(connection, "SELECT \(parameters)", -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        var found = ChangesetWriter()
        try writer.bytes.withUnsafeBytes {
            ChangesetValues($0).bind(to: try #require(statement))
            try #require(sqlite3_step(statement) == SQLITE_ROW)
            for column in Self.values.indices { found.append(sqlite3_column_value(statement, CInt(column))) }
        }
        #expect(found.bytes == writer.bytes)
    }
}
