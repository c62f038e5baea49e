/// An instant with microsecond precision, in the range of SQLite's date functions.
///
/// All parts are in UTC and follow the Gregorian calendar, even before its introduction, as in SQLite.
public struct DateTime: Hashable, Sendable, BitwiseCopyable {
    /// The microseconds since 1970-01-01 00:00:00 UTC, negative for earlier instants. Leap seconds are not counted.
    public let microsecondsSince1970: Int64

    /// The earliest instant: Julian day 0, which is -4713-11-24 12:00:00.
    public static let earliest = DateTime(unchecked: -210_866_760_000_000_000)
    /// The latest instant: 9999-12-31 23:59:59.999999.
    public static let latest = DateTime(unchecked: 253_402_300_799_999_999)

    private init(unchecked microseconds: Int64) {
        microsecondsSince1970 = microseconds
    }

    /// Creates an instant from microseconds.
    ///
    /// - Throws: ``DateError`` with code `outOfRange`.
    public init(microsecondsSince1970 microseconds: Int64) throws {
        guard (Self.earliest.microsecondsSince1970...Self.latest.microsecondsSince1970).contains(microseconds) else {
            throw DateError.outOfRange("one \(microseconds < 0 ? "before" : "after") it")
        }
        self.init(unchecked: microseconds)
    }

    /// Creates the instant that date parts describe.
    ///
    /// - Throws: ``DateError`` with code `missingDate` for a time of day, or `outOfRange` if the instant in UTC is out of range.
    public init(_ parts: DateParts) throws {
        guard parts.year != nil else { throw DateError.missingDate("a time of day") }
        let zone = Int64(parts.zoneInMinutes ?? 0) * Self.microsecondsPerMinute
        try self.init(microsecondsSince1970: Self.microseconds(of: parts.filled) - zone)
    }

    init(_ time: CivilTime) throws {
        try self.init(microsecondsSince1970: Self.microseconds(of: time))
    }
}

extension DateTime: Comparable {
    public static func < (left: DateTime, right: DateTime) -> Bool {
        left.microsecondsSince1970 < right.microsecondsSince1970
    }
}

// MARK: - Text

extension DateTime: CustomStringConvertible {
    /// Parses a text as SQLite's date functions do.
    ///
    /// The text is in a format of ``DateFormat`` with a date, with `T` or spaces between date and time, any number of fraction digits
    /// (digits after the sixth are ignored) and an optional `Z`, `+HH:MM` or `-HH:MM`; or it is a number, which is always a Julian day. A
    /// text without a time zone is in UTC.
    ///
    /// - Throws: ``DateError`` if the text has a different form, is a time of day or `now`, or a part is out of range. Unlike SQLite, it
    ///   rejects February 30 and hour 24.
    public init(parsing text: some StringProtocol) throws {
        try self.init(parsing: text.utf8)
    }

    /// Parses a text, which need not be valid UTF-8.
    ///
    /// - Throws: ``DateError`` if the text is not in a date format, or a part is out of range.
    public init(parsing bytes: some Collection<UInt8>) throws {
        self = try bytes.withContiguousBytes { try DateTime(parsing: $0) }
    }

    /// Parses a text, which need not be valid UTF-8.
    ///
    /// - Throws: ``DateError`` if the text is not in a date format, or a part is out of range.
    public init(parsing bytes: UnsafeBufferPointer<UInt8>) throws {
        var scanner = DateScanner(bytes)
        if let parts = try scanner.scanParts() {
            do {
                try self.init(parts)
            } catch let error as DateError {
                throw error.found(in: bytes)
            }
        } else if let number = scanner.scanNumber() {
            try self.init(julianDay: number)
        } else {
            throw DateError.syntax(expected: "a date such as 2015-07-22 or 2015-07-22 12:30:00.000", text: bytes)
        }
    }

    /// The instant as `YYYY-MM-DD HH:MM:SS.SSS` in UTC. This is the storage format, which sorts chronologically, including texts from
    /// `CURRENT_TIMESTAMP`.
    public var description: String { text() }

    /// Formats the instant in UTC. Parts that the format does not contain are cut off, so the text is never later than the instant.
    ///
    /// Years before 0 have a minus sign, as in SQLite, and do not sort chronologically.
    ///
    /// - Parameter marksUTC: Whether to append `Z` if the format contains a time.
    public func text(
        as format: DateFormat = .ymdHMSS, separator: DateFormat.Separator = .space, marksUTC: Bool = false
    ) -> String {
        var writer = DateWriter()
        writer.append(civilTime, as: format, separator: separator)
        if marksUTC, format.hasTime { writer.append(zoneInMinutes: 0) }
        return writer.text
    }
}

// MARK: - Parts

extension DateTime {
    /// The year, from -4713 to 9999. Year 0 precedes year 1.
    public var year: Int { civilDay.year }
    /// The month, from 1 to 12.
    public var month: Int { civilDay.month }
    /// The day of the month, from 1 to 31.
    public var day: Int { civilDay.day }
    /// The hour, from 0 to 23.
    public var hour: Int { civilTime.hour }
    /// The minute, from 0 to 59.
    public var minute: Int { civilTime.minute }
    /// The second, from 0 to 59.
    public var second: Int { civilTime.second }
    /// The milliseconds of the second, from 0 to 999.
    public var millisecond: Int { civilTime.microsecond / 1000 }
    /// The microseconds of the second, from 0 to 999,999.
    public var microsecond: Int { civilTime.microsecond }
    /// The day of the week, from 0 for Sunday to 6 for Saturday.
    public var weekday: Int { civilDay.weekday }
    /// The day of the year, from 1 to 366.
    public var dayOfYear: Int { civilDay.dayOfYear }

    var civilDay: CivilDay {
        let days = floorDivide(microsecondsSince1970, by: Self.microsecondsPerDay).quotient
        return CivilDay(daysSince1970: Int(days))
    }

    var civilTime: CivilTime {
        let (days, microsecondOfDay) = floorDivide(microsecondsSince1970, by: Self.microsecondsPerDay)
        let (seconds, microsecond) = microsecondOfDay.quotientAndRemainder(dividingBy: Self.microsecondsPerSecond)
        let second = Int(seconds)
        return CivilTime(
            day: CivilDay(daysSince1970: Int(days)), hour: second / 3600, minute: second / 60 % 60,
            second: second % 60, microsecond: Int(microsecond))
    }

    static let microsecondsPerSecond: Int64 = 1_000_000
    static let microsecondsPerMinute = 60 * microsecondsPerSecond
    static let microsecondsPerHour = 60 * microsecondsPerMinute
    static let microsecondsPerDay = 24 * microsecondsPerHour

    // The product cannot overflow: validated parts are within a few days of the range of dates, which is a twentieth of Int64's range.
    private static func microseconds(of time: CivilTime) -> Int64 {
        Int64(time.day.daysSince1970) * microsecondsPerDay + time.microsecondOfDay
    }
}
