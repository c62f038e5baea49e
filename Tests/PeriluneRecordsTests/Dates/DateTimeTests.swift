import GRDB
import Testing

@testable import PeriluneRecords

struct DateTimeTests {
    static let july = "2015-07-22 00:00:00.000"
    static let texts: [(text: String, expected: String)] = [
        ("2015-07-22T12:30Z", "2015-07-22 12:30:00.000"),
        ("2015-07-22 12:30z", "2015-07-22 12:30:00.000"),
        ("2015-07-22 12:30  Z  ", "2015-07-22 12:30:00.000"),
        ("2015-07-22 12:30:45+02:00", "2015-07-22 10:30:45.000"),
        ("2015-07-22T12:30:45.5 -11:30", "2015-07-23 00:00:45.500"),
        ("2015-01-01 00:30+14:59", "2014-12-31 09:31:00.000"),
        ("2015-07-22   12:30", "2015-07-22 12:30:00.000"),
        ("2015-07-22 ", july),
        ("2015-07-22 12:30:45.1", "2015-07-22 12:30:45.100"),
        ("2015-07-22 12:30:45.1239999", "2015-07-22 12:30:45.123"),
        ("2015-07-22 12:30:59.99999999999999999999", "2015-07-22 12:30:59.999"),
        ("2016-02-29", "2016-02-29 00:00:00.000"),
        ("2000-02-29", "2000-02-29 00:00:00.000"),
        ("0000-01-01", "0000-01-01 00:00:00.000"),
        ("-4713-11-24 12:00", "-4713-11-24 12:00:00.000"),
        ("9999-12-31 23:59:59.9999999", "9999-12-31 23:59:59.999"),
    ]

    @Test func `a date is written in UTC from year to millisecond`() throws {
        #expect(try DateTime(microsecondsSince1970: 0).text() == "1970-01-01 00:00:00.000")
        #expect(try DateTime(microsecondsSince1970: 1_437_568_245_123_999).text() == "2015-07-22 12:30:45.123")
        #expect(try "\(DateTime(microsecondsSince1970: -1))" == "1969-12-31 23:59:59.999")
        #expect(DateTime.earliest.text() == "-4713-11-24 12:00:00.000")
        #expect(DateTime.latest.text() == "9999-12-31 23:59:59.999")
    }

    @Test func `each date format, separator and UTC mark can be written`() throws {
        let date = try DateTime(parsing: "2015-07-22 12:30:45.678912")
        #expect(
            DateFormat.allCases.map { date.text(as: $0) } == [
                "2015-07-22", "2015-07-22 12:30", "2015-07-22 12:30:45", "2015-07-22 12:30:45.678",
                "12:30", "12:30:45", "12:30:45.678",
            ])
        #expect(date.text(as: .ymdHM, separator: .t, marksUTC: true) == "2015-07-22T12:30Z")
        #expect(date.text(separator: .t, marksUTC: true) == "2015-07-22T12:30:45.678Z")
        #expect(date.text(as: .ymd, separator: .t, marksUTC: true) == "2015-07-22")
    }

    @Test func `written dates sort like their instants and together with CURRENT_TIMESTAMP`() throws {
        var random = SplitMix64(state: 60)
        let afterYear0 = try DateTime(parsing: "0000-01-01")
        let dates = (0..<2000).map { _ in DateTime.random(after: afterYear0, using: &random) }.sorted()
        let texts = dates.map { $0.text() }
        #expect(texts == texts.sorted())
        let now = try #require(
            try DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT CURRENT_TIMESTAMP") })
        let second = try DateTime(parsing: now)
        #expect(second.text() > now)
        #expect(try second.adding(seconds: 1).text() > now)
        #expect(try second.adding(microseconds: -1).text() < now)
    }

    @Test(arguments: [
        ("2015-07-22", july),
        ("2015-07-22 12:30", "2015-07-22 12:30:00.000"),
        ("2015-07-22 12:30:45", "2015-07-22 12:30:45.000"),
        ("2015-07-22 12:30:45.678", "2015-07-22 12:30:45.678"),
        ("2015-07-22T12:30", "2015-07-22 12:30:00.000"),
        ("2015-07-22T12:30:45", "2015-07-22 12:30:45.000"),
        ("2015-07-22T12:30:45.678", "2015-07-22 12:30:45.678"),
    ])
    func `each date format is read as UTC, with zeros for missing parts`(
        text: String, expected: String
    ) throws {
        #expect(try DateTime(parsing: text).text() == expected)
    }

    @Test(arguments: texts)
    func `date texts with time zones, spaces, fractions and the limits of the range are read`(text: String, expected: String)
        throws
    {
        #expect(try DateTime(parsing: text).text() == expected)
        #expect(try DateTime(parsing: Array(text.utf8)).text() == expected)
        #expect(try DateTime(parsing: text.utf8.lazy.map { $0 }).text() == expected)
    }

    @Test func `microseconds in a date text are kept`() throws {
        #expect(try DateTime(parsing: "2015-07-22 12:30:45.123456789").microsecond == 123_456)
        #expect(try DateTime(parsing: "9999-12-31 23:59:59.999999") == .latest)
    }

    @Test(arguments: ["12:30", "12:30:45", "12:30:45.678", "00:00Z"])
    func `a time without a date is not a date`(text: String) {
        let error = #expect(throws: DateError.self) { try DateTime(parsing: text) }
        #expect(error?.code == .missingDate)
        #expect(error?.message == "expected a date, got a time of day in \"\(text)\"")
    }

    @Test func `a Julian day number is read from a number and from text`() throws {
        #expect(try DateTime(julianDay: 2_457_225.5).text() == Self.july)
        #expect(try DateTime(number: 2_457_225.5).text() == Self.july)
        #expect(try DateTime(number: 2_457_225).text() == "2015-07-21 12:00:00.000")
        for text in ["2457225.5", " +2457225.50 ", "24572255e-1", "2457225.5E0"] {
            #expect(try DateTime(parsing: text).text() == Self.july)
        }
        #expect(try DateTime(julianDay: 0) == .earliest)
        #expect(try DateTime(parsing: "0") == .earliest)
        #expect(try DateTime(julianDay: 5_373_484.499_999_98).text() == "9999-12-31 23:59:59.998")
    }

    @Test func `a number outside the Julian days means Unix seconds`() throws {
        #expect(try DateTime(number: 1_437_523_200).text() == Self.july)
        #expect(try DateTime(number: 1_437_523_200.5).text() == "2015-07-22 00:00:00.500")
        #expect(try DateTime(number: -1).text() == "1969-12-31 23:59:59.000")
        #expect(try DateTime(number: -0.0) == .earliest)
        #expect(try DateTime(number: 5_373_484).text() == "9999-12-31 12:00:00.000")
        #expect(try DateTime(number: 5_373_484.5).text() == "1970-03-04 04:38:04.500")
        #expect(try DateTime(number: 5_373_485).text() == "1970-03-04 04:38:05.000")
        #expect(try DateTime(number: Int64(253_402_300_799)).text() == "9999-12-31 23:59:59.000")
    }

    @Test(arguments: [
        Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -1e300, 253_402_300_800, -210_866_760_001, 1e12,
        9.3e18,
    ])
    func `a date number out of range is an error`(number: Double) {
        #expect(throws: DateError.self) { try DateTime(number: number) }
        #expect(throws: DateError.self) { try DateTime(unixSeconds: number) }
        #expect(throws: DateError.self) { try DateTime(julianDay: number) }
    }

    @Test func `a date integer out of range is an error`() {
        for number in [Int64.min, .max, 253_402_300_800, -210_866_760_001] {
            #expect(throws: DateError.self) { try DateTime(number: number) }
            #expect(throws: DateError.self) { try DateTime(unixSeconds: number) }
            #expect(throws: DateError.self) { try DateTime(number: Double(number)) }
        }
        #expect(throws: DateError.self) { try DateTime(number: UInt64.max) }
        #expect(throws: DateError.self) { try DateTime(microsecondsSince1970: .max) }
        #expect(throws: DateError.self) { try DateTime(microsecondsSince1970: .min) }
        #expect(throws: DateError.self) { try DateTime(julianDay: 5_373_484.5) }
        #expect(throws: DateError.self) { try DateTime(julianDay: -0.000_001) }
        #expect(throws: DateError.self) { try DateTime(julianDay: 5_373_484.499_999_999) }
    }

    @Test(arguments: ["now", "NOW", "Now"])
    func `"now" is not a date`(text: String) {
        #expect(throws: DateError.now()) { try DateTime(parsing: text) }
        #expect(throws: DateError.now()) { try DateParts(parsing: text) }
    }

    @Test(arguments: [
        ("2015-13-45", "month", "expected a month from 1 to 12, got 13 in \"2015-13-45\""),
        ("2015-00-10", "month", "expected a month from 1 to 12, got 0 in \"2015-00-10\""),
        ("2015-02-30", "day", "expected a day from 1 to 28 in month 2 of year 2015, got 30 in \"2015-02-30\""),
        ("1900-02-29", "day", "expected a day from 1 to 28 in month 2 of year 1900, got 29 in \"1900-02-29\""),
        ("2015-04-31", "day", "expected a day from 1 to 30 in month 4 of year 2015, got 31 in \"2015-04-31\""),
        ("2015-04-00", "day", "expected a day from 1 to 30 in month 4 of year 2015, got 0 in \"2015-04-00\""),
        ("-4714-01-01", "year", "expected a year from -4713 to 9999, got -4714 in \"-4714-01-01\""),
        ("2015-07-22 24:00", "hour", "expected an hour from 0 to 23, got 24 in \"2015-07-22 24:00\""),
        ("2015-07-22 23:60", "minute", "expected a minute from 0 to 59, got 60 in \"2015-07-22 23:60\""),
        ("2015-07-22 23:59:60", "second", "expected a second from 0 to 59, got 60 in \"2015-07-22 23:59:60\""),
        (
            "2015-07-22 23:59+15:00", "zone",
            "expected a zone from -14:59 to +14:59, got 15 hours and 0 minutes in \"2015-07-22 23:59+15:00\""
        ),
    ])
    func `an error about an invalid date names the invalid part`(text: String, part: String, message: String) {
        let error = #expect(throws: DateError.self) { try DateTime(parsing: text) }
        #expect(error?.code == .partOutOfRange)
        #expect(error?.part == part)
        #expect(error?.message == message)
    }

    @Test(arguments: [
        "", " ", "-", "T", ":", "2015-7-22", "15-07-22", "2015/07/22", " 2015-07-22", "2015-07-22x", "2015-07-22 12",
        "2015-07-22 12:", "2015-07-22 12:3", "2015-07-22 12:30:", "2015-07-22 12:30:4", "2015-07-22 12:30:45.",
        "2015-07-22 12:30:45,5", "2015-07-22 12:30 UTC", "2015-07-22 12:30+2", "2015-07-22 12:30+0200",
        "2015-07-22 12:30ZZ", "2015-07-22t12:30", "2015-07-22\0", "2015-07-22 12:30\0", "e5", "1e", ".", "1.5.2",
        "0x10",
        "nan", "inf", "-infinity", "+2015-07-22", "20150722T123000", "12:30 2015-07-22", "tomorrow",
    ])
    func `a date text in an unknown format is an error that quotes the text`(text: String) {
        let error = #expect(throws: DateError.self) { try DateTime(parsing: text) }
        #expect(error?.code == .syntax)
        #expect(error?.message.hasPrefix("expected a date such as 2015-07-22") == true)
    }

    @Test func `a date text that is not UTF-8 is an error that quotes it readably`() {
        let error = #expect(throws: DateError.self) { try DateTime(parsing: [0x80, 0xAF, 0x22, 0xFF, 0x0A]) }
        #expect(error?.message.hasSuffix(#"got "\x80\xAF\"\xFF\x0A""#) == true)
        for byte in UInt8.min...UInt8.max {
            for position in 0..<23 {
                var bytes = Array("2015-07-22 12:30:45.678".utf8)
                bytes[position] = byte
                _ = try? DateTime(parsing: bytes)
                _ = try? DateTime(parsing: bytes.prefix(position))
                _ = try? DateParts(parsing: bytes.suffix(position))
                _ = try? DateTime(parsing: [byte])
            }
        }
        let long = #expect(throws: DateError.self) { try DateTime(parsing: String(repeating: "9", count: 100_000)) }
        #expect(long?.code == .notFinite)
        let text = #expect(throws: DateError.self) { try DateTime(parsing: String(repeating: "a", count: 100_000)) }
        #expect(text?.message.utf8.count ?? 0 < 200)
    }

    @Test func `a date round-trips through a DATETIME column`() throws {
        let date = try DateTime(parsing: "2015-07-22 12:30:45.678")
        let stored = try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE t (creation_date DATETIME)")
            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [date.text()])
            return try String.fetchOne(db, sql: "SELECT creation_date FROM t WHERE typeof(creation_date) = 'text'")
        }
        #expect(try DateTime(parsing: #require(stored)) == date)
    }

    @Test func `a date round-trips through Unix seconds`() throws {
        let date = try DateTime(parsing: "2015-07-22 12:30:45.678912")
        #expect(date.unixSeconds == 1_437_568_245.678912)
        #expect(date.wholeUnixSeconds == 1_437_568_245)
        #expect(try DateTime(unixSeconds: date.unixSeconds) == date)
        #expect(try DateTime(unixSeconds: 1_437_568_245).text() == "2015-07-22 12:30:45.000")
        #expect(try DateTime(unixSeconds: 0).text() == "1970-01-01 00:00:00.000")
        #expect(try DateTime(unixSeconds: -0.25).text() == "1969-12-31 23:59:59.750")
        #expect(try DateTime(microsecondsSince1970: -1).wholeUnixSeconds == -1)
        #expect(try DateTime(unixSeconds: -1e-20).microsecondsSince1970 == 0)
        #expect(try DateTime(unixSeconds: DateTime.latest.wholeUnixSeconds).text() == "9999-12-31 23:59:59.000")
    }

    @Test func `milliseconds round-trip through each number format`() throws {
        var random = SplitMix64(state: 85)
        for _ in 0..<20_000 {
            let date = DateTime.randomMillisecond(using: &random)
            #expect(try DateTime(julianDay: date.julianDay) == date)
            #expect(try DateTime(unixSeconds: date.unixSeconds) == date)
            #expect(try DateTime(parsing: date.text()) == date)
            #expect(try DateTime(parsing: date.text(pattern: "%J")) == date)
        }
    }

    @Test func `microseconds round-trip through Unix seconds until 2242`() throws {
        var random = SplitMix64(state: 86)
        for _ in 0..<20_000 {
            let microseconds = Int64.random(in: -8_589_934_591_999_999...8_589_934_591_999_999, using: &random)
            let date = try DateTime(microsecondsSince1970: microseconds)
            #expect(try DateTime(unixSeconds: date.unixSeconds) == date)
        }
    }

    @Test func `instants are compared by time`() throws {
        let date = try DateTime(parsing: "2015-07-22 12:30")
        #expect(try date == DateTime(parsing: "2015-07-22T14:30+02:00"))
        #expect(try date < DateTime(parsing: "2015-07-22 12:30:00.000001"))
        #expect(DateTime.earliest < date && date < DateTime.latest)
    }

    @Test func `an instant has calendar parts`() throws {
        let date = try DateTime(parsing: "2016-12-31 23:58:59.123456")
        #expect([date.year, date.month, date.day, date.hour, date.minute, date.second] == [2016, 12, 31, 23, 58, 59])
        #expect([date.millisecond, date.microsecond, date.weekday, date.dayOfYear] == [123, 123_456, 6, 366])
        let before = try DateTime(microsecondsSince1970: -1)
        #expect([before.year, before.day, before.second, before.microsecond] == [1969, 31, 59, 999_999])
        #expect(before.weekday == 3)
    }

    @Test func `consecutive days in the whole range are one day apart`() throws {
        var expected = CivilDay(year: -4713, month: 11, day: 24)
        let first = Int(floorDivide(DateTime.earliest.microsecondsSince1970, by: 86_400_000_000).quotient)
        for days in first...2_932_896 {
            let day = CivilDay(daysSince1970: days)
            guard day == expected, day.daysSince1970 == days else {
                Issue.record("day \(days): \(day), not \(expected)")
                return
            }
            expected.day += 1
            if expected.day > CivilDay.days(inMonth: expected.month, of: expected.year) {
                (expected.month, expected.day) = (expected.month + 1, 1)
            }
            if expected.month > 12 { (expected.year, expected.month) = (expected.year + 1, 1) }
        }
        #expect(expected == CivilDay(year: 10_000, month: 1, day: 1))
    }
}
