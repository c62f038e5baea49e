/// Functions that escape, measure and shorten text for a terminal.
package enum DisplayText {
    /// Converts bytes to text on one line. Escapes control characters, characters that change the text direction, and invalid UTF-8.
    ///
    /// - Parameter keepingLineBreaks: Whether to keep line feeds instead of escaping them.
    package static func escaped(_ bytes: [UInt8], keepingLineBreaks: Bool = false) -> String {
        if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return String(decoding: bytes, as: UTF8.self) }
        // Collects bytes, because appending scalars to a string's view copies the string each time.
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for piece in UTF8Pieces(bytes: bytes) {
            switch piece {
            case .scalar("\n") where keepingLineBreaks: text.append(UInt8(ascii: "\n"))
            case .scalar(let scalar) where isUnsafe(scalar): text.append(contentsOf: escape(scalar).utf8)
            case .scalar(let scalar): text.append(contentsOf: String(scalar).utf8)
            case .invalid(let byte): text.append(contentsOf: hexadecimalEscape(byte).utf8)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Escapes text in the same way as bytes.
    package static func escaped(_ text: String, keepingLineBreaks: Bool = false) -> String {
        escaped(Array(text.utf8), keepingLineBreaks: keepingLineBreaks)
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        case _ where scalar.value < 0x80: hexadecimalEscape(UInt8(scalar.value))
        default: "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
        }
    }

    private static func hexadecimalEscape(_ byte: UInt8) -> String {
        "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        // Direction marks, embeddings and isolates, line separators, and the byte order mark.
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }

    // MARK: - Width

    /// Returns the number of columns that text occupies on a terminal.
    package static func width(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + width($1) }
    }

    /// Shortens text to a maximum number of columns. Shortened text ends with an ellipsis.
    package static func cut(_ text: String, to maximalWidth: Int, ellipsis: String) -> String {
        guard width(text) > maximalWidth else { return text }
        let room = maximalWidth - width(ellipsis)
        var used = 0
        let shown = text.prefix { character in
            used += width(character)
            return used <= room
        }
        return shown + ellipsis
    }

    /// Returns the number of columns that a character occupies: 0 for a combining mark without a base character, 2 for a wide character, or
    /// else 1.
    package static func width(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        // The variation selector requests the emoji style: ❤️ instead of ❤.
        if scalars.contains("\u{FE0F}") { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return isWide(first) ? 2 : 1
        }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        guard value >= 0x1100 else { return false }
        return scalar.properties.isEmojiPresentation || wideRanges.contains { $0.contains(value) }
    }

    /// The characters with East Asian Width W or F in Unicode 15, without emoji. Adjacent blocks are merged.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x2E99, 0x2E9B...0x2EF3, 0x2F00...0x2FD5, 0x2FF0...0x303E,
        0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF,
        0x1F1E6...0x1F1FF, 0x1F200...0x1F265, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
    ]
}

/// A sequence of the Unicode scalars in bytes that may be invalid UTF-8.
package struct UTF8Pieces: Sequence, IteratorProtocol {
    package enum Piece: Equatable {
        case scalar(Unicode.Scalar)
        /// A byte that is not part of a valid scalar.
        case invalid(UInt8)
    }

    private let bytes: [UInt8]
    private var position = 0

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    package mutating func next() -> Piece? {
        guard position < bytes.count else { return nil }
        let first = bytes[position]
        let length = Self.length(startingWith: first)
        if length > 0, position + length <= bytes.count,
            let scalar = Self.decode(bytes[position..<position + length])
        {
            position += length
            return .scalar(scalar)
        }
        position += 1
        return .invalid(first)
    }

    private static func length(startingWith byte: UInt8) -> Int {
        switch byte {
        case 0..<0x80: 1
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 0
        }
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let first = bytes.first, bytes.count > 1 else { return bytes.first.map { Unicode.Scalar($0) } }
        var value = UInt32(first) & (0x7F >> UInt32(bytes.count))
        for byte in bytes.dropFirst() {
            guard byte & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt32(byte & 0x3F)
        }
        // Rejects overlong encodings. `Unicode.Scalar` rejects surrogates and numbers above the maximum.
        let smallest: UInt32 = [0, 0, 0x80, 0x800, 0x10000][bytes.count]
        return value < smallest ? nil : Unicode.Scalar(value)
    }
}
