internal import Foundation

/// A streaming scanner for the members of a JSON object, in which strings may be larger than memory.
///
/// The scanner finds only where values end. `JSONDecoder` validates the short values.
struct JSONObjectScanner {
    private var scanner: ByteScanner
    private var hasMembers = false

    init(_ scanner: ByteScanner) {
        self.scanner = scanner
    }

    /// Consumes the opening brace. Returns whether the next character was a brace.
    mutating func begin() throws -> Bool {
        try skipSpace()
        return try scanner.next() == UInt8(ascii: "{")
    }

    /// Consumes the next key and the colon, and returns the key with escape sequences intact. Returns `nil` at the closing brace or an
    /// unexpected character, which ``isAtEnd()`` distinguishes.
    mutating func nextKey() throws -> String? {
        try skipSpace()
        if hasMembers {
            guard try scanner.peek() == UInt8(ascii: ",") else { return nil }
            _ = try scanner.next()
            try skipSpace()
        }
        hasMembers = true
        guard try scanner.peek() == UInt8(ascii: "\""), let quoted = try takeValue(limitInBytes: 1000) else { return nil }
        try skipSpace()
        guard try scanner.next() == UInt8(ascii: ":") else { return nil }
        try skipSpace()
        return String(validating: quoted.dropFirst().dropLast(), as: UTF8.self)
    }

    /// Consumes the closing brace. Returns whether the text ends after it.
    mutating func isAtEnd() throws -> Bool {
        try skipSpace()
        guard try scanner.next() == UInt8(ascii: "}") else { return false }
        try skipSpace()
        return try scanner.peek() == nil
    }

    /// Returns whether the next value is a string.
    mutating func isAtString() throws -> Bool {
        try scanner.peek() == UInt8(ascii: "\"")
    }

    /// Consumes a string, and passes its contents to a closure in pieces. Backslashes are dropped, which is sufficient for base64, in
    /// which only the slash can be escaped.
    ///
    /// - Returns: Whether the closing quotation mark was found.
    mutating func takeString(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        _ = try scanner.next()
        var (isEscaped, hasEnded) = (false, false)
        while !hasEnded {
            let isThere = try scanner.takePiece { piece in
                if isEscaped {
                    isEscaped = false
                    try body(UnsafeRawBufferPointer(rebasing: piece[..<1]))
                    return 1
                }
                let end = piece.firstIndex { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") } ?? piece.count
                try body(UnsafeRawBufferPointer(rebasing: piece[..<end]))
                guard end < piece.count else { return end }
                if piece[end] == UInt8(ascii: "\"") { hasEnded = true } else { isEscaped = true }
                return end + 1
            }
            guard isThere else { return false }
        }
        return true
    }

    /// Returns the source text of a value; `nil` if the value is incomplete or exceeds the limit.
    mutating func takeValue(limitInBytes: Int) throws -> [UInt8]? {
        var (value, depth, isInString) = ([UInt8](), 0, false)
        while let byte = try scanner.peek() {
            if !isInString, depth == 0, !value.isEmpty, Self.endsValue(byte) { return value }
            guard value.count < limitInBytes else { return nil }
            _ = try scanner.next()
            value.append(byte)
            if isInString {
                if byte == UInt8(ascii: "\\"), let escaped = try scanner.next() { value.append(escaped) }
                isInString = byte != UInt8(ascii: "\"")
            } else {
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
            }
            guard depth >= 0 else { return nil }
            if depth == 0, !isInString, [UInt8(ascii: "\""), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(byte) {
                return value
            }
        }
        return nil
    }

    /// Returns whether a byte ends a number, `true`, `false` or `null`.
    private static func endsValue(_ byte: UInt8) -> Bool {
        [UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(byte) || isSpace(byte)
    }

    private mutating func skipSpace() throws {
        while let byte = try scanner.peek(), Self.isSpace(byte) { _ = try scanner.next() }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        [UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t")].contains(byte)
    }
}
