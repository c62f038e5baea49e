import Testing

@testable import PeriluneRecords

struct DateArithmeticTests {
    let date = try! DateTime(parsing: "2015-01-31 10:20:30.123456")

    @Test func `days and times are added to dates exactly`() throws {
        #expect(try date.adding(days: 1, hours: 2, minutes: 3, seconds: 4).text() == "2015-02-01 12:23:34.123")
        #expect(try date.adding(microseconds: 876_544).text() == "2015-01-31 10:20:31.000")
        #expect(try date.adding(seconds: 0.000_001).microsecond == 123_457)
        #expect(try date.adding(seconds: -1.5).text() == "2015-01-31 10:20:28.623")
        #expect(try date.adding(.milliseconds(1500)).text() == "2015-01-31 10:20:31.623")
        #expect(try date.adding(.nanoseconds(-1)).microsecond == 123_455)
        #expect(try DateTime.earliest.adding(microseconds: 1).adding(microseconds: -1) == .earliest)
    }

    @Test func `adding a month to the 31st gives the last day of a shorter month`() throws {
        #expect(try date.adding(months: 1).text(as: .ymd) == "2015-02-28")
        #expect(try date.adding(years: 1, months: 1).text(as: .ymd) == "2016-02-29")
        #expect(try date.adding(months: -2).text(as: .ymd) == "2014-11-30")
        #expect(try date.adding(months: -1).text(as: .ymd) == "2014-12-31")
        #expect(try date.adding(months: 1, days: 1).text(as: .ymd) == "2015-03-01")
        #expect(try date.adding(months: 12) == date.adding(years: 1))
        #expect(try DateTime(parsing: "2016-02-29").adding(years: 1).text(as: .ymd) == "2017-02-28")
    }

    @Test func `adding a month to the 31st can overflow into the next month, as in SQLite`() throws {
        #expect(try date.adding(months: 1, overflow: .runOn).text(as: .ymd) == "2015-03-03")
        #expect(try date.adding(years: 1, months: 1, overflow: .runOn).text(as: .ymd) == "2016-03-02")
        #expect(try date.adding(months: -2, overflow: .runOn).text(as: .ymd) == "2014-12-01")
        #expect(try DateTime(parsing: "2016-02-29").adding(years: 1, overflow: .runOn).text(as: .ymd) == "2017-03-01")
    }

    @Test func `intermediate sums of date arithmetic may be out of range`() throws {
        #expect(try DateTime.latest.adding(months: 1, days: -31) == .latest)
        #expect(try DateTime.earliest.adding(years: 14_712, months: -14_712 * 12) == .earliest)
    }

    @Test func `date arithmetic with a result out of range is an error`() {
        let sums: [() throws -> DateTime] = [
            { try DateTime.latest.adding(microseconds: 1) },
            { try DateTime.earliest.adding(microseconds: -1) },
            { try DateTime.latest.adding(months: 1) },
            { try DateTime.earliest.adding(months: -1) },
            { try date.adding(years: .max) }, { try date.adding(years: .min) },
            { try date.adding(months: .max) }, { try date.adding(months: .min) },
            { try date.adding(years: .max, months: .min) },
            { try date.adding(days: .max) }, { try date.adding(days: .min) },
            { try date.adding(hours: .max) }, { try date.adding(minutes: .min) },
            { try date.adding(seconds: Int.max) }, { try date.adding(seconds: Int.min) },
            { try date.adding(microseconds: .max) }, { try date.adding(microseconds: .min) },
            { try date.adding(seconds: .nan) }, { try date.adding(seconds: .infinity) },
            { try date.adding(seconds: -1e300) }, { try date.adding(seconds: 1e12) },
            { try date.adding(.seconds(Int64.max)) }, { try date.adding(.seconds(Int64.min)) },
            { try DateTime.earliest.start(of: .year) }, { try DateTime.earliest.start(of: .day) },
        ]
        for sum in sums { #expect(throws: DateError.self) { try sum() } }
    }

    @Test func `start(of:) returns the first instant of each unit`() throws {
        let starts = try DateTime.Unit.allCases.map { try date.start(of: $0).text() }
        #expect(
            starts == [
                "2015-01-01 00:00:00.000", "2015-01-01 00:00:00.000", "2015-01-26 00:00:00.000", "2015-01-31 00:00:00.000",
                "2015-01-31 10:00:00.000", "2015-01-31 10:20:00.000", "2015-01-31 10:20:30.000",
            ])
        #expect(try DateTime(microsecondsSince1970: -1).start(of: .second).text() == "1969-12-31 23:59:59.000")
        #expect(try DateTime.earliest.start(of: .hour) == .earliest)
    }

    @Test func `differences of dates are exact and signed`() throws {
        let later = try date.adding(days: 1, microseconds: 1)
        #expect(later.microseconds(since: date) == 86_400_000_001)
        #expect(later.seconds(since: date) == 86_400.000001)
        #expect(date.seconds(since: later) == -86_400.000001)
        #expect(DateTime.latest.microseconds(since: .earliest) == 464_269_060_799_999_999)
        #expect(DateTime.earliest.seconds(since: .latest) < -464_269_060_799)
    }
}
