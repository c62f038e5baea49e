import Testing

@testable import PeriluneRecords

struct DatePatternTests {
    let date = try! DateTime(parsing: "2015-01-04 00:07:09.123999")

    @Test(arguments: [
        ("%d", "04"), ("%e", " 4"), ("%f", "09.123"), ("%F", "2015-01-04"), ("%g", "15"), ("%G", "2015"),
        ("%H", "00"), ("%I", "12"), ("%j", "004"), ("%J", "2457026.504966701"), ("%k", " 0"), ("%l", "12"),
        ("%m", "01"), ("%M", "07"), ("%p", "AM"), ("%P", "am"), ("%R", "00:07"), ("%s", "1420330029"),
        ("%S", "09"), ("%T", "00:07:09"), ("%u", "7"), ("%U", "01"), ("%V", "01"), ("%w", "0"), ("%W", "00"),
        ("%Y", "2015"), ("%%", "%"), ("", ""), ("%d.%m.%Y é", "04.01.2015 é"),
    ])
    func `each substitution of strftime is supported`(pattern: String, expected: String) throws {
        #expect(try date.text(pattern: pattern) == expected)
    }

    @Test(arguments: [
        ("2016-01-03", "2015 15 53"), ("2018-12-31", "2019 19 01"), ("2020-12-31", "2020 20 53"),
        ("2021-01-04", "2021 21 01"),
    ])
    func `ISO 8601 weeks belong to the year of their Thursday`(day: String, expected: String) throws {
        #expect(try DateTime(parsing: day).text(pattern: "%G %g %V") == expected)
    }

    @Test func `the first and last dates of the range can be formatted`() throws {
        #expect(try DateTime.earliest.text(pattern: "%F %Y %j %J %s") == "-4713-11-24 -4713 328 0 -210866760000")
        #expect(try DateTime.latest.text(pattern: "%Y %f %J") == "9999 59.999 5373484.499999989")
        for date in [DateTime.earliest, .latest] {
            for letter in "defFgGHIjJklmMpPRsSTuUVwWY" {
                #expect(try !date.text(pattern: "%\(letter)").isEmpty)
            }
        }
    }

    @Test func `an unknown substitution in a date pattern is an error`() throws {
        let known = Set("defFgGHIjJklmMpPRsSTuUVwWY%".utf8)
        for byte in UInt8.min...UInt8.max where !known.contains(byte) {
            let error = #expect(throws: DateError.self) { try date.bytes(pattern: [0x25, byte]) }
            #expect(error?.code == .pattern)
        }
        let error = #expect(throws: DateError.self) { try date.text(pattern: "%Y-%q") }
        #expect(error?.message.hasPrefix("expected a substitution of SQLite's strftime (%Y %m %d ") == true)
        #expect(error?.message.hasSuffix("%%), got %q") == true)
        let month = #expect(throws: DateError.self) { try date.text(pattern: "%d %b") }
        #expect(month?.message.hasSuffix("got %b; months and weekdays have no names") == true)
        #expect(throws: DateError.self) { try date.text(pattern: "100%") }
    }

    @Test func `other bytes of a date pattern are copied`() throws {
        #expect(try date.bytes(pattern: [0xFF, 0x00, 0x25, 0x64]) == [0xFF, 0x00, 0x30, 0x34])
    }
}
