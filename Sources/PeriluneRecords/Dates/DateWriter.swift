/// A buffer that builds the text of a date.
struct DateWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 32) {
        bytes.reserveCapacity(capacity)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a number padded to at least `width` digits, after a minus sign if it is negative.
    mutating func append(_ number: Int, width: Int, padding: UInt8 = UInt8(ascii: "0")) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let digits = String(number.magnitude)
        for _ in 0..<max(0, width - digits.utf8.count) { append(padding) }
        append(digits)
    }

    mutating func append(_ time: CivilTime, as format: DateFormat, separator: DateFormat.Separator = .space) {
        if format.hasDate {
            append(time.day)
            if format.hasTime { append(separator == .t ? UInt8(ascii: "T") : UInt8(ascii: " ")) }
        }
        guard format.hasTime else { return }
        appendTwoDigits(time.hour)
        append(UInt8(ascii: ":"))
        appendTwoDigits(time.minute)
        if format.hasSeconds {
            append(UInt8(ascii: ":"))
            appendTwoDigits(time.second)
        }
        if format.hasFraction { appendMilliseconds(time) }
    }

    mutating func append(_ day: CivilDay) {
        if day.year < 0 { append(UInt8(ascii: "-")) }
        let year = abs(day.year)
        appendTwoDigits(year / 100)
        appendTwoDigits(year % 100)
        append(UInt8(ascii: "-"))
        appendTwoDigits(day.month)
        append(UInt8(ascii: "-"))
        appendTwoDigits(day.day)
    }

    /// Appends `.SSS`, cutting off microseconds.
    mutating func appendMilliseconds(_ time: CivilTime) {
        let milliseconds = time.microsecond / 1000
        append(UInt8(ascii: "."))
        append(Self.digit(milliseconds / 100))
        appendTwoDigits(milliseconds % 100)
    }

    /// Appends `Z` for offset 0, or `+HH:MM` or `-HH:MM`; appends nothing for `nil`.
    mutating func append(zoneInMinutes zone: Int?) {
        guard let zone else { return }
        guard zone != 0 else { return append(UInt8(ascii: "Z")) }
        append(zone < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
        appendTwoDigits(abs(zone) / 60)
        append(UInt8(ascii: ":"))
        appendTwoDigits(abs(zone) % 60)
    }

    mutating func appendTwoDigits(_ number: Int) {
        append(Self.digit(number / 10))
        append(Self.digit(number % 10))
    }

    private static func digit(_ number: Int) -> UInt8 {
        UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number)
    }
}
