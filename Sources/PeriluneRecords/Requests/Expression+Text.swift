/// Expressions and ordering terms from SQL text.
extension Expression {
    /// Returns SQL text with its arguments, in parentheses.
    ///
    /// - Throws: ``RequestError`` if the text cannot be part of a larger statement, or its arguments do not match.
    package static func sql(_ text: [UInt8], _ arguments: SQLFragment.Arguments = .none) throws -> Expression {
        try fragment(SQLFragment(text, arguments))
    }

    package static func sql(_ text: String, _ arguments: SQLFragment.Arguments = .none) throws -> Expression {
        try sql(Array(text.utf8), arguments)
    }

    static func fragment(_ fragment: SQLFragment) throws -> Expression {
        try make(.fragment(fragment), cost: 3 + 3 * fragment.depth, overAll: fragment.arguments)
    }
}

/// A term of ORDER BY.
package struct Ordering: Sendable {
    let expression: Expression
    let isDescending: Bool
    /// Whether NULLs sort first; `nil` means SQLite's default, which sorts them first in ascending order.
    let nullsFirst: Bool?

    package init(_ expression: Expression, isDescending: Bool = false, nullsFirst: Bool? = nil) {
        self.expression = expression
        self.isDescending = isDescending
        self.nullsFirst = nullsFirst
    }

    func map(_ change: (Expression) -> Expression) -> Ordering {
        Ordering(change(expression), isDescending: isDescending, nullsFirst: nullsFirst)
    }

    package var reversed: Ordering {
        Ordering(expression, isDescending: !isDescending, nullsFirst: nullsFirst.map { !$0 })
    }

    package func nulls(first: Bool) -> Ordering {
        Ordering(expression, isDescending: isDescending, nullsFirst: first)
    }

    /// Parses ordering terms in SQL text, such as `country, name COLLATE NOCASE DESC NULLS LAST`. Each resulting term can be
    /// reversed.
    package static func terms(
        ofSQL text: [UInt8], _ arguments: SQLFragment.Arguments = .none
    ) throws -> [Ordering] {
        try SQLFragment(text, arguments).splitAtCommas().map(term)
    }

    private static func term(_ fragment: SQLFragment) throws -> Ordering {
        var rest = fragment
        var nullsFirst: Bool?
        var isDescending = false
        if let shorter = rest.removingSuffix(["nulls", "first"]) { (rest, nullsFirst) = (shorter, true) }
        if let shorter = rest.removingSuffix(["nulls", "last"]) { (rest, nullsFirst) = (shorter, false) }
        if let shorter = rest.removingSuffix(["desc"]) {
            (rest, isDescending) = (shorter, true)
        } else if let shorter = rest.removingSuffix(["asc"]) {
            rest = shorter
        }
        guard !rest.isBlank else { throw RequestError.argument("an ordering term is empty") }
        return Ordering(try .fragment(rest), isDescending: isDescending, nullsFirst: nullsFirst)
    }
}
