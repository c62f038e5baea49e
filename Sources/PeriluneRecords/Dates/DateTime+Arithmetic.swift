/// Date arithmetic, and the first instants of units such as months.
extension DateTime {
    /// A calendar unit, such as a month. Weeks begin on Mondays.
    public enum Unit: String, Hashable, Sendable, CaseIterable {
        /// A unit, from the year down to the second.
        case year, month, week, day, hour, minute, second
    }

    /// The result of adding months if the resulting month does not have that day.
    public enum MonthOverflow: String, Hashable, Sendable, CaseIterable {
        /// The last day of the month: January 31 plus one month is February 28, or 29 in leap years.
        case clamp
        /// A day of the next month, as in SQLite: January 31 plus one month is March 3, or March 2 in leap years.
        case runOn = "run on"
    }

    /// Adds years, months, days and smaller units, each of which may be negative.
    ///
    /// Years and months are combined and added first.
    ///
    /// - Throws: ``DateError`` with code `outOfRange`.
    public func adding(
        years: Int = 0, months: Int = 0, days: Int = 0, hours: Int = 0, minutes: Int = 0, seconds: Int = 0,
        microseconds: Int = 0, overflow: MonthOverflow = .clamp
    ) throws -> DateTime {
        var sum = Int64(microseconds)
        try Self.add(seconds, of: Self.microsecondsPerSecond, to: &sum)
        try Self.add(minutes, of: Self.microsecondsPerMinute, to: &sum)
        try Self.add(hours, of: Self.microsecondsPerHour, to: &sum)
        try Self.add(days, of: Self.microsecondsPerDay, to: &sum)
        // Only the final sum must be in range, so that adding a month and subtracting a day works at the end of the year 9999.
        let moved = try microsecondsAfter(years: years, months: months, overflow)
        try Self.add(1, of: moved, to: &sum)
        return try DateTime(microsecondsSince1970: sum)
    }

    /// Adds a number of seconds, rounded to microseconds.
    ///
    /// - Throws: ``DateError`` if the number is not finite or the result is out of range.
    public func adding(seconds: Double) throws -> DateTime {
        var sum = microsecondsSince1970
        try Self.add(1, of: Self.microseconds(inSeconds: seconds), to: &sum)
        return try DateTime(microsecondsSince1970: sum)
    }

    /// Adds a duration, rounded down to microseconds.
    ///
    /// - Throws: ``DateError`` with code `outOfRange`.
    @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
    public func adding(_ duration: Duration) throws -> DateTime {
        let (seconds, attoseconds) = duration.components
        let attosecondsPerMicrosecond: Int64 = 1_000_000_000_000
        var sum = floorDivide(attoseconds, by: attosecondsPerMicrosecond).quotient
        try Self.add(Int(clamping: seconds), of: Self.microsecondsPerSecond, to: &sum)
        try Self.add(1, of: microsecondsSince1970, to: &sum)
        return try DateTime(microsecondsSince1970: sum)
    }

    /// Returns the first instant of the year, month, week, day, hour, minute or second that contains this instant.
    ///
    /// - Throws: ``DateError`` with code `outOfRange`, which can only happen on the first day of the range.
    public func start(of unit: Unit) throws -> DateTime {
        let time = civilTime
        var start = CivilTime(day: CivilDay(year: time.day.year, month: 1, day: 1))
        if unit == .year { return try DateTime(start) }
        start.day.month = time.day.month
        if unit == .month { return try DateTime(start) }
        start.day.day = time.day.day
        if unit == .week {
            // On the first day of the range, the Monday of the week may be out of range.
            start.day = CivilDay(daysSince1970: start.day.daysSince1970 - (start.day.weekday + 6) % 7)
            return try DateTime(start)
        }
        if unit == .day { return try DateTime(start) }
        start.hour = time.hour
        if unit == .hour { return try DateTime(start) }
        start.minute = time.minute
        if unit == .minute { return try DateTime(start) }
        start.second = time.second
        return try DateTime(start)
    }

    /// Returns the seconds from another instant to this one; negative if the other one is later.
    public func seconds(since other: DateTime) -> Double {
        Double(microseconds(since: other)) / 1e6
    }

    /// Returns the microseconds from another instant to this one; negative if the other one is later.
    public func microseconds(since other: DateTime) -> Int64 {
        microsecondsSince1970 - other.microsecondsSince1970
    }

    /// Returns the instant moved by years and months, in microseconds since 1970, which may be a few days out of range.
    private func microsecondsAfter(years: Int, months: Int, _ overflow: MonthOverflow) throws -> Int64 {
        let (yearsInMonths, isTooLarge) = years.multipliedReportingOverflow(by: 12)
        let (total, isSumTooLarge) = yearsInMonths.addingReportingOverflow(months)
        guard !isTooLarge, !isSumTooLarge, abs(total.clamped(to: Self.monthLimits)) < Self.monthLimits.upperBound else {
            throw DateError.outOfRange("one moved by \(years) years and \(months) months")
        }
        let day = civilDay
        let (year, month) = floorDivide(day.year * 12 + day.month - 1 + total, by: 12)
        let lastDay = overflow == .clamp ? CivilDay.days(inMonth: month + 1, of: year) : day.day
        let moved = CivilDay(year: year, month: month + 1, day: min(day.day, lastDay))
        let days = Int64(moved.daysSince1970 - day.daysSince1970)
        return microsecondsSince1970 + days * Self.microsecondsPerDay
    }

    /// Bounds that exceed the range of dates, but are small enough that no product overflows.
    private static let monthLimits = -200_000...200_000

    private static func add(_ count: Int, of unit: Int64, to sum: inout Int64) throws {
        let (product, overflow) = unit.multipliedReportingOverflow(by: Int64(count))
        let (total, overflowOfSum) = sum.addingReportingOverflow(product)
        guard !overflow, !overflowOfSum else { throw DateError.outOfRange("one far beyond it") }
        sum = total
    }
}

extension Comparable {
    fileprivate func clamped(to range: ClosedRange<Self>) -> Self {
        min(max(self, range.lowerBound), range.upperBound)
    }
}
