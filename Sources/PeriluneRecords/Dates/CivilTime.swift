/// A day in the proleptic Gregorian calendar, which SQLite uses for all dates, including those before 1582.
///
/// `day` may exceed the length of the month: ``daysSince1970`` then counts on into the next month.
struct CivilDay: Hashable, Sendable {
    var year: Int
    var month: Int
    var day: Int

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    // Both conversions count years from March 1, which makes the leap day the last day of a year and the month lengths a linear formula:
    // (153 * month + 2) / 5 days precede a month, where March is month 0.

    init(daysSince1970 days: Int) {
        let (cycle, dayOfCycle) = floorDivide(days + Self.daysFromMarchOfYear0To1970, by: Self.daysIn400Years)
        var rest = dayOfCycle
        let century = min(rest / 36_524, 3)
        rest -= century * 36_524
        let leapCycle = rest / 1_461
        rest -= leapCycle * 1_461
        let yearOfLeapCycle = min(rest / 365, 3)
        rest -= yearOfLeapCycle * 365

        let marchYear = cycle * 400 + century * 100 + leapCycle * 4 + yearOfLeapCycle
        let marchMonth = (5 * rest + 2) / 153
        year = marchMonth < 10 ? marchYear : marchYear + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        day = rest - (153 * marchMonth + 2) / 5 + 1
    }

    /// The number of days from 1970-01-01 to this day. `month` must be in 1...12.
    var daysSince1970: Int {
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = month > 2 ? month - 3 : month + 9
        let leapDays =
            floorDivide(marchYear, by: 4).quotient - floorDivide(marchYear, by: 100).quotient
            + floorDivide(marchYear, by: 400).quotient
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        return 365 * marchYear + leapDays + dayOfYear - Self.daysFromMarchOfYear0To1970
    }

    /// The day of the week, from 0 for Sunday to 6 for Saturday.
    var weekday: Int {
        // 1970-01-01 was a Thursday.
        floorDivide(daysSince1970 + 4, by: 7).remainder
    }

    /// The day of the year, where January 1 is 1.
    var dayOfYear: Int {
        daysSince1970 - CivilDay(year: year, month: 1, day: 1).daysSince1970 + 1
    }

    /// Returns the number of days of a month, which must be in 1...12.
    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static let daysIn400Years = 146_097
    private static let daysFromMarchOfYear0To1970 = 719_468
}

/// A day and a time of day, down to the microsecond.
struct CivilTime: Hashable, Sendable {
    var day: CivilDay
    var hour = 0
    var minute = 0
    var second = 0
    var microsecond = 0

    var microsecondOfDay: Int64 {
        Int64((hour * 60 + minute) * 60 + second) * 1_000_000 + Int64(microsecond)
    }
}

/// Divides and rounds down, so the remainder is never negative. `divisor` must be positive.
func floorDivide<Number: SignedInteger>(
    _ dividend: Number, by divisor: Number
) -> (quotient: Number, remainder: Number) {
    let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}
