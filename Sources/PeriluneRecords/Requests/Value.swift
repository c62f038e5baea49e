/// A value of SQLite that a request binds. Text is bytes, as the strings of Lua are.
package enum Value: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])
    /// Bound as 1 or 0.
    case boolean(Bool)

    package static func text(_ text: String) -> Value { .text(Array(text.utf8)) }
}

extension Value {
    var isNull: Bool { if case .null = self { true } else { false } }

    var isNumber: Bool {
        switch self {
        case .integer, .real, .boolean: true
        case .null, .text, .blob: false
        }
    }

    /// The value as an SQL literal, for SQL that can bind none.
    var literal: [UInt8] {
        switch self {
        case .null: Array("NULL".utf8)
        case .integer(let value): Array("\(value)".utf8)
        case .boolean(let value): Array(value ? "1".utf8 : "0".utf8)
        case .real(let value): Self.literal(value)
        case .text(let bytes): Self.literal(bytes)
        case .blob(let bytes): Self.hexadecimal(bytes)
        }
    }

    private static func literal(_ number: Double) -> [UInt8] {
        if number.isInfinite { return Array(number < 0 ? "-9e999".utf8 : "9e999".utf8) }
        return Array("\(number)".utf8)
    }

    /// SQL cannot carry NULs, and what compiles it wants UTF-8, so other bytes are written as hexadecimal digits.
    private static func literal(_ text: [UInt8]) -> [UInt8] {
        guard isPlain(text) else {
            return Array("CAST(".utf8) + hexadecimal(text) + Array(" AS TEXT)".utf8)
        }
        var result: [UInt8] = [UInt8(ascii: "'")]
        for byte in text {
            if byte == UInt8(ascii: "'") { result.append(byte) }
            result.append(byte)
        }
        result.append(UInt8(ascii: "'"))
        return result
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        var result = Array("x'".utf8)
        for byte in bytes {
            result.append(digits[Int(byte >> 4)])
            result.append(digits[Int(byte & 15)])
        }
        result.append(UInt8(ascii: "'"))
        return result
    }

    /// Whether the text can stand in SQL and in JSON: UTF-8 without NULs.
    static func isPlain(_ text: [UInt8]) -> Bool {
        text.withUnsafeBufferPointer { bytes in
            var isASCII = true
            for byte in bytes {
                if byte == 0 { return false }
                if byte >= 0x80 { isASCII = false }
            }
            return isASCII || String(validating: bytes, as: UTF8.self) != nil
        }
    }

    /// The value as messages show it: its type alone, since values bound to SQL are not shown.
    var typeName: String {
        switch self {
        case .null: "null"
        case .integer: "an integer"
        case .real: "a float"
        case .text: "a string"
        case .blob: "a blob"
        case .boolean: "a boolean"
        }
    }
}
