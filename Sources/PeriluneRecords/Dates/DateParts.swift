/// The known parts of a date or time of day, with their storage format.
///
/// Unlike ``DateTime``, it preserves the stored form: a birthday stays a date, and an opening hour stays a time. The parts are always
/// valid, and parts with a month or a day always have a year.
public struct DateParts: Hashable, Sendable {
    /// The year, from -4713 to 9999. Year 0 precedes year 1.
    public internal(set) var year: Int?
    /// The month, from 1 to 12.
    public internal(set) var month: Int?
    /// The day, from 1 to the length of the month.
    public internal(set) var day: Int?
    /// The hour, from 0 to 23.
    public internal(set) var hour: Int?
    /// The minute, from 0 to 59.
    public internal(set) var minute: Int?
    /// The second, from 0 to 59.
    public internal(set) var second: Int?
    /// The microsecond, from 0 to 999,999.
    public internal(set) var microsecond: Int?
    /// The offset from UTC in minutes, from -899 to 899; `nil`, which means UTC, if the text contains no time zone.
    public internal(set) var zoneInMinutes: Int?
    /// The format of the parsed text, or the format given at creation.
    public internal(set) var format: DateFormat

    init(day: CivilDay?, format: DateFormat) {
        (year, month, self.day) = (day?.year, day?.month, day?.day)
        self.format = format
    }

    /// Creates validated parts.
    ///
    /// - Parameter format: The storage format; `nil` means the shortest one that contains all the parts.
    /// - Throws: ``DateError`` if a part is out of range, no part is given, a month or a day has no year, a day has no month, or `format`
    ///   contains a date and the parts have none.
    public init(
        year: Int? = nil, month: Int? = nil, day: Int? = nil,
        hour: Int? = nil, minute: Int? = nil, second: Int? = nil, microsecond: Int? = nil,
        zoneInMinutes: Int? = nil, format: DateFormat? = nil
    ) throws {
        try Self.check(year: year, month: month, day: day)
        try Self.check(hour: hour, minute: minute, second: second, microsecond: microsecond)
        try Self.check("zone", zoneInMinutes, in: -899...899, note: " minutes")
        let hasTime = hour != nil || minute != nil || second != nil || microsecond != nil
        if year == nil, month != nil || day != nil || format?.hasDate == true || !hasTime {
            throw DateError.missingDate("parts without a year")
        }
        if day != nil, month == nil {
            throw DateError(code: .missingDate, message: "expected a month, got a day without one", part: "month")
        }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second, self.microsecond) = (hour, minute, second, microsecond)
        self.zoneInMinutes = zoneInMinutes
        let found = DateFormat(date: year != nil, seconds: second != nil, fraction: microsecond != nil)
        self.format = format ?? (hasTime ? found : .ymd)
    }

    /// Parses a text in one of the formats of ``DateFormat``, with `T` or spaces between date and time, any number of fraction digits
    /// (digits after the sixth are ignored), and an optional `Z`, `+HH:MM` or `-HH:MM`.
    ///
    /// - Throws: ``DateError`` if the text has a different format or a part is out of range.
    public init(parsing text: some StringProtocol) throws {
        try self.init(parsing: text.utf8)
    }

    /// Parses a text, which need not be valid UTF-8.
    ///
    /// - Throws: ``DateError`` if the text is not in a date or time format, or a part is out of range.
    public init(parsing bytes: some Collection<UInt8>) throws {
        self = try bytes.withContiguousBytes { try DateParts(parsing: $0) }
    }

    /// Parses a text, which need not be valid UTF-8.
    ///
    /// - Throws: ``DateError`` if the text is not in a date or time format, or a part is out of range.
    public init(parsing bytes: UnsafeBufferPointer<UInt8>) throws {
        var scanner = DateScanner(bytes)
        guard let parts = try scanner.scanParts() else {
            throw DateError.syntax(expected: "a text such as 2015-07-22, 2015-07-22 12:30:00.000 or 12:30", text: bytes)
        }
        self = parts
    }

    /// Creates the parts of an instant in UTC.
    ///
    /// - Parameter zoneInMinutes: The offset of the parts from UTC. Pass it if `instant` has already been shifted by it.
    public init(_ instant: DateTime, format: DateFormat = .ymdHMSS, zoneInMinutes: Int? = nil) {
        let time = instant.civilTime
        self.init(day: time.day, format: format)
        (hour, minute, second, microsecond) = (time.hour, time.minute, time.second, time.microsecond)
        self.zoneInMinutes = zoneInMinutes
    }

    /// Returns the parts as text. Missing parts are filled with January, the first day of the month, and midnight.
    ///
    /// Formats with a time include the time zone. Fractions have three digits; further digits are cut off.
    ///
    /// - Parameter format: The format; `nil` means ``format``.
    /// - Throws: ``DateError`` with code `missingDate` if the format contains a date and the parts have none.
    public func text(as format: DateFormat? = nil, separator: DateFormat.Separator = .space) throws -> String {
        let format = format ?? self.format
        if format.hasDate, year == nil { throw DateError.missingDate("a time of day") }
        var writer = DateWriter()
        writer.append(filled, as: format, separator: separator)
        if format.hasTime { writer.append(zoneInMinutes: zoneInMinutes) }
        return writer.text
    }

    /// The date and time, with missing parts filled with January, the first day of the month, and midnight.
    var filled: CivilTime {
        CivilTime(
            day: CivilDay(year: year ?? 0, month: month ?? 1, day: day ?? 1),
            hour: hour ?? 0, minute: minute ?? 0, second: second ?? 0, microsecond: microsecond ?? 0)
    }
}

// MARK: - Ranges

extension DateParts {
    static let years = -4713...9999

    static func check(year: Int?, month: Int?, day: Int?) throws {
        try check("year", year, in: years)
        try check("month", month, in: 1...12)
        // Without a month or year, report the missing part instead of an invalid day such as the 30th.
        guard let year, let month else { return try check("day", day, in: 1...31) }
        let length = CivilDay.days(inMonth: month, of: year)
        try check("day", day, in: 1...length, note: " in month \(month) of year \(year)")
    }

    static func check(hour: Int?, minute: Int?, second: Int?, microsecond: Int? = nil) throws {
        try check("hour", hour, in: 0...23)
        try check("minute", minute, in: 0...59)
        try check("second", second, in: 0...59)
        try check("microsecond", microsecond, in: 0...999_999)
    }

    private static func check(
        _ name: String, _ value: Int?, in range: ClosedRange<Int>, note: @autoclosure () -> String = ""
    ) throws {
        guard let value, !range.contains(value) else { return }
        throw DateError.part(name, value, expected: range, note: note())
    }
}

extension Collection<UInt8> {
    func withContiguousBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let result = try withContiguousStorageIfAvailable(body) { return result }
        return try Array(self).withUnsafeBufferPointer(body)
    }
}
