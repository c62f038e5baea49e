/// Parsed SQL text with arguments, which may be any expressions.
package struct SQLFragment: Sendable {
    enum Piece: Sendable {
        case text([UInt8])
        case argument(Expression)
        /// A comma outside of parentheses.
        case comma
    }

    let pieces: [Piece]
    /// The maximum depth of nested parentheses.
    let depth: Int

    /// The arguments for placeholders in SQL text.
    package enum Arguments: Sendable {
        /// The arguments for `?` and `?NNN`, in order.
        case positional([Expression])
        /// The arguments for `:name`, `@name` and `$name`, by name without the prefix.
        case named([String: Expression])

        package static var none: Arguments { .positional([]) }
    }

    /// - Throws: ``RequestError`` if the text cannot be part of a larger statement, or the arguments do not match its
    ///   placeholders.
    package init(_ sql: [UInt8], _ arguments: Arguments) throws {
        let text = try Self.read(sql)
        pieces = try Self.join(text.pieces, with: arguments, in: sql)
        depth = text.depth
    }

    private static func read(_ sql: [UInt8]) throws -> SQLFragmentText {
        guard Value.isPlain(sql) else { throw RequestError.argument("SQL text must be valid UTF-8 and without NUL bytes") }
        do {
            let text = try SQLFragmentText(sql)
            let isBlank = text.pieces.allSatisfy { if case .text(let text) = $0 { text.allSatisfy(\.isSQLSpace) } else { false } }
            if isBlank { throw RequestError.argument("SQL text is empty") }
            return text
        } catch let flaw as SQLFragmentText.Flaw {
            throw RequestError.argument("SQL text contains \(flaw.text): \(excerpt(sql))")
        }
    }

    private static func excerpt(_ sql: [UInt8]) -> String {
        sql.count <= 60 ? "`\(String(decoding: sql, as: UTF8.self))`" : "`\(String(decoding: sql.prefix(57), as: UTF8.self))...`"
    }

    private init(pieces: [Piece], depth: Int) {
        self.pieces = pieces
        self.depth = depth
    }

    private static func join(_ pieces: [SQLFragmentText.Piece], with arguments: Arguments, in sql: [UInt8]) throws -> [Piece] {
        try checkCount(pieces, arguments, in: sql)
        return try pieces.map { piece in
            switch (piece, arguments) {
            case (.text(let text), _): return .text(text)
            case (.comma, _): return .comma
            case (.positional(let index), .positional(let list)): return .argument(list[index])
            case (.named(let name), .named(let values)):
                guard let value = values[name] else {
                    throw RequestError.argument("missing value for `:\(name)` in the SQL text \(excerpt(sql))")
                }
                return .argument(value)
            case (.positional, .named):
                throw RequestError.argument(
                    "the SQL text has `?`, but its arguments are named: \(excerpt(sql))")
            case (.named(let name), .positional):
                throw RequestError.argument(
                    "the SQL text has `:\(name)`, but its arguments have no names: \(excerpt(sql))")
            }
        }
    }

    private static func checkCount(_ pieces: [SQLFragmentText.Piece], _ arguments: Arguments, in sql: [UInt8]) throws {
        switch arguments {
        case .positional(let list):
            let wanted = pieces.reduce(0) { if case .positional(let index) = $1 { max($0, index + 1) } else { $0 } }
            let isNamed = pieces.contains { if case .named = $0 { true } else { false } }
            guard wanted == list.count || (isNamed && list.isEmpty && wanted == 0) else {
                throw RequestError.argument(
                    "the SQL text expects \(wanted) value\(wanted == 1 ? "" : "s"), got \(list.count): "
                        + excerpt(sql))
            }
        case .named(let values):
            let names = pieces.compactMap { if case .named(let name) = $0 { name } else { nil } }
            if let unused = values.keys.sorted().first(where: { !names.contains($0) }) {
                throw RequestError.argument("unused value for `:\(unused)`, which is not in the SQL text \(excerpt(sql))")
            }
        }
    }

    /// Returns the parts of the fragment between top-level commas.
    func splitAtCommas() -> [SQLFragment] {
        var terms: [[Piece]] = [[]]
        for piece in pieces {
            if case .comma = piece { terms.append([]) } else { terms[terms.count - 1].append(piece) }
        }
        return terms.map { SQLFragment(pieces: Self.withoutSpaceBefore($0), depth: depth) }
    }

    private static func withoutSpaceBefore(_ pieces: [Piece]) -> [Piece] {
        guard case .text(let text)? = pieces.first else { return pieces }
        return [.text(Array(text.drop(while: \.isSQLSpace)))] + pieces.dropFirst()
    }

    var arguments: [Expression] { pieces.compactMap { if case .argument(let value) = $0 { value } else { nil } } }

    /// Whether the fragment contains only whitespace.
    var isBlank: Bool {
        pieces.allSatisfy { piece in
            if case .text(let text) = piece { text.allSatisfy(\.isSQLSpace) } else { false }
        }
    }

    /// The text of a fragment without arguments and commas.
    var plainText: String? {
        guard pieces.count == 1, case .text(let text) = pieces[0] else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the fragment without the given words at its end, ignoring case; `nil` if it does not end with these words.
    func removingSuffix(_ words: [String]) -> SQLFragment? {
        guard case .text(let text)? = pieces.last else { return nil }
        var rest = text[...]
        for word in words.reversed() {
            rest = rest.trimmingSpaceAtEnd()
            guard rest.count > word.utf8.count,
                String(decoding: rest.suffix(word.utf8.count), as: UTF8.self).foldedName == word
            else { return nil }
            rest = rest.dropLast(word.utf8.count)
            guard let last = rest.last,
                last.isSQLSpace || last == UInt8(ascii: ")")
                    || last == UInt8(ascii: "\"")
            else { return nil }
        }
        rest = rest.trimmingSpaceAtEnd()
        if rest.isEmpty, pieces.count == 1 { return nil }
        return SQLFragment(pieces: pieces.dropLast() + [.text(Array(rest))], depth: depth)
    }
}

extension ArraySlice<UInt8> {
    fileprivate func trimmingSpaceAtEnd() -> ArraySlice<UInt8> {
        var slice = self
        while let last = slice.last, last.isSQLSpace { slice = slice.dropLast() }
        return slice
    }
}
