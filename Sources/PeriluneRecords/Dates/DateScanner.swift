/// A parser of the texts that SQLite's date functions accept.
///
/// It works on bytes, because values in columns and scripts need not be valid UTF-8. It rejects three forms that SQLite
/// accepts: days that the month does not have (SQLite continues into the next month), hour 24, and `now`.
struct DateScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    // The buffer must outlive the scanner, so callers use both within one closure.
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Parses the whole text as a date, a time, or both.
    ///
    /// - Returns: `nil` if the text does not have one of these forms.
    /// - Throws: ``DateError`` if the text has such a form, but a number is out of range.
    mutating func scanParts() throws -> DateParts? {
        if isNow { throw DateError.now() }
        do {
            return try scanDateAndTime()
        } catch let error as DateError {
            throw error.found(in: bytes)
        }
    }

    /// Parses the whole text as a number, which may be surrounded by whitespace.
    mutating func scanNumber() -> Double? {
        position = 0
        skipSpaces()
        let start = position
        _ = skip { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        var digits = skipDigits()
        if skip({ $0 == UInt8(ascii: ".") }) { digits += skipDigits() }
        guard digits > 0 else { return nil }
        if skip({ $0 | 0x20 == UInt8(ascii: "e") }) {
            _ = skip { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
            guard skipDigits() > 0 else { return nil }
        }
        let end = position
        skipSpaces()
        guard isAtEnd else { return nil }
        return Double(String(decoding: bytes[start..<end], as: UTF8.self))
    }

    // MARK: - Grammar

    private mutating func scanDateAndTime() throws -> DateParts? {
        guard let day = try scanDay() else {
            return try scanTime(on: nil)
        }
        skipSpaces(or: UInt8(ascii: "T"))
        if isAtEnd {
            return DateParts(day: day, format: .ymd)
        }
        return try scanTime(on: day)
    }

    /// Parses `YYYY-MM-DD`, with a minus sign for years before 0, as SQLite writes them.
    private mutating func scanDay() throws -> CivilDay? {
        let start = position
        let isNegative = skip { $0 == UInt8(ascii: "-") }
        guard
            let year = scanDigits(4), skip({ $0 == UInt8(ascii: "-") }),
            let month = scanDigits(2), skip({ $0 == UInt8(ascii: "-") }),
            let day = scanDigits(2)
        else {
            position = start
            return nil
        }
        let civil = CivilDay(year: isNegative ? -year : year, month: month, day: day)
        try DateParts.check(year: civil.year, month: month, day: day)
        return civil
    }

    /// Parses `HH:MM`, `HH:MM:SS` or `HH:MM:SS.SSS` with any number of fraction digits, and an optional time zone.
    private mutating func scanTime(on day: CivilDay?) throws -> DateParts? {
        guard let hour = scanDigits(2), skip({ $0 == UInt8(ascii: ":") }), let minute = scanDigits(2) else {
            return nil
        }
        var second: Int?
        var microsecond: Int?
        if skip({ $0 == UInt8(ascii: ":") }) {
            second = scanDigits(2)
            if second == nil { return nil }
            if skip({ $0 == UInt8(ascii: ".") }) {
                microsecond = scanMicroseconds()
                if microsecond == nil { return nil }
            }
        }
        try DateParts.check(hour: hour, minute: minute, second: second)
        skipSpaces()
        let zone = try scanZone()
        skipSpaces()
        guard isAtEnd else { return nil }
        var parts = DateParts(
            day: day, format: DateFormat(date: day != nil, seconds: second != nil, fraction: microsecond != nil))
        (parts.hour, parts.minute, parts.second, parts.microsecond) = (hour, minute, second, microsecond)
        parts.zoneInMinutes = zone
        return parts
    }

    /// Parses `Z`, `+HH:MM` or `-HH:MM`. Returns `nil` for other text, without advancing.
    private mutating func scanZone() throws -> Int? {
        if skip({ $0 | 0x20 == UInt8(ascii: "z") }) { return 0 }
        let start = position
        let isNegative = skip { $0 == UInt8(ascii: "-") }
        guard isNegative || skip({ $0 == UInt8(ascii: "+") }),
            let hours = scanDigits(2), skip({ $0 == UInt8(ascii: ":") }), let minutes = scanDigits(2)
        else {
            position = start
            return nil
        }
        guard hours <= 14, minutes <= 59 else {
            throw DateError(
                code: .partOutOfRange,
                message: "expected a zone from -14:59 to +14:59, got \(hours) hours and \(minutes) minutes",
                part: "zone")
        }
        return (isNegative ? -1 : 1) * (hours * 60 + minutes)
    }

    // MARK: - Bytes

    private var isAtEnd: Bool { position == bytes.count }

    private var isNow: Bool {
        bytes.count == 3 && bytes.elementsEqual("now".utf8, by: { $0 | 0x20 == $1 })
    }

    private mutating func skip(_ matches: (UInt8) -> Bool) -> Bool {
        guard position < bytes.count, matches(bytes[position]) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpaces(or other: UInt8 = UInt8(ascii: " ")) {
        while skip({ $0 == UInt8(ascii: " ") || (0x09...0x0D).contains($0) || $0 == other }) {}
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while skip(Self.isDigit) {}
        return position - start
    }

    /// Parses exactly `count` digits. Returns `nil` if there are fewer, without advancing.
    private mutating func scanDigits(_ count: Int) -> Int? {
        guard bytes.count - position >= count else { return nil }
        var value = 0
        for byte in bytes[position..<position + count] {
            guard Self.isDigit(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        position += count
        return value
    }

    /// Parses the digits of a fraction. Cuts off digits after the sixth: rounding them could change the second.
    private mutating func scanMicroseconds() -> Int? {
        let start = position
        let count = skipDigits()
        guard count > 0 else { return nil }
        var value = 0
        for index in 0..<6 {
            value = value * 10 + (index < count ? Int(bytes[start + index] - UInt8(ascii: "0")) : 0)
        }
        return value
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
