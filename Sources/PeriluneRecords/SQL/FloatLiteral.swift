internal import Glibc

/// The text of floating-point numbers, for every place that shows values or writes them into SQL.
///
/// SQLite computes decimals with only a few bits more than a float has. A decimal near the middle between two floats, as the
/// shortest one can be, may therefore be read as the wrong float.
package enum FloatLiteral {
    /// Returns the shortest SQL that SQLite reads as this float. SQLite has no NaN; it is written as NULL.
    package static func text(_ value: Double) -> String {
        if value.isNaN { return "NULL" }
        if value.isInfinite { return value < 0 ? "-9e999" : "9e999" }
        return isTiny(value) ? quotient(value) : decimal(value)
    }

    /// Returns the shortest decimal that Swift and SQLite read back as this float, with a point or an exponent.
    ///
    /// SQLite does not read all decimals below 1e-280 exactly.
    package static func decimal(_ value: Double) -> String {
        let shortest = value.description
        // Whole numbers of up to 15 digits are read exactly.
        if !value.isFinite || value == value.rounded() && abs(value) < 1e15 || isTiny(value) || isNear(shortest, value) {
            return shortest
        }
        let digits = printed(value, digits: 17)
        return digits.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") } ? digits : digits + ".0"
    }

    private static func isTiny(_ value: Double) -> Bool { value != 0 && abs(value) < 1e-280 }

    /// Returns whether a decimal is nearer to a float than to the middle between that float and the next one, by more than
    /// SQLite's rounding error.
    private static func isNear(_ decimal: String, _ value: Double) -> Bool {
        let exact = significantDigits(of: printed(value, digits: 18)), error = abs(exact - significantDigits(of: decimal))
        return Double(error) / Double(exact) < 0.45 * (value.ulp / abs(value))
    }

    /// Returns the first 18 digits of a decimal, starting with its first nonzero digit. They fit an integer.
    private static func significantDigits(of decimal: String) -> Int64 {
        var number: Int64 = 0, count = 0
        for byte in decimal.utf8 {
            if byte | 0x20 == UInt8(ascii: "e") || count == 18 { break }
            guard byte &- 0x30 < 10, count > 0 || byte != 0x30 else { continue }
            number = number * 10 + Int64(byte - 0x30)
            count += 1
        }
        while count < 18 { (number, count) = (number * 10, count + 1) }
        return number
    }

    private static func printed(_ value: Double, digits: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 40) { text in
            let length = withVaList([digits, value]) { vsnprintf(text.baseAddress, 40, "%.*g", $0) }
            return String(decoding: UnsafeRawBufferPointer(start: text.baseAddress, count: Int(length)), as: UTF8.self)
        }
    }

    /// Returns the float as a whole number divided by powers of two: near the smallest floats SQLite reads no decimal exactly.
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
