internal import Foundation

/// A scanner that splits SQL text into SQLite's tokens. All code that parses SQL text uses it.
///
/// Any text can be scanned: its tokens follow each other without gaps. The scanner reads each byte only a few times. As in SQLite, the text
/// ends at the first NUL byte.
///
/// The only difference from SQLite concerns text that SQLite rejects: `/*` at the very end of the text is a comment here.
/// - SeeAlso: `sqlite3GetToken` in SQLite's `tokenize.c`. Tests compare the two.
package struct SQLScanner: Sequence, IteratorProtocol {
    /// The text, which is not copied and must outlive the scanner.
    let text: UnsafeBufferPointer<UInt8>
    /// The position at which the next token starts.
    package private(set) var position = 0

    package init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

    /// - Parameter text: A text that is terminated by NUL.
    package init(cString text: UnsafePointer<CChar>) {
        let bytes = UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self)
        self.init(UnsafeBufferPointer(start: bytes, count: strlen(text)))
    }

    package mutating func next() -> SQLToken? {
        let start = position, first = byte(0)
        guard first != 0 else { return nil }
        let (kind, isClosed) = take(first)
        return SQLToken(kind: kind, range: start..<position, isClosed: isClosed)
    }

    /// Returns the next token that is neither whitespace nor a comment.
    package mutating func nextSolid() -> SQLToken? {
        while let token = next() {
            if token.isSolid { return token }
        }
        return nil
    }

    /// Returns the byte at a distance from the current position, or NUL after the end of the text.
    private func byte(_ distance: Int) -> UInt8 {
        position + distance < text.count ? text[position + distance] : 0
    }

    private mutating func skip(while isWanted: (UInt8) -> Bool) {
        while position < text.count, text[position] != 0, isWanted(text[position]) { position += 1 }
    }

    private mutating func take(_ first: UInt8) -> (SQLToken.Kind, isClosed: Bool) {
        switch first {
        case 0x20, 0x09, 0x0A, 0x0C, 0x0D:
            skip(while: \.isSQLSpace)
            return (.blank, true)
        case 0xEF where byte(1) == 0xBB && byte(2) == 0xBF:
            position += 3  // the byte order mark
            return (.blank, true)
        case UInt8(ascii: "-") where byte(1) == first:
            skip { $0 != 0x0A }
            return (.comment, true)
        case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): return (.comment, takeComment())
        case UInt8(ascii: "'"): return (.string, takeQuoted(until: first))
        case UInt8(ascii: "\""), UInt8(ascii: "`"): return (.name, takeQuoted(until: first))
        case UInt8(ascii: "["): return (.name, takeBracketed())
        case UInt8(ascii: "x") where byte(1) == UInt8(ascii: "'"), UInt8(ascii: "X") where byte(1) == UInt8(ascii: "'"):
            return (.blob, takeBlob())
        case UInt8(ascii: "?"):
            position += 1
            skip(while: \.isDigit)
            return (.parameter, true)
        case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"): return (takeNamed(), true)
        case _ where first.isDigit || first == UInt8(ascii: ".") && byte(1).isDigit:
            takeNumber(first)
            return (.number, true)
        case _ where first.isNameByte:
            skip(while: \.isNameByte)
            return (.word, true)
        default: return (takeSign(first), true)
        }
    }

    // MARK: - Delimited tokens

    private mutating func takeComment() -> Bool {
        position += 2
        while byte(0) != 0 {
            position += 1
            if byte(-1) == UInt8(ascii: "*"), byte(0) == UInt8(ascii: "/") {
                position += 1
                return true
            }
        }
        return false
    }

    /// Scans a quoted token, in which a doubled quote is a literal quote. Returns whether the closing quote exists.
    private mutating func takeQuoted(until quote: UInt8) -> Bool {
        position += 1
        while byte(0) != 0 {
            skip { $0 != quote }
            guard byte(0) == quote else { return false }
            position += 1
            if byte(0) != quote { return true }
            position += 1
        }
        return false
    }

    private mutating func takeBracketed() -> Bool {
        skip { $0 != UInt8(ascii: "]") }
        guard byte(0) != 0 else { return false }
        position += 1
        return true
    }

    private mutating func takeBlob() -> Bool {
        position += 2
        skip { $0 != UInt8(ascii: "'") }
        guard byte(0) != 0 else { return false }
        position += 1
        return true
    }

    // MARK: - Undelimited tokens

    /// Scans a number. Letters immediately after it belong to the same, invalid token.
    private mutating func takeNumber(_ first: UInt8) {
        if first == UInt8(ascii: "0"), byte(1) | 0x20 == UInt8(ascii: "x"), byte(2).isHexadecimal {
            position += 2
            skip(while: \.isHexadecimal)
            return
        }
        skip(while: \.isDigit)
        if byte(0) == UInt8(ascii: ".") {
            position += 1
            skip(while: \.isDigit)
        }
        let isSigned = byte(1) == UInt8(ascii: "+") || byte(1) == UInt8(ascii: "-")
        if byte(0) | 0x20 == UInt8(ascii: "e"), byte(isSigned ? 2 : 1).isDigit {
            position += 2
            skip(while: \.isDigit)
        }
        skip(while: \.isNameByte)
    }

    /// Scans `:name`, `@name`, `$name` or `#name`, including Tcl's syntax with `::` and parentheses.
    private mutating func takeNamed() -> SQLToken.Kind {
        position += 1
        var count = 0
        while byte(0) != 0 {
            if byte(0).isNameByte {
                count += 1
                position += 1
            } else if byte(0) == UInt8(ascii: "("), count > 0 {
                position += 1
                skip { !$0.isSQLSpace && $0 != UInt8(ascii: ")") }
                guard byte(0) == UInt8(ascii: ")") else { return .flaw }
                position += 1
                break
            } else if byte(0) == UInt8(ascii: ":"), byte(1) == UInt8(ascii: ":") {
                position += 2
            } else {
                break
            }
        }
        return count > 0 ? .parameter : .flaw
    }

    private mutating func takeSign(_ first: UInt8) -> SQLToken.Kind {
        let length = signLength(first, byte(1))
        position += Swift.max(length, 1)
        return length > 0 ? .sign : .flaw
    }

    private func signLength(_ first: UInt8, _ second: UInt8) -> Int {
        switch (UnicodeScalar(first), UnicodeScalar(second)) {
        case ("-", ">"): byte(2) == UInt8(ascii: ">") ? 3 : 2
        case ("=", "="), ("<", "="), ("<", ">"), ("<", "<"), (">", "="), (">", ">"), ("!", "="), ("|", "|"): 2
        case ("(", _), (")", _), (";", _), (",", _), (".", _), ("=", _), ("<", _), (">", _), ("+", _), ("-", _), ("*", _),
            ("/", _),
            ("%", _), ("&", _), ("|", _), ("~", _):
            1
        default: 0
        }
    }
}

/// A token of SQL text.
package struct SQLToken: Equatable, Sendable {
    package enum Kind: String, Sendable {
        /// Whitespace, or a byte order mark.
        case blank
        case comment
        /// A keyword, or an unquoted name.
        case word
        /// A name in `""`, ` `` ` or `[]`.
        case name
        /// A string in `''`.
        case string
        /// `x'0A'`.
        case blob
        case number
        /// `?`, `?5`, `:name`, `@name`, `$name`.
        case parameter
        /// An operator, a parenthesis, a comma, a semicolon or a dot.
        case sign
        /// Bytes that are not valid in SQL.
        case flaw
    }

    package let kind: Kind
    /// The range of the token in the text.
    package let range: Range<Int>
    /// Whether the closing quote or the end of the comment exists.
    package let isClosed: Bool

    package var isSolid: Bool { kind != .blank && kind != .comment }
}

extension SQLScanner {
    func isSign(_ token: SQLToken?, _ sign: Unicode.Scalar) -> Bool {
        guard let token, token.kind == .sign, token.range.count == 1 else { return false }
        return text[token.range.lowerBound] == UInt8(ascii: sign)
    }

    /// Returns whether a token is one of the given keywords, ignoring case.
    ///
    /// - Parameter words: The keywords in lower case.
    func isWord(_ token: SQLToken?, _ words: String...) -> Bool {
        guard let token, token.kind == .word else { return false }
        return words.contains { isSpelled(token.range, $0) }
    }

    /// Returns whether a token is one of the given names, with or without quotes, ignoring case. Does not allocate memory for the
    /// comparison.
    ///
    /// - Parameter names: The names in lower case, without quotes.
    func isName(_ token: SQLToken?, in names: [String]) -> Bool {
        guard let range = nameRange(token) else { return false }
        return names.contains { isSpelled(range, $0) }
    }

    func isName(_ token: SQLToken?, withPrefix prefix: String) -> Bool {
        guard let range = nameRange(token) else { return false }
        return isSpelled(range.prefix(prefix.utf8.count), prefix)
    }

    /// Returns the range of a name token without its quotes.
    private func nameRange(_ token: SQLToken?) -> Range<Int>? {
        guard let token else { return nil }
        switch token.kind {
        case .word: return token.range
        case .name, .string: return token.isClosed ? token.range.dropFirst().dropLast() : nil
        default: return nil
        }
    }

    /// Returns a token as a name without quotes; `nil` for a token that cannot be a name in SQL.
    package func name(_ token: SQLToken) -> String? {
        switch token.kind {
        case .word: String(decoding: text[token.range], as: UTF8.self)
        case .name, .string: String(decoding: unquoted(token), as: UTF8.self)
        default: nil
        }
    }

    private func unquoted(_ token: SQLToken) -> [UInt8] {
        let quote = text[token.range.lowerBound]
        let inner = text[token.range].dropFirst().dropLast(token.isClosed ? 1 : 0)
        if quote == UInt8(ascii: "[") { return Array(inner) }
        var bytes: [UInt8] = []
        var isDoubled = false
        for byte in inner {
            isDoubled = byte == quote && !isDoubled
            if !isDoubled { bytes.append(byte) }
        }
        return bytes
    }

    private func isSpelled(_ range: Range<Int>, _ word: String) -> Bool {
        range.count == word.utf8.count && zip(text[range], word.utf8).allSatisfy { $0.foldedByte == $1 }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { self &- 0x30 < 10 }
    fileprivate var isHexadecimal: Bool { isDigit || (self | 0x20) &- 0x61 < 6 }
    /// Whether an unquoted name may contain the byte. Digits and `$` cannot be its first byte.
    fileprivate var isNameByte: Bool {
        isDigit || (self | 0x20) &- 0x61 < 26 || self == UInt8(ascii: "_") || self == UInt8(ascii: "$") || self >= 0x80
    }
    var isSQLSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
