import GRDB
import Testing

@testable import PeriluneRecords

struct DatePartsTests {
    static let formats: [(text: String, format: DateFormat)] = [
        ("2015-07-22", .ymd),
        ("2015-07-22 12:30", .ymdHM),
        ("2015-07-22 12:30:45", .ymdHMS),
        ("2015-07-22 12:30:45.678", .ymdHMSS),
        ("2015-07-22T12:30", .ymdHM),
        ("2015-07-22T12:30:45", .ymdHMS),
        ("2015-07-22T12:30:45.678", .ymdHMSS),
        ("12:30", .hm),
        ("12:30:45", .hms),
        ("12:30:45.678", .hmss),
    ]

    @Test(arguments: formats)
    func `date parts remember their format and are written in it`(
        text: String, format: DateFormat
    ) throws {
        let parts = try DateParts(parsing: text)
        #expect(parts.format == format)
        #expect(parts.year == (format.hasDate ? 2015 : nil))
        #expect(parts.month == (format.hasDate ? 7 : nil))
        #expect(parts.day == (format.hasDate ? 22 : nil))
        #expect(parts.hour == (format.hasTime ? 12 : nil))
        #expect(parts.minute == (format.hasTime ? 30 : nil))
        #expect(parts.second == (format.hasSeconds ? 45 : nil))
        #expect(parts.microsecond == (format.hasFraction ? 678_000 : nil))
        #expect(parts.zoneInMinutes == nil)
        #expect(try parts.text(separator: text.contains("T") ? .t : .space) == text)
    }

    @Test func `date parts are written in any format, with zeros for missing times`() throws {
        let day = try DateParts(year: 2015, month: 7, day: 22)
        #expect(
            try DateFormat.allCases.map { try day.text(as: $0) } == [
                "2015-07-22", "2015-07-22 00:00", "2015-07-22 00:00:00", "2015-07-22 00:00:00.000",
                "00:00", "00:00:00", "00:00:00.000",
            ])
        let instant = try DateTime(parsing: "2015-07-22 12:30:45.678912")
        for format in DateFormat.allCases {
            let parts = DateParts(instant, format: format)
            #expect(try parts.text() == instant.text(as: format))
            #expect(try DateTime(parts) == instant)
        }
    }

    @Test func `times from date parts are written in the shortest format`() throws {
        #expect(try DateParts(hour: 12, minute: 0).text() == "12:00")
        #expect(try DateParts(minute: 5).text() == "00:05")
        #expect(try DateParts(hour: 12, second: 7).text() == "12:00:07")
        #expect(try DateParts(hour: 12, microsecond: 7999).text() == "12:00:00.007")
        #expect(try DateParts(hour: 12, format: .hmss).text() == "12:00:00.000")
        #expect(try DateParts(year: 2015).text() == "2015-01-01")
        #expect(try DateParts(year: 2015, month: 2, hour: 9).text() == "2015-02-01 09:00")
        #expect(try DateParts(year: -4713, month: 12, day: 1).text() == "-4713-12-01")
    }

    @Test func `a time of day is not a date and cannot be written as one`() throws {
        let time = try DateParts(parsing: "12:30")
        #expect(throws: DateError.missingDate("a time of day")) { try DateTime(time) }
        #expect(throws: DateError.missingDate("a time of day")) { try time.text(as: .ymdHM) }
    }

    @Test(arguments: ["Z", "+02:00", "-11:30"])
    func `date parts keep their time zone and apply it when they become an instant`(zone: String) throws {
        let parts = try DateParts(parsing: "2015-07-22 12:30:45.500" + zone)
        #expect(try parts.text() == "2015-07-22 12:30:45.500" + zone)
        #expect(try parts.text(as: .hm) == "12:30" + zone)
        #expect(try parts.text(as: .ymd) == "2015-07-22")
        #expect(try DateTime(parts) == DateTime(parsing: "2015-07-22 12:30:45.500" + zone))
    }

    @Test func `date parts are read from the values of a query`() throws {
        let texts = try DatabaseQueue().read { db in
            try String.fetchAll(db, sql: "SELECT date('2015-07-22') UNION ALL SELECT time('12:30')")
        }
        #expect(try texts.map { try DateParts(parsing: $0).format } == [.ymd, .hms])
    }

    @Test func `date parts that do not exist in the calendar or on the clock are errors`() {
        let makers: [(String, () throws -> DateParts)] = [
            ("month", { try DateParts(year: 2015, month: 13) }),
            ("day", { try DateParts(year: 2015, month: 2, day: 29) }),
            ("year", { try DateParts(year: 10_000) }),
            ("year", { try DateParts(year: .min, month: .min, day: .min) }),
            ("hour", { try DateParts(hour: 24) }),
            ("minute", { try DateParts(minute: -1) }),
            ("second", { try DateParts(second: .max) }),
            ("microsecond", { try DateParts(microsecond: 1_000_000) }),
            ("zone", { try DateParts(hour: 1, zoneInMinutes: 900) }),
            ("year", { try DateParts(month: 2, day: 30) }),
            ("year", { try DateParts() }),
            ("year", { try DateParts(hour: 12, format: .ymdHM) }),
            ("month", { try DateParts(year: 2015, day: 30) }),
            ("day", { try DateParts(parsing: "2015-02-29") }),
            ("hour", { try DateParts(parsing: "24:00") }),
        ]
        for (part, make) in makers {
            let error = #expect(throws: DateError.self) { try make() }
            #expect(error?.part == part)
        }
    }

    @Test(arguments: ["", "2457225.5", "12", "12:3", "2015-07", "12:30 2015-07-22", "12:30T", "\0"])
    func `text in an unknown format has no date parts`(text: String) {
        let error = #expect(throws: DateError.self) { try DateParts(parsing: text) }
        #expect(error?.code == .syntax)
    }

    @Test func `date formats have the names that scripts use`() {
        let names = ["YMD", "YMD_HM", "YMD_HMS", "YMD_HMSS", "HM", "HMS", "HMSS"]
        #expect(DateFormat.allCases.map(\.rawValue) == names)
        #expect(names.compactMap(DateFormat.init(rawValue:)) == DateFormat.allCases)
    }
}
