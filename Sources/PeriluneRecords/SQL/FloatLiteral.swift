internal import Glibc

/// The text of floating-point numbers, wherever values are displayed or written into SQL.
///
/// SQLite parses decimals with only a few bits more precision than a `Double` has. A decimal that lies almost halfway between
/// two `Double` values, as the shortest decimal may, can therefore be read as the wrong one.
package enum FloatLiteral {
    /// Returns the shortest SQL that SQLite reads back as this value. NaN becomes NULL, because SQLite does not have it.
    package static func text(_ value: Double) -> String {
        if value.isNaN { return "NULL" }
        if value.isInfinite { return value < 0 ? "-9e999" : "9e999" }
        return isTiny(value) ? quotient(value) : decimal(value)
    }

    /// Returns the shortest decimal that Swift and SQLite read back as this value, with a decimal point or an exponent.
    ///
    /// SQLite does not read all decimals below 1e-280 exactly.
    package static func decimal(_ value: Double) -> String {
        let shortest = value.description
        // SQLite reads whole numbers of up to 15 digits exactly.
        if !value.isFinite || value == value.rounded() && abs(value) < 1e15 || isTiny(value) || isNear(shortest, value) {
            return shortest
        }
        let digits = printed(value, digits: 17)
        return digits.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") } ? digits : digits + ".0"
    }

    private static func isTiny(_ value: Double) -> Bool { value != 0 && abs(value) < 1e-280 }

    /// Returns whether a decimal is nearer to a value than to the midpoint between that value and the next one, by more than
    /// SQLite's rounding error.
    private static func isNear(_ decimal: String, _ value: Double) -> Bool {
        if distance(decimal, value, digits: 18) < 0.45 { return true }
        // SQLite computes such a decimal from two exact numbers by one operation, whose error is less than a thousandth of the distance
        // between two values. This keeps prices such as 19.99 short.
        let isShort = (1e-7..<1e15).contains(abs(value)) && significantDigits(of: decimal, atMost: 16).count < 16
        return isShort && distance(decimal, value, digits: 27) < 0.499
    }

    /// Returns the difference between a decimal and a value, as a fraction of the distance between that value and the next one.
    private static func distance(_ decimal: String, _ value: Double, digits: Int) -> Double {
        func number(_ decimal: String) -> Int128 {
            let (number, count) = significantDigits(of: decimal, atMost: digits)
            return (count..<digits).reduce(number) { number, _ in number * 10 }
        }
        let exact = number(printed(value, digits: Int32(digits))), error = exact - number(decimal)
        return Double(abs(error)) / Double(exact) / (value.ulp / abs(value))
    }

    /// Returns the first digits of a decimal as a number, starting with its first nonzero digit.
    private static func significantDigits(of decimal: String, atMost limit: Int) -> (number: Int128, count: Int) {
        var number: Int128 = 0, count = 0
        for byte in decimal.utf8 {
            if byte | 0x20 == UInt8(ascii: "e") || count == limit { break }
            guard byte &- 0x30 < 10, count > 0 || byte != 0x30 else { continue }
            number = number * 10 + Int128(byte - 0x30)
            count += 1
        }
        return (number, count)
    }

    private static func printed(_ value: Double, digits: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 40) { text in
            let length = withVaList([digits, value]) { vsnprintf(text.baseAddress, 40, "%.*g", $0) }
            return String(decoding: UnsafeRawBufferPointer(start: text.baseAddress, count: Int(length)), as: UTF8.self)
        }
    }

    /// Returns the value as a whole number divided by powers of two, because SQLite reads no decimal near the smallest values
    /// exactly.
    private static func quotient(_ value: Double) -> String {
        var number = value, exponent = 52 - Int(value.exponent), divisions = ""
        while exponent > 0 {
            let divisor = Double(sign: .plus, exponent: min(exponent, 60), significand: 1)
            (number, exponent) = (number * divisor, exponent - 60)
            divisions += " / \(printed(divisor, digits: 20)).0"
        }
        return "(\(printed(number, digits: 20)).0\(divisions))"
    }
}
