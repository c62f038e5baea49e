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

    /// Returns whether SQLite reads a decimal as the given value: whether the decimal differs from the value by less than half the distance
    /// to the next value, with a margin for SQLite's rounding error. The error is small for values from 1e-5 to 1e22, because SQLite
    /// computes them with powers of ten that it stores exactly.
    private static func isNear(_ decimal: String, _ value: Double) -> Bool {
        let exact = significantDigits(of: printed(value, digits: 28)), error = exact - significantDigits(of: decimal)
        let limit = (1e-5...1e22).contains(abs(value)) ? 0.499 : 0.49
        return abs(Double(error)) / Double(exact) < limit * (value.ulp / abs(value))
    }

    /// Returns the first 28 digits of a decimal, starting with its first nonzero digit.
    private static func significantDigits(of decimal: String) -> Int128 {
        var number: Int128 = 0, count = 0
        for byte in decimal.utf8 {
            if byte | 0x20 == UInt8(ascii: "e") || count == 28 { break }
            guard byte &- 0x30 < 10, count > 0 || byte != 0x30 else { continue }
            number = number * 10 + Int128(byte - 0x30)
            count += 1
        }
        while count < 28 { (number, count) = (number * 10, count + 1) }
        return number
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
