/// A value for a parameter of an SQL statement. Text is stored as bytes, like Lua strings.
package enum Value: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])
    /// A boolean, which is bound as 1 or 0.
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

    /// The value as an SQL literal, for SQL that must not have parameters.
    var literal: [UInt8] {
        var bytes: [UInt8] = []
        appendLiteral(to: &bytes)
        return bytes
    }

    /// Appends the value as an SQL literal that SQLite reads back as an equal value.
    package func appendLiteral(to output: inout [UInt8]) {
        switch self {
        case .null: output += "NULL".utf8
        case .integer(let value): output += "\(value)".utf8
        case .boolean(let value): output += value ? "1".utf8 : "0".utf8
        case .real(let value): output += FloatLiteral.text(value).utf8
        case .text(let bytes) where Self.isPlain(bytes): output.append(bytes, inQuotes: UInt8(ascii: "'"))
        // SQL text cannot contain NUL bytes or invalid UTF-8, so such a text is written as a BLOB that is cast to TEXT.
        case .text(let bytes): output += Array("CAST(".utf8) + Self.hexadecimal(bytes) + Array(" AS TEXT)".utf8)
        case .blob(let bytes): output += Self.hexadecimal(bytes)
        }
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

    /// Returns whether a text can be written into SQL and JSON: it must be valid UTF-8 without NUL bytes.
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

    /// The type of the value for error messages, which never reveal bound values.
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

extension [UInt8] {
    /// Appends bytes in quotes, doubling any quotes among the bytes.
    package mutating func append(_ bytes: [UInt8], inQuotes quote: UInt8) {
        append(quote)
        for byte in bytes {
            if byte == quote { append(quote) }
            append(byte)
        }
        append(quote)
    }
}
