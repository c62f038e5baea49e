/// A key press or other input from the keyboard.
enum Key: Equatable {
    case text(String)
    /// Pasted text, possibly of several lines.
    case paste(String)
    case enter
    /// Enter with Alt or Shift, or Ctrl-J: always inserts a line break.
    case newLine
    case tab, backTab, backspace, delete, escape
    case left, right, up, down, home, end, pageUp, pageDown
    case wordLeft, wordRight
    /// Ctrl with a lowercase letter, `_` or another character.
    case control(Character)
    /// Alt with a character.
    case alt(Character)
    /// An unsupported escape sequence.
    case unknown
}

/// A decoder that turns terminal input into keys. The bytes may arrive in chunks of any size.
///
/// - SeeAlso: ECMA-48, §5.4 (control sequences); xterm's ctlseqs for keys with modifiers and bracketed paste.
struct KeyDecoder {
    private var pending: [UInt8] = []
    /// The bytes pasted so far; `nil` outside of a paste.
    private var pasted: [UInt8]?

    /// Whether the bytes received so far are an incomplete key or paste. An escape byte is the Esc key if no others follow immediately.
    var isWaiting: Bool { !pending.isEmpty || pasted != nil }
    /// Whether the pending bytes can be decoded only after a timeout, such as a single escape byte.
    var isAmbiguous: Bool { !pending.isEmpty && pasted == nil }

    /// Adds bytes and returns the complete keys.
    mutating func feed(_ bytes: some Sequence<UInt8>) -> [Key] {
        pending += bytes
        var keys: [Key] = []
        while let key = next() { keys.append(key) }
        return keys
    }

    /// Decodes the pending bytes after the timeout, because no more bytes follow.
    mutating func flush() -> [Key] {
        guard pasted == nil, let first = pending.first else { return [] }
        let bytes = pending
        pending = []
        guard first == 0x1B else { return [.text(String(decoding: bytes, as: UTF8.self))] }
        return bytes.count == 1 ? [.escape] : [.unknown]
    }

    private mutating func next() -> Key? {
        if pasted != nil { return nextOfPaste() }
        guard let first = pending.first else { return nil }
        switch first {
        case 0x1B: return nextOfEscape()
        case 0x0D: return take(1, .enter)
        case 0x0A: return take(1, .newLine)
        case 0x09: return take(1, .tab)
        case 0x08, 0x7F: return take(1, .backspace)
        case 0: return take(1, .control(" "))
        case 1...0x1A: return take(1, .control(Character(Unicode.Scalar(first + 0x60))))
        case 0x1B..<0x20: return take(1, .control(Character(Unicode.Scalar(first + 0x40))))
        default: return nextOfText()
        }
    }

    private mutating func take(_ count: Int, _ key: Key) -> Key {
        pending.removeFirst(count)
        return key
    }

    // MARK: - Text

    /// Returns the received text up to the first control character or incomplete UTF-8 character.
    private mutating func nextOfText() -> Key? {
        let end = pending.firstIndex { $0 < 0x20 || $0 == 0x7F } ?? pending.count
        let count = end == pending.count ? Self.completeCount(pending) : end
        guard count > 0 else { return nil }
        return take(count, .text(String(decoding: pending[..<count], as: UTF8.self)))
    }

    /// Returns the number of bytes before an incomplete UTF-8 character at the end.
    private static func completeCount(_ bytes: [UInt8]) -> Int {
        guard let start = bytes.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return bytes.count }
        let length =
            switch bytes[start] {
            case 0xC0...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF7: 4
            default: 1
            }
        return bytes.count - start < length ? start : bytes.count
    }

    // MARK: - Pasting

    private static let pasteStart = Array("\u{1B}[200~".utf8)
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    private mutating func nextOfPaste() -> Key? {
        let all = (pasted ?? []) + pending
        pending = []
        guard let end = Self.range(of: Self.pasteEnd, in: all) else {
            pasted = all
            return nil
        }
        pasted = nil
        pending = Array(all[(end + Self.pasteEnd.count)...])
        return .paste(String(decoding: all[..<end], as: UTF8.self))
    }

    private static func range(of part: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= part.count else { return nil }
        return (0...(bytes.count - part.count)).first { bytes[$0] == part[0] && bytes[$0..<$0 + part.count].elementsEqual(part) }
    }

    // MARK: - Sequences

    private mutating func nextOfEscape() -> Key? {
        guard pending.count > 1 else { return nil }
        switch pending[1] {
        case UInt8(ascii: "["): return nextOfControlSequence()
        case UInt8(ascii: "O"):
            guard pending.count > 2 else { return nil }
            return take(3, Self.key(ofFinal: pending[2], modifier: 1))
        case 0x0D, 0x0A: return take(2, .newLine)
        case 0x7F, 0x08: return take(2, .alt("\u{7F}"))
        case 0x1B: return take(1, .escape)
        case let byte where byte < 0x80: return take(2, .alt(Character(Unicode.Scalar(byte))))
        default: return take(2, .unknown)
        }
    }

    /// Returns the key of a sequence `ESC [ parameters final`.
    private mutating func nextOfControlSequence() -> Key? {
        guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
            // No valid sequence is this long.
            return pending.count > 32 ? take(pending.count, .unknown) : nil
        }
        let sequence = Array(pending[...end])
        pending.removeFirst(sequence.count)
        if sequence == Self.pasteStart {
            pasted = []
            return next()
        }
        let numbers = String(decoding: sequence[2..<end], as: UTF8.self).split(separator: ";").map { Int($0) ?? 0 }
        let modifier = numbers.count > 1 ? numbers[1] : 1
        if sequence[end] == UInt8(ascii: "~") { return Self.key(ofNumber: numbers.first ?? 0, modifier) }
        if sequence[end] == UInt8(ascii: "u"), numbers.first == 13 { return modifier > 1 ? .newLine : .enter }
        return Self.key(ofFinal: sequence[end], modifier: modifier)
    }

    private static func key(ofFinal byte: UInt8, modifier: Int) -> Key {
        let isPlain = modifier == 1
        switch UnicodeScalar(byte) {
        case "A": return .up
        case "B": return .down
        case "C": return isPlain ? .right : .wordRight
        case "D": return isPlain ? .left : .wordLeft
        case "H": return .home
        case "F": return .end
        case "M": return .enter
        case "Z": return .backTab
        default: return .unknown
        }
    }

    private static func key(ofNumber number: Int, _ modifier: Int) -> Key {
        switch number {
        case 1, 7: .home
        case 4, 8: .end
        case 3: modifier > 1 ? .alt("d") : .delete
        case 5: .pageUp
        case 6: .pageDown
        // Terminals that are configured to report modifiers send 27;modifier;13 for Enter with a modifier.
        case 27: modifier > 1 ? .newLine : .unknown
        default: .unknown
        }
    }
}
