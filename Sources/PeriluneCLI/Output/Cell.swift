internal import Foundation
internal import Perilune
internal import PeriluneRecords

/// A value in the result of a query, as a boolean or in an SQLite storage class.
enum Cell: Equatable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    /// Text, which may contain NULs and invalid UTF-8.
    case text([UInt8])
    case blob([UInt8])
    /// The value 0 or 1 of a column declared BOOLEAN.
    case boolean(Bool)

    /// Whether the value is a number, which tables align to the right.
    var isNumber: Bool {
        switch self {
        case .integer, .real: true
        case .null, .text, .blob, .boolean: false
        }
    }

    /// The value on one terminal line, with control characters escaped and blobs as SQL literals.
    var displayText: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): CellText.real(value)
        case .text(let bytes): DisplayText.escaped(bytes)
        case .blob(let bytes): CellText.hexadecimal(bytes)
        case .boolean(let value): value ? "true" : "false"
        }
    }
}

// MARK: - Parts of long values

extension Cell {
    /// Returns the length in bytes of the common prefix of two texts or blobs. For texts, the prefix ends at a character boundary.
    func commonLength(with other: Cell) -> Int {
        switch (self, other) {
        case (.blob(let bytes), .blob(let others)): Self.commonLength(bytes, others)
        case (.text(let bytes), .text(let others)): Self.scalarStart(in: bytes, before: Self.commonLength(bytes, others))
        default: 0
        }
    }

    /// Returns a part of a text or blob; a part of a text starts at a character boundary.
    func part(from start: Int, atMost count: Int) -> Cell {
        switch self {
        case .blob(let bytes): .blob(Array(bytes.dropFirst(start).prefix(count)))
        case .text(let bytes): .text(Array(bytes.dropFirst(Self.scalarStart(in: bytes, before: start)).prefix(count)))
        case .null, .integer, .real, .boolean: self
        }
    }

    private static func commonLength(_ bytes: [UInt8], _ others: [UInt8]) -> Int {
        bytes.withUnsafeBytes { bytes in
            others.withUnsafeBytes { others in
                var length = 0
                let end = min(bytes.count, others.count), step = 4096
                while length + step <= end, memcmp(bytes.baseAddress! + length, others.baseAddress! + length, step) == 0 {
                    length += step
                }
                while length < end, bytes[length] == others[length] { length += 1 }
                return length
            }
        }
    }

    /// Returns the nearest UTF-8 character boundary at or before a position.
    private static func scalarStart(in bytes: [UInt8], before place: Int) -> Int {
        let isInside = { (place: Int) in place > 0 && place < bytes.count && bytes[place] & 0xC0 == 0x80 }
        return (0...3).lazy.map { place - $0 }.first { !isInside($0) } ?? place
    }
}

/// Text forms of values that several formats share.
enum CellText {
    /// Returns the shortest digits that read back as the same double, always with a decimal point or exponent.
    static func real(_ value: Double) -> String {
        if value.isInfinite { return value < 0 ? "-Inf" : "Inf" }
        return FloatLiteral.decimal(value)
    }

    /// Returns a blob as an SQL literal: `x'00ff'`.
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits: StaticString = "0123456789abcdef"
        let quote = UInt8(ascii: "'")
        return String(unsafeUninitializedCapacity: bytes.count * 2 + 3) { text in
            text[0] = UInt8(ascii: "x")
            text[1] = quote
            var end = 2
            for byte in bytes {
                text[end] = digits.utf8Start[Int(byte >> 4)]
                text[end + 1] = digits.utf8Start[Int(byte & 15)]
                end += 2
            }
            text[end] = quote
            return end + 1
        }
    }

    /// Returns Base64 with padding according to RFC 4648.
    static func base64(_ bytes: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            bits <<= UInt32(8 * (3 - group.count))
            for position in 0..<4 {
                let isPadding = position > group.count
                text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(bits >> UInt32(18 - 6 * position)) & 63])
            }
        }
        return text
    }
}
