/// Reads a piece of SQL text so far that it can stand inside other SQL: where its placeholders are, and that it cannot reach beyond
/// its place. It knows strings, quoted names, comments and parentheses, nothing else of SQL.
struct SQLScanner {
    enum Piece: Equatable {
        case text([UInt8])
        /// `?`, or `?NNN`, numbered from 0.
        case positional(Int)
        /// `:name`, `@name` or `$name`, without the sign.
        case named(String)
        /// A comma outside of parentheses.
        case comma
    }

    private let bytes: [UInt8]
    private var position = 0
    private var text: [UInt8] = []
    private var pieces: [Piece] = []
    private var parentheses = 0
    private var positionalCount = 0
    /// How deep parentheses are nested.
    private(set) var deepest = 0

    private init(_ sql: [UInt8]) { bytes = sql }

    /// - Throws: ``RequestError`` for text that is empty, holds several statements, or ends in the middle of something.
    static func scan(_ sql: [UInt8]) throws -> (pieces: [Piece], depth: Int) {
        guard Value.isPlain(sql) else { throw RequestError.argument("SQL text must be valid UTF-8 and without NUL bytes") }
        var scanner = SQLScanner(sql)
        try scanner.scanAll()
        return (scanner.pieces, scanner.deepest)
    }

    private mutating func scanAll() throws {
        while position < bytes.count { try scanNext() }
        if parentheses > 0 { throw error("`(` without `)`") }
        flush()
        let isBlank = pieces.allSatisfy { if case .text(let text) = $0 { text.allSatisfy(Self.isSpace) } else { false } }
        if isBlank { throw RequestError.argument("SQL text is empty") }
    }

    private mutating func scanNext() throws {
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): try quoted(until: byte)
        case UInt8(ascii: "["): try quoted(until: UInt8(ascii: "]"))
        case UInt8(ascii: "-") where next == byte: lineComment()
        case UInt8(ascii: "/") where next == UInt8(ascii: "*"): try blockComment()
        case UInt8(ascii: "("), UInt8(ascii: ")"): try parenthesis(byte)
        case UInt8(ascii: ";"): throw error("`;`: it must be one expression")
        case UInt8(ascii: ",") where parentheses == 0: add(.comma)
        case UInt8(ascii: "?"): try positional()
        case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"): try named(byte)
        case _ where Self.isNameByte(byte): word()
        default: take()
        }
    }

    private var next: UInt8? { position + 1 < bytes.count ? bytes[position + 1] : nil }

    private mutating func take() {
        text.append(bytes[position])
        position += 1
    }

    private mutating func flush() {
        if !text.isEmpty { pieces.append(.text(text)) }
        text = []
    }

    private mutating func add(_ piece: Piece) {
        flush()
        pieces.append(piece)
        position += 1
    }

    private func error(_ what: String) -> RequestError {
        RequestError.argument("SQL text contains \(what): \(Self.excerpt(bytes))")
    }

    static func excerpt(_ sql: [UInt8]) -> String {
        sql.count <= 60 ? "`\(String(decoding: sql, as: UTF8.self))`" : "`\(String(decoding: sql.prefix(57), as: UTF8.self))...`"
    }

    // MARK: - What is passed over

    private mutating func quoted(until end: UInt8) throws {
        take()
        while position < bytes.count {
            let byte = bytes[position]
            take()
            guard byte == end else { continue }
            // A doubled quote stands for itself.
            if end != UInt8(ascii: "]"), position < bytes.count, bytes[position] == end { take() } else { return }
        }
        throw error("a quote that does not end")
    }

    /// Left out, so that it cannot swallow what comes after the text.
    private mutating func lineComment() {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
        text.append(UInt8(ascii: " "))
    }

    private mutating func blockComment() throws {
        position += 2
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "*"), next == UInt8(ascii: "/") {
                position += 2
                text.append(UInt8(ascii: " "))
                return
            }
            position += 1
        }
        throw error("a comment that does not end")
    }

    private mutating func parenthesis(_ byte: UInt8) throws {
        parentheses += byte == UInt8(ascii: "(") ? 1 : -1
        if parentheses < 0 { throw error("`)` without `(`") }
        deepest = max(deepest, parentheses)
        take()
    }

    /// Names and numbers are taken whole: `a$b` and `1e5` hold no placeholder.
    private mutating func word() {
        while position < bytes.count, Self.isNameByte(bytes[position]) || bytes[position] == UInt8(ascii: "$") { take() }
    }

    // MARK: - Placeholders

    private mutating func positional() throws {
        position += 1
        var number = 0
        var hasNumber = false
        while position < bytes.count, bytes[position] &- 0x30 < 10, number < 1_000_000 {
            number = number * 10 + Int(bytes[position] - 0x30)
            hasNumber = true
            position += 1
        }
        if hasNumber, number == 0 { throw error("`?0`: placeholders count from 1") }
        if !hasNumber { number = positionalCount + 1 }
        positionalCount = max(positionalCount, number)
        flush()
        pieces.append(.positional(number - 1))
    }

    private mutating func named(_ sign: UInt8) throws {
        position += 1
        let start = position
        while position < bytes.count, Self.isNameByte(bytes[position]) { position += 1 }
        if position == start { throw error("`\(Character(UnicodeScalar(sign)))` without a name") }
        flush()
        pieces.append(.named(String(decoding: bytes[start..<position], as: UTF8.self)))
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
