/// The Lua tokens of a text, for highlighting and completion. Any text can be tokenized.
///
/// - SeeAlso: Lua 5.4 manual, §3.1.
struct LuaTokens: Sequence, IteratorProtocol {
    enum Kind: Equatable {
        case name(String)
        case string, number, comment, sign
    }

    struct Token: Equatable {
        let kind: Kind
        let range: Range<Int>
        /// Whether a string or comment is closed.
        var isClosed = true
    }

    private let characters: [Character]
    private var position = 0

    init(_ characters: [Character]) {
        self.characters = characters
    }

    mutating func next() -> Token? {
        while position < characters.count, characters[position].isWhitespace { position += 1 }
        guard position < characters.count else { return nil }
        let start = position, first = characters[position]
        if first == "-", peek(1) == "-" {
            position += 2
            let isClosed = takeLongBracket() ?? takeLine()
            return Token(kind: .comment, range: start..<position, isClosed: isClosed)
        }
        if first == "\"" || first == "'" {
            return Token(kind: .string, range: start..<take(quoted: first), isClosed: isLastClosed)
        }
        if first == "[", let isClosed = takeLongBracket() {
            return Token(kind: .string, range: start..<position, isClosed: isClosed)
        }
        if first.isLetter || first == "_" {
            skip { $0.isLetter || $0.isNumber || $0 == "_" }
            return Token(kind: .name(String(characters[start..<position])), range: start..<position)
        }
        if first.isNumber {
            skip { $0.isHexDigit || $0.isNumber || "xX.pP".contains($0) }
            return Token(kind: .number, range: start..<position)
        }
        position += 1
        return Token(kind: .sign, range: start..<position)
    }

    private var isLastClosed = true

    private func peek(_ distance: Int) -> Character? {
        position + distance < characters.count ? characters[position + distance] : nil
    }

    private mutating func skip(while isWanted: (Character) -> Bool) {
        while position < characters.count, isWanted(characters[position]) { position += 1 }
    }

    private mutating func takeLine() -> Bool {
        skip { $0 != "\n" }
        return true
    }

    /// Skips a quoted string, and returns the position after its closing quote.
    private mutating func take(quoted quote: Character) -> Int {
        position += 1
        isLastClosed = false
        while position < characters.count, characters[position] != "\n" {
            if characters[position] == quote {
                position += 1
                isLastClosed = true
                return position
            }
            position += characters[position] == "\\" ? 2 : 1
        }
        position = Swift.min(position, characters.count)
        return position
    }

    /// Skips a long bracket such as `[[ ]]` or `[=[ ]=]`. Returns whether it is closed; `nil` if no long bracket starts here.
    private mutating func takeLongBracket() -> Bool? {
        guard peek(0) == "[" else { return nil }
        var level = 0
        while peek(level + 1) == "=" { level += 1 }
        guard peek(level + 1) == "[" else { return nil }
        position += level + 2
        let end = ["]"] + Array(repeating: Character("="), count: level) + ["]"]
        while position < characters.count {
            if characters[position...].starts(with: end) {
                position += end.count
                return true
            }
            position += 1
        }
        return false
    }
}
