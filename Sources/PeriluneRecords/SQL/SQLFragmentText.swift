/// SQL text with placeholders that will be inserted into a larger statement. The initializer checks that the text cannot change
/// the meaning of the SQL around it.
package struct SQLFragmentText: Sendable {
    package enum Piece: Equatable, Sendable {
        /// Text without comments: an unterminated comment would swallow the SQL that follows.
        case text([UInt8])
        /// `?` or `?NNN`, as an index that starts at 0.
        case positional(Int)
        /// `:name`, `@name` or `$name`, without the prefix.
        case named(String)
        /// A comma outside of parentheses.
        case comma
    }

    package let pieces: [Piece]
    /// The ranges of the placeholders in the text, in order.
    package let placeholders: [Range<Int>]
    /// The maximum depth of nested parentheses.
    package let depth: Int

    /// The reason why a text cannot be part of a larger statement. The text completes the sentence "the SQL contains ...".
    package struct Flaw: Error, Equatable {
        package let text: String
    }

    /// - Parameter sql: Valid UTF-8 without NUL bytes.
    /// - Throws: ``Flaw`` for more than one statement, and for text that ends inside a token or parentheses.
    package init(_ sql: [UInt8]) throws(Flaw) {
        var reader = Reader()
        var flaw: Flaw?
        sql.withUnsafeBufferPointer { bytes in
            do throws(Flaw) { try reader.read(bytes) } catch { flaw = error }
        }
        if let flaw { throw flaw }
        pieces = reader.pieces
        placeholders = reader.placeholders
        depth = reader.deepest
    }
}

private struct Reader {
    var pieces: [SQLFragmentText.Piece] = []
    var placeholders: [Range<Int>] = []
    var deepest = 0
    private var text: [UInt8] = []
    private var parentheses = 0
    private var positionalCount = 0

    mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(SQLFragmentText.Flaw) {
        for token in SQLScanner(bytes) {
            let part = bytes[token.range]
            guard token.isClosed else { throw flaw(token.kind == .comment ? "an unterminated comment" : "an unterminated quote") }
            switch token.kind {
            case .comment: text.append(UInt8(ascii: " "))
            case .parameter: try add(placeholder: part, token.range)
            case .sign: try add(sign: part)
            case .flaw where Self.namedSigns.contains(part.first!):
                throw flaw("`\(String(decoding: part, as: UTF8.self))` without a name")
            default: text.append(contentsOf: part)
            }
        }
        if parentheses > 0 { throw flaw("`(` without `)`") }
        flush()
    }

    private static let namedSigns = Set(":@$#".utf8)

    private func flaw(_ text: String) -> SQLFragmentText.Flaw { SQLFragmentText.Flaw(text: text) }

    private mutating func flush() {
        if !text.isEmpty { pieces.append(.text(text)) }
        text = []
    }

    private mutating func add(_ piece: SQLFragmentText.Piece) {
        flush()
        pieces.append(piece)
    }

    private mutating func add(sign: Slice<UnsafeBufferPointer<UInt8>>) throws(SQLFragmentText.Flaw) {
        switch sign.first! {
        case UInt8(ascii: ";"): throw flaw("`;`: it must be one expression")
        case UInt8(ascii: ",") where parentheses == 0: return add(.comma)
        case UInt8(ascii: "("): parentheses += 1
        case UInt8(ascii: ")"): parentheses -= 1
        default: break
        }
        if parentheses < 0 { throw flaw("`)` without `(`") }
        deepest = max(deepest, parentheses)
        text.append(contentsOf: sign)
    }

    private mutating func add(
        placeholder: Slice<UnsafeBufferPointer<UInt8>>, _ range: Range<Int>
    ) throws(SQLFragmentText.Flaw) {
        placeholders.append(range)
        let name = String(decoding: placeholder.dropFirst(), as: UTF8.self)
        guard placeholder.first == UInt8(ascii: "?") else { return add(.named(name)) }
        guard !name.isEmpty else { return addPositional(positionalCount + 1) }
        guard let number = Int(name), number <= Self.highestNumber else { throw flaw("`?\(name)`, whose number is too high") }
        if number == 0 { throw flaw("`?0`: placeholders count from 1") }
        addPositional(number)
    }

    /// The highest parameter number that SQLite allows by default.
    private static let highestNumber = 32_766

    private mutating func addPositional(_ number: Int) {
        positionalCount = max(positionalCount, number)
        add(.positional(number - 1))
    }
}
