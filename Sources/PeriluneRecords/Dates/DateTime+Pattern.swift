/// Formatting dates with patterns such as `%Y-%m-%d`.
extension DateTime {
    /// Formats the instant with a pattern, as SQLite's `strftime` does.
    ///
    /// The substitutions are the same as in SQLite 3.46, even if an older version is in use: `%d` `%e` `%f` `%F` `%g` `%G` `%H`
    /// `%I` `%j` `%J` `%k` `%l` `%m` `%M` `%p` `%P` `%R` `%s` `%S` `%T` `%u` `%U` `%V` `%w` `%W` `%Y` and `%%`.
    ///
    /// - Throws: ``DateError`` with code `pattern` for any other substitution.
    public func text(pattern: some StringProtocol) throws -> String {
        String(decoding: try bytes(pattern: pattern.utf8), as: UTF8.self)
    }

    /// Formats the instant with a pattern, as ``text(pattern:)`` does. Bytes outside of substitutions are copied unchanged.
    ///
    /// - Parameter local: The instant shifted to local time, whose UTC parts are written; `nil` to write UTC. Unix seconds
    ///   and Julian days always use this instant.
    /// - Throws: ``DateError`` with code `pattern` for an unknown substitution.
    public func bytes(pattern: some Collection<UInt8>, local: DateTime? = nil) throws -> [UInt8] {
        var writer = DateWriter(capacity: pattern.count + 16)
        let time = (local ?? self).civilTime
        var rest = pattern.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                writer.append(byte)
                continue
            }
            guard let letter = rest.next() else {
                throw DateError(code: .pattern, message: "expected a letter after the last % of a date pattern")
            }
            try append(UnicodeScalar(letter), of: time, to: &writer)
        }
        return writer.bytes
    }

    private func append(_ letter: UnicodeScalar, of time: CivilTime, to writer: inout DateWriter) throws {
        let day = time.day
        switch letter {
        case "d": writer.appendTwoDigits(day.day)
        case "e": writer.append(day.day, width: 2, padding: UInt8(ascii: " "))
        case "f":
            writer.appendTwoDigits(time.second)
            writer.appendMilliseconds(time)
        case "F": writer.append(day)
        case "g": writer.append(abs(day.isoYear) % 100, width: 2)
        case "G": writer.append(day.isoYear, width: 4)
        case "H": writer.appendTwoDigits(time.hour)
        case "I": writer.appendTwoDigits(time.hourOfTwelve)
        case "j": writer.append(day.dayOfYear, width: 3)
        case "J": writer.append(julianDayText)
        case "k": writer.append(time.hour, width: 2, padding: UInt8(ascii: " "))
        case "l": writer.append(time.hourOfTwelve, width: 2, padding: UInt8(ascii: " "))
        case "m": writer.appendTwoDigits(day.month)
        case "M": writer.appendTwoDigits(time.minute)
        case "p": writer.append(time.hour < 12 ? "AM" : "PM")
        case "P": writer.append(time.hour < 12 ? "am" : "pm")
        case "R": writer.append(time, as: .hm)
        case "s": writer.append(String(wholeUnixSeconds))
        case "S": writer.appendTwoDigits(time.second)
        case "T": writer.append(time, as: .hms)
        case "u": writer.append(day.weekday == 0 ? 7 : day.weekday, width: 1)
        case "U": writer.appendTwoDigits((day.dayOfYear + 6 - day.weekday) / 7)
        case "V": writer.appendTwoDigits(day.isoWeek)
        case "w": writer.append(day.weekday, width: 1)
        case "W": writer.appendTwoDigits((day.dayOfYear + 6 - day.daysSinceMonday) / 7)
        case "Y": writer.append(day.year, width: 4)
        case "%": writer.append(UInt8(ascii: "%"))
        default: throw DateError.unknownSubstitution(letter)
        }
    }

    /// The Julian day with 16 significant digits and without trailing zeros, like `%J` in SQLite.
    private var julianDayText: String {
        let number = julianDay
        // The digit count below requires a nonzero digit before the decimal point, which only Julian day 0 lacks.
        guard number >= 1 else { return number == 0 ? "0" : number.description }
        var whole = UInt64(number)
        let places = 16 - String(whole).utf8.count
        let scale = (0..<places).reduce(UInt64(1)) { product, _ in product * 10 }
        // Exact: the fraction is a multiple of 2^-52, and its product with up to 10^15 fits into 128 bits.
        let fractionIn52Bits = UInt64((number - number.rounded(.down)) * 0x1p52)
        let product = fractionIn52Bits.multipliedFullWidth(by: scale)
        var fraction = (product.high << 12) | (product.low >> 52)
        if product.low & (1 << 51) != 0 { fraction += 1 }
        if fraction == scale { (whole, fraction) = (whole + 1, 0) }
        return Self.decimal(whole, fraction, places: places)
    }

    private static func decimal(_ whole: UInt64, _ fraction: UInt64, places: Int) -> String {
        guard fraction > 0 else { return String(whole) }
        var digits = String(fraction)
        digits = String(repeating: "0", count: places - digits.utf8.count) + digits
        while digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
        return "\(whole).\(digits)"
    }
}

extension DateError {
    fileprivate static func unknownSubstitution(_ letter: UnicodeScalar) -> DateError {
        let isPrintable = (0x21...0x7E).contains(letter.value)
        let name = isPrintable ? "%\(letter)" : "% and byte \(letter.value)"
        let isName = "aAbBh".unicodeScalars.contains(letter)
        return DateError(
            code: .pattern,
            message:
                "expected a substitution of SQLite's strftime (%Y %m %d %H %M %S %e %f %F %g %G %I %j %J %k %l %p %P %R %s %T "
                + "%u %U %V %w %W %%), got \(name)" + (isName ? "; months and weekdays have no names" : ""))
    }
}

extension CivilTime {
    fileprivate var hourOfTwelve: Int { (hour + 11) % 12 + 1 }
}

extension CivilDay {
    fileprivate var daysSinceMonday: Int { (weekday + 6) % 7 }

    /// The Thursday of the week. ISO 8601 assigns the week to the year of its Thursday.
    private var thursday: CivilDay { CivilDay(daysSince1970: daysSince1970 + 3 - daysSinceMonday) }

    fileprivate var isoYear: Int { thursday.year }
    fileprivate var isoWeek: Int { (thursday.dayOfYear - 1) / 7 + 1 }
}
