/// Conversion between dates and numbers: Julian days and Unix seconds.
extension DateTime {
    /// Creates an instant from a number by the rule of SQLite's `auto` modifier: a number from 0 to below 5373484.5 is a Julian
    /// day, and any other number is Unix seconds.
    ///
    /// The first 63 days of 1970 in Unix seconds are therefore read as Julian days; use ``init(unixSeconds:)-(Double)`` for
    /// them.
    ///
    /// - Throws: ``DateError`` if the number is not finite or the instant is out of range.
    public init(number: Double) throws {
        if Self.julianDays.contains(number) {
            try self.init(julianDay: number)
        } else {
            try self.init(unixSeconds: number)
        }
    }

    /// Creates an instant from an integer by the rule of ``init(number:)-(Double)``.
    ///
    /// - Throws: ``DateError`` with code `outOfRange`.
    public init(number: some BinaryInteger) throws {
        guard let seconds = Int64(exactly: number) else { throw DateError.outOfRange("the number \(number)") }
        if seconds >= 0, Double(seconds) < Self.julianDays.upperBound {
            try self.init(julianDay: Double(seconds))
        } else {
            try self.init(unixSeconds: seconds)
        }
    }

    /// Creates an instant from a Julian day number: the days since noon of -4713-11-24, which is day 0.
    ///
    /// The instant is rounded to milliseconds, as in SQLite, because a `Double` is not precise enough for more digits.
    ///
    /// - Throws: ``DateError`` if the number is not finite, below 0, or at least 5373484.5.
    public init(julianDay: Double) throws {
        guard julianDay.isFinite else { throw DateError.notFinite(julianDay) }
        guard Self.julianDays.contains(julianDay) else {
            throw DateError(
                code: .outOfRange, message: "expected a Julian day from 0 to below 5373484.5, got \(julianDay)")
        }
        let milliseconds = Int64((julianDay * Self.millisecondsPerDay).rounded())
        try self.init(microsecondsSince1970: milliseconds * 1000 + Self.earliest.microsecondsSince1970)
    }

    /// Creates an instant from seconds since 1970-01-01 00:00:00 UTC.
    ///
    /// The instant is rounded to microseconds, and from 2^33 seconds (in 2242) on to milliseconds, because a `Double` is not
    /// precise enough for more digits.
    ///
    /// - Throws: ``DateError`` if the number is not finite or the instant is out of range.
    public init(unixSeconds: Double) throws {
        try self.init(microsecondsSince1970: Self.microseconds(inSeconds: unixSeconds))
    }

    /// Creates an instant from whole seconds since 1970-01-01 00:00:00 UTC.
    ///
    /// - Throws: ``DateError`` with code `outOfRange`.
    public init(unixSeconds: some BinaryInteger) throws {
        guard let seconds = Int64(exactly: unixSeconds),
            case (let microseconds, let overflow) = seconds.multipliedReportingOverflow(by: Self.microsecondsPerSecond),
            !overflow
        else {
            throw DateError.outOfRange("\(unixSeconds) seconds since 1970")
        }
        try self.init(microsecondsSince1970: microseconds)
    }

    /// The Julian day number of the instant, rounded down to milliseconds, as SQLite's `julianday` returns it.
    public var julianDay: Double {
        let sinceEarliest = microsecondsSince1970 - Self.earliest.microsecondsSince1970
        return Double(floorDivide(sinceEarliest, by: 1000).quotient) / Self.millisecondsPerDay
    }

    /// The seconds since 1970, with a fraction. Exact to the microsecond up to 2^33 seconds (in 2242).
    public var unixSeconds: Double {
        Double(microsecondsSince1970) / 1e6
    }

    /// The whole seconds since 1970, rounded down, as SQLite's `unixepoch` returns them.
    public var wholeUnixSeconds: Int64 {
        floorDivide(microsecondsSince1970, by: Self.microsecondsPerSecond).quotient
    }

    private static let julianDays = 0.0..<5_373_484.5
    private static let millisecondsPerDay = 86_400_000.0

    static func microseconds(inSeconds seconds: Double) throws -> Int64 {
        guard seconds.isFinite else { throw DateError.notFinite(seconds) }
        // The whole range is 4.7e11 seconds, and 1e12 seconds cannot overflow.
        guard abs(seconds) < 1e12 else { throw DateError.outOfRange("\(seconds) seconds") }
        // Convert whole seconds separately, because a `Double` cannot represent 4.7e17 microseconds exactly.
        let whole = seconds.rounded(.down)
        let unit: Int64 = abs(seconds) < 8_589_934_592 ? 1 : 1000
        let units = Int64(((seconds - whole) * (1e6 / Double(unit))).rounded())
        return Int64(whole) * microsecondsPerSecond + units * unit
    }
}
