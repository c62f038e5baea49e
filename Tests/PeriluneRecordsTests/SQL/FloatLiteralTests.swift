import GRDB
import Testing

@testable import PeriluneRecords

@Suite struct FloatLiteralTests {
    /// Returns the values that SQLite reads from the literals of some floats.
    private func readBack(_ values: [Double]) throws -> [Double] {
        try DatabaseQueue().read { db in
            try stride(from: 0, to: values.count, by: 100).flatMap { start in
                let literals = values[start..<min(start + 100, values.count)].map { "(\(FloatLiteral.text($0)))" }
                return try Double.fetchAll(db, sql: "VALUES " + literals.joined(separator: ", "))
            }
        }
    }

    private func differences(_ values: [Double]) throws -> [Double] {
        zip(values, try readBack(values)).filter { $0.bitPattern != $1.bitPattern }.map(\.0)
    }

    // The numbers are strings because the compiler rounds literals twice.
    @Test(arguments: [
        ("0.5", "0.5"), ("0.1", "0.1"), ("3", "3.0"), ("-0", "-0.0"), ("1e300", "1e+300"), ("inf", "9e999"), ("-inf", "-9e999"),
        ("nan", "NULL"),
        // SQLite 3.40 reads the shortest decimals of these numbers as their neighbors.
        ("204.000651972", "204.00065197199999"), ("992.39767199999994", "992.39767199999994"),
        ("19.99", "19.99"), ("1.15", "1.15"), ("4.35", "4.35"), ("1098.005", "1098.005"),
        ("16.345678901234567", "16.345678901234567"), ("0.30000000000000004", "0.30000000000000004"),
    ])
    func `a float is written as the shortest decimal that SQLite reads back exactly`(value: String, literal: String) {
        #expect(FloatLiteral.text(Double(value)!) == literal)
    }

    @Test func `prices are written with two decimals, and SQLite reads them back`() throws {
        let prices = (1...200_000).map { Double($0) / 100 }
        #expect(prices.filter { FloatLiteral.text($0) != $0.description } == [])
        #expect(try differences(prices) == [])
    }

    @Test func `SQLite reads back literals of decimals with up to 12 digits`() throws {
        var random = SystemRandomNumberGenerator()
        let values = (0..<30_000).map { _ in
            let digits = Int64.random(in: -999_999_999_999...999_999_999_999, using: &random)
            return Double("\(digits)e\(Int.random(in: -14...2, using: &random))")!
        }
        #expect(try differences(values) == [])
    }

    @Test func `SQLite reads back literals of floats of any size`() throws {
        var random = SystemRandomNumberGenerator()
        let bits = (0..<30_000).map { _ in Double(bitPattern: .random(in: 0...UInt64.max, using: &random)) }.filter(\.isFinite)
        let edges = (-1074...1023).flatMap { exponent in
            let power = Double(sign: .plus, exponent: exponent, significand: 1)
            return [power, power.nextDown, power.nextUp, -power]
        }
        #expect(try differences(bits + edges + [.greatestFiniteMagnitude, -.infinity, .leastNonzeroMagnitude]) == [])
    }
}
