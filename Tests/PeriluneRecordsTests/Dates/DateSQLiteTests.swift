import GRDB
import Testing

@testable import PeriluneRecords

/// Compares the codec with the date functions of the linked SQLite.
///
/// Texts are compared from year 0: for earlier years, SQLite 3.40 does not read back the day that it writes.
struct DateSQLiteTests {
    let database = try! DatabaseQueue()

    @Test func `random instants are written like in SQLite`() throws {
        var random = SplitMix64(state: 1)
        let patterns = ["%d", "%f", "%H", "%j", "%m", "%M", "%s", "%S", "%w", "%W", "%%"]
        let sql = """
            SELECT datetime(:t), strftime('%Y-%m-%d %H:%M:%f', :t), strftime('%J', :t), julianday(:t), date(:t),
                time(:t), strftime(:pattern, :t), datetime(:julian)
            """
        try database.read { db in
            let statement = try db.makeStatement(sql: sql)
            let pattern = patterns.joined(separator: " ")
            for _ in 0..<10_000 {
                let date = DateTime.randomMillisecond(using: &random)
                let arguments: StatementArguments = ["t": date.text(), "pattern": pattern, "julian": date.julianDay]
                let row = try #require(try Row.fetchOne(statement, arguments: arguments))
                #expect(row[7] == date.text(as: .ymdHMS))
                guard date.year >= 0 else { continue }
                #expect(row[0] == date.text(as: .ymdHMS))
                #expect(row[1] == date.text())
                // The last of the 16 digits differs between SQLite versions.
                let number = try #require(Double(date.text(pattern: "%J")))
                #expect(abs(try #require(Double(row[2] as String)) - number) < 2e-9)
                #expect(row[3] == date.julianDay)
                #expect(row[4] == date.text(as: .ymd))
                #expect(row[5] == date.text(as: .hms))
                #expect(try row[6] == date.text(pattern: pattern))
            }
        }
    }

    @Test func `random numbers are read as dates like in SQLite`() throws {
        var random = SplitMix64(state: 2)
        let sql = "SELECT strftime('%s', :n, 'auto'), strftime('%f', :n, 'auto')"
        try database.read { db in
            let statement = try db.makeStatement(sql: sql)
            for index in 0..<10_000 {
                let number =
                    switch index % 4 {
                    case 0: Double.random(in: 0..<5_373_484.499_999_9, using: &random)
                    case 1: Double.random(in: -2.2e11...2.6e11, using: &random).rounded()
                    case 2: Double.random(in: -2.2e11...2.6e11, using: &random)
                    default: Double.random(in: -6e6...6e6, using: &random)
                    }
                let row = try #require(try Row.fetchOne(statement, arguments: ["n": number]))
                guard let seconds = (row[0] as String?).flatMap(Int64.init) else {
                    #expect(throws: DateError.self) { try DateTime(number: number) }
                    continue
                }
                let fraction = try #require(Double(row[1] as String)).truncatingRemainder(dividingBy: 1)
                let expected = Double(seconds * 1000) + fraction * 1000
                let date = try DateTime(number: number)
                // Both sides round Julian days to milliseconds. Only SQLite rounds seconds, after it has lost bits because it
                // counts from -4713.
                let limit = (0..<5_373_484.5).contains(number) ? 0.1 : 1.04
                #expect(abs(Double(date.microsecondsSince1970) / 1000 - expected) < limit, "\(number)")
            }
        }
    }

    @Test func `days, months and years are added like in SQLite`() throws {
        var random = SplitMix64(state: 3)
        let sql = """
            SELECT datetime(:t, :months || ' months'), datetime(:t, :years || ' years'), datetime(:t, :days || ' days'),
                datetime(:t, :seconds || ' seconds'), datetime(:t, 'start of month'), datetime(:t, 'start of year'),
                datetime(:t, 'start of day')
            """
        try database.read { db in
            let statement = try db.makeStatement(sql: sql)
            for _ in 0..<10_000 {
                let date = DateTime.randomMillisecond(using: &random)
                guard date.year >= 0 else { continue }
                let months = Int.random(in: -2000...2000, using: &random)
                let years = Int.random(in: -2000...2000, using: &random)
                let days = Int.random(in: -100_000...100_000, using: &random)
                let seconds = Int.random(in: -1_000_000...1_000_000, using: &random)
                let arguments: StatementArguments = [
                    "t": date.text(), "months": months, "years": years, "days": days, "seconds": seconds,
                ]
                let row = try #require(try Row.fetchOne(statement, arguments: arguments))
                let sums: [() throws -> DateTime] = [
                    { try date.adding(months: months, overflow: .runOn) }, { try date.adding(years: years, overflow: .runOn) },
                    { try date.adding(days: days) }, { try date.adding(seconds: seconds) },
                    { try date.start(of: .month) }, { try date.start(of: .year) }, { try date.start(of: .day) },
                ]
                for (index, sum) in sums.enumerated() {
                    let expected: String? = row[index]
                    guard expected?.hasPrefix("-") != true else { continue }
                    #expect(expected == (try? sum())?.text(as: .ymdHMS), "\(date), \(arguments), \(index)")
                }
            }
        }
    }

    @Test func `random texts are read as dates like in SQLite, except for texts that SQLite should reject`() throws {
        var random = SplitMix64(state: 4)
        let seeds = [
            "2015-07-22", "2015-07-22 12:30", "2015-07-22T12:30:45", "2015-07-22 12:30:45.678",
            "2015-07-22 12:30:45.5 +02:00", "0004-12-31T23:59Z", "12:30", "-0001-03-01 10:00", "2451545.5",
            "1e5", "-12.5",
        ]
        let alphabet = Array("00112359-:.T Z+eE\tz".utf8)
        var readByBoth = 0
        try database.read { db in
            let statement = try db.makeStatement(sql: "SELECT strftime('%s', ?1), strftime('%f', ?1)")
            for _ in 0..<40_000 {
                var bytes = Array(seeds.randomElement(using: &random)!.utf8)
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    mutate(&bytes, with: alphabet, using: &random)
                }
                let text = String(decoding: bytes, as: UTF8.self)
                let row = try #require(try Row.fetchOne(statement, arguments: [text]))
                do {
                    let date = try DateTime(parsing: bytes)
                    let seconds = try #require((row[0] as String?).flatMap(Int64.init), "only SQLite refuses \(text)")
                    #expect(abs(date.microsecondsSince1970 - seconds * 1_000_000) < 1_001_000, "\(text)")
                    readByBoth += 1
                } catch let error as DateError {
                    #expect((row[0] as String?) == nil || isStricter(error), "only SQLite reads \(text)")
                }
            }
        }
        #expect(readByBoth > 10_000)
    }

    /// Returns whether SQLite accepts a text that the codec rejects: an overflowing day, 24:00, or a time of day.
    private func isStricter(_ error: DateError) -> Bool {
        error.code == .missingDate || error.part == "day" || error.message.contains("got 24 ")
    }

    private func mutate(_ bytes: inout [UInt8], with alphabet: [UInt8], using random: inout SplitMix64) {
        let position = Int.random(in: 0...bytes.count, using: &random)
        let byte = alphabet.randomElement(using: &random)!
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes.insert(byte, at: position)
        case 1 where position < bytes.count: bytes.remove(at: position)
        case 2 where position < bytes.count: bytes[position] = byte
        default: bytes.append(byte)
        }
    }
}

/// A small random source that produces the same numbers in every run.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension DateTime {
    static func random(after earliest: DateTime = .earliest, using random: inout SplitMix64) -> DateTime {
        let range = earliest.microsecondsSince1970...latest.microsecondsSince1970
        return try! DateTime(microsecondsSince1970: Int64.random(in: range, using: &random))
    }

    static func randomMillisecond(using random: inout SplitMix64) -> DateTime {
        let range = (earliest.microsecondsSince1970 / 1000)...(latest.microsecondsSince1970 / 1000)
        return try! DateTime(microsecondsSince1970: Int64.random(in: range, using: &random) * 1000)
    }
}
