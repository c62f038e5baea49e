/// A tokenizer for Lua source text, which omits comments.
struct LuaTokens {
    enum Token: Equatable {
        case name(String)
        case keyword(String)
        case string(String)
        case number
        /// A symbol such as `=` or `..`.
        case sign(String)
    }

    private(set) var tokens: [Token] = []
    /// The line of each token, from 1.
    private(set) var lines: [Int] = []

    private let text: [UInt8]
    private var position = 0
    private var line = 1

    /// Tokenizes source text, which should compile. Invalid text results in arbitrary tokens, without an error.
    init(_ text: [UInt8]) {
        self.text = text
        if text.first == UInt8(ascii: "#") { skipLine() }
        while position < text.count { readOne() }
    }

    private static let keywords: Set<String> = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not",
        "or",
        "repeat", "return", "then", "true", "until", "while",
    ]

    private func byte(_ offset: Int = 0) -> UInt8? {
        position + offset < text.count ? text[position + offset] : nil
    }

    private mutating func add(_ token: Token, line: Int? = nil) {
        tokens.append(token)
        lines.append(line ?? self.line)
    }

    private mutating func skipLine() {
        while let byte = byte(), byte != UInt8(ascii: "\n") { position += 1 }
    }

    private mutating func readOne() {
        guard let byte = byte() else { return }
        switch byte {
        case UInt8(ascii: "\n"):
            line += 1
            position += 1
        case UInt8(ascii: "-") where self.byte(1) == UInt8(ascii: "-"):
            position += 2
            if readLongString() == nil { skipLine() }
        case UInt8(ascii: "\""), UInt8(ascii: "'"): readString(until: byte)
        case UInt8(ascii: "["):
            let start = line
            if let string = readLongString() { add(.string(string), line: start) } else { readSign() }
        case _ where Self.isLetter(byte): readName()
        case _ where Self.isDigit(byte): readNumber()
        case UInt8(ascii: ".") where self.byte(1).map(Self.isDigit) == true: readNumber()
        case 0x21...0x7E: readSign()
        default: position += 1
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private mutating func readName() {
        let start = position
        while let byte = byte(), Self.isLetter(byte) || Self.isDigit(byte) { position += 1 }
        let name = String(decoding: text[start..<position], as: UTF8.self)
        add(Self.keywords.contains(name) ? .keyword(name) : .name(name))
    }

    private mutating func readNumber() {
        var previous: UInt8 = 0
        while let byte = byte() {
            let isExponentSign =
                (byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")) && [0x65, 0x70].contains(previous | 0x20)
            guard Self.isLetter(byte) || Self.isDigit(byte) || byte == UInt8(ascii: ".") || isExponentSign else { break }
            previous = byte
            position += 1
        }
        add(.number)
    }

    private mutating func readString(until quote: UInt8) {
        let start = line
        var bytes: [UInt8] = []
        position += 1
        while let byte = byte(), byte != quote {
            if byte == UInt8(ascii: "\\") { position += 1 }
            if let byte = self.byte() {
                if byte == UInt8(ascii: "\n") { line += 1 }
                bytes.append(byte)
            }
            position += 1
        }
        position += 1
        add(.string(String(decoding: bytes, as: UTF8.self)), line: start)
    }

    /// Reads a long string such as `[[...]]` or `[==[...]==]`. Returns `nil` if the current position is not the start of a long string.
    private mutating func readLongString() -> String? {
        guard byte() == UInt8(ascii: "[") else { return nil }
        var level = 0
        while byte(1 + level) == UInt8(ascii: "=") { level += 1 }
        guard byte(1 + level) == UInt8(ascii: "[") else { return nil }
        position += 2 + level
        let start = position
        while position < text.count {
            if text[position] == UInt8(ascii: "\n") { line += 1 }
            if text[position] == UInt8(ascii: "]"), isClosing(level) {
                defer { position += 2 + level }
                return String(decoding: text[start..<position], as: UTF8.self)
            }
            position += 1
        }
        return String(decoding: text[start...], as: UTF8.self)
    }

    private func isClosing(_ level: Int) -> Bool {
        for offset in 0..<level where byte(1 + offset) != UInt8(ascii: "=") { return false }
        return byte(1 + level) == UInt8(ascii: "]")
    }

    private mutating func readSign() {
        for sign in ["...", "..", "::", "==", "~=", "<=", ">=", "//", "<<", ">>"] where text[position...].starts(with: sign.utf8)
        {
            position += sign.utf8.count
            return add(.sign(sign))
        }
        add(.sign(String(UnicodeScalar(text[position]))))
        position += 1
    }
}
