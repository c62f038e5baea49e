/// A binary operator.
package enum BinaryOperator: UInt8, Sendable, CaseIterable {
    case equal = 1, notEqual, less, lessOrEqual, greater, greaterOrEqual, `is`, isNot, match, regexp
    case add, subtract, multiply, divide, modulo, concatenate
    case bitAnd, bitOr, shiftLeft, shiftRight
    case jsonValue, jsonText

    var sql: StaticString {
        switch self {
        case .equal: " = "
        case .notEqual: " <> "
        case .less: " < "
        case .lessOrEqual: " <= "
        case .greater: " > "
        case .greaterOrEqual: " >= "
        case .is: " IS "
        case .isNot: " IS NOT "
        case .match: " MATCH "
        case .regexp: " REGEXP "
        case .add: " + "
        case .subtract: " - "
        case .multiply: " * "
        case .divide: " / "
        case .modulo: " % "
        case .concatenate: " || "
        case .bitAnd: " & "
        case .bitOr: " | "
        case .shiftLeft: " << "
        case .shiftRight: " >> "
        case .jsonValue: " -> "
        case .jsonText: " ->> "
        }
    }

    /// The precedence of the operator; see ``Precedence``.
    var precedence: UInt8 {
        switch self {
        case .equal, .notEqual, .is, .isNot, .match, .regexp: Precedence.equality
        case .less, .lessOrEqual, .greater, .greaterOrEqual: Precedence.comparison
        case .bitAnd, .bitOr, .shiftLeft, .shiftRight: Precedence.bits
        case .add, .subtract: Precedence.sum
        case .multiply, .divide, .modulo: Precedence.product
        case .concatenate, .jsonValue, .jsonText: Precedence.concatenation
        }
    }

    var isCondition: Bool { rawValue <= BinaryOperator.regexp.rawValue }
    var isOrdering: Bool { precedence == Precedence.comparison }
}

/// The precedences of SQL operators, in ascending order.
enum Precedence {
    static let any: UInt8 = 0
    static let or: UInt8 = 1
    static let and: UInt8 = 2
    static let not: UInt8 = 3
    static let equality: UInt8 = 4
    static let comparison: UInt8 = 5
    static let bits: UInt8 = 6
    static let sum: UInt8 = 7
    static let product: UInt8 = 8
    static let concatenation: UInt8 = 9
    static let collation: UInt8 = 10
    static let unary: UInt8 = 11
    static let primary: UInt8 = 12
}

package enum UnaryOperator: UInt8, Sendable {
    case not = 1, negate, bitNot, isNull, isNotNull

    var isCondition: Bool { self != .negate && self != .bitNot }
}

package enum LikeOperator: UInt8, Sendable {
    case like = 1, glob
}

extension Expression {
    /// Returns `self operator other`. A comparison with null is rewritten to have the intended meaning: `= NULL` becomes `IS NULL`.
    package func binary(_ operation: BinaryOperator, _ other: Expression) throws -> Expression {
        if operation.isCondition {
            if let result = try comparisonWithNull(operation, other) { return result }
            if traits.union(other.traits).contains(.row) { try checkRows(other) }
            return try .makeBinary(.binary(operation, self, other), .boolean, cost: 3, self, other)
        }
        try checkSingle(other)
        return try .makeBinary(.binary(operation, self, other), [], cost: costOfOperands(operation, other), self, other)
    }

    /// Returns the cost of the operands in SQLite's parser stack. Only operands in parentheses need stack space; those in a chain `a + b +
    /// c` do not.
    private func costOfOperands(_ operation: BinaryOperator, _ other: Expression) -> Int {
        if case .binary(let inner, _, _) = kind, inner.precedence >= operation.precedence, !other.isCompound { return 0 }
        return isCompound || other.isCompound ? 3 : 1
    }

    private var isCompound: Bool {
        switch kind {
        case .value, .parameter, .column, .excluded, .resultColumn: false
        default: true
        }
    }

    private func comparisonWithNull(_ operation: BinaryOperator, _ other: Expression) throws -> Expression? {
        guard other.isNull else { return isNull ? try other.comparisonFromNull(operation) : nil }
        switch operation {
        case .equal, .is: return try unary(.isNull)
        case .notEqual, .isNot: return try unary(.isNotNull)
        default:
            throw RequestError.argument("a comparison with null is never true; use isNull or isNotNull")
        }
    }

    /// Returns the comparison `null operator self`.
    private func comparisonFromNull(_ operation: BinaryOperator) throws -> Expression {
        switch operation {
        case .equal, .is: return try unary(.isNull)
        case .notEqual, .isNot: return try unary(.isNotNull)
        default: throw RequestError.argument("a comparison with null is never true")
        }
    }

    private func checkRows(_ other: Expression) throws {
        guard case .row(let a) = kind, case .row(let b) = other.kind, a.count == b.count else {
            throw RequestError.argument("a row of several columns can only be compared with the same number of values")
        }
    }

    private func checkSingle(_ others: Expression...) throws {
        if traits.contains(.row) || others.contains(where: { $0.traits.contains(.row) }) {
            throw RequestError.argument("a row of several columns can only be compared")
        }
    }

    package func unary(_ operation: UnaryOperator) throws -> Expression {
        try checkSingle()
        if operation == .not, let negated = try negated() { return negated }
        return try .make(
            .unary(operation, self), operation.isCondition ? .boolean : [], cost: isCompound ? 2 : 0, over: self)
    }

    /// Returns the negation, if SQL has a special form such as `NOT IN`.
    private func negated() throws -> Expression? {
        switch kind {
        case .value: throw RequestError.argument("expected a condition to negate, got a value")
        case .unary(.isNull, let part): return try part.unary(.isNotNull)
        case .unary(.isNotNull, let part): return try part.unary(.isNull)
        case .between(let a, let b, let c, let flag): return copy(.between(a, b, c, isNegated: !flag))
        case .like(let operation, let a, let b, let escape, let flag):
            return copy(.like(operation, a, b, escape: escape, isNegated: !flag))
        case .inValues(let a, let list, let flag): return copy(.inValues(a, list, isNegated: !flag))
        case .inExpressions(let a, let list, let flag): return copy(.inExpressions(a, list, isNegated: !flag))
        case .inRequest(let a, let request, let flag): return copy(.inRequest(a, request, isNegated: !flag))
        case .exists(let request, let flag): return copy(.exists(request, isNegated: !flag))
        case .aggregate(let aggregate): return aggregate.negated.map { copy(.aggregate($0)) }
        default: return nil
        }
    }

    package func and(_ other: Expression) throws -> Expression { try logical(isAnd: true, other) }
    package func or(_ other: Expression) throws -> Expression { try logical(isAnd: false, other) }

    private func logical(isAnd: Bool, _ other: Expression) throws -> Expression {
        for part in [self, other] { try part.checkCondition(isAnd ? "`&`" : "`|`") }
        return try .makeLogical(isAnd: isAnd, self, other)
    }

    /// Returns the conjunction or disjunction of all conditions.
    package static func combined(isAnd: Bool, _ parts: [Expression]) throws -> Expression {
        guard let first = parts.first else {
            throw RequestError.argument("expected at least one condition to combine, got an empty list")
        }
        return try parts.dropFirst().reduce(first) { try $0.logical(isAnd: isAnd, $1) }
    }

    /// Checks that the expression can be used as a condition.
    func checkCondition(_ place: String) throws {
        if isValue {
            throw RequestError.argument("\(place): expected a condition, got a value, which is true or false for all rows")
        }
        try checkSingle()
    }

    package func between(_ low: Expression, _ high: Expression) throws -> Expression {
        try checkSingle(low, high)
        if low.isNull || high.isNull { throw RequestError.argument("between null and a value is never true") }
        return try .make(.between(self, low, high, isNegated: false), .boolean, cost: 5, over: self, low, high)
    }

    /// Returns a `LIKE` or `GLOB` condition.
    ///
    /// - Parameter escape: The character that makes the next character in the pattern literal. Only for `LIKE`.
    package func like(
        _ operation: LikeOperator = .like, _ pattern: Expression, escape: Expression? = nil
    ) throws -> Expression {
        try checkSingle(pattern)
        if pattern.isNull { throw RequestError.argument("a pattern that is null never matches") }
        if let escape {
            guard case .value(.text(let bytes)) = escape.kind, String(decoding: bytes, as: UTF8.self).unicodeScalars.count == 1
            else { throw RequestError.argument("the escape character must be one character") }
            guard operation == .like else { throw RequestError.argument("a glob pattern has no escape character") }
        }
        return try .make(
            .like(operation, self, pattern, escape: escape, isNegated: false), .boolean, cost: 5, over: self, pattern)
    }

    /// Returns the expression with a collation for comparison and ordering.
    package func collating(_ name: String) throws -> Expression {
        try checkSingle()
        try Self.checkName(name, of: "a collation")
        return try .make(.collation(self, name), cost: 3, over: self)
    }

    package func cast(as type: String) throws -> Expression {
        try checkSingle()
        try Self.checkName(type, of: "a type")
        return try .make(.cast(self, type), cost: 3, over: self)
    }

    private func copy(_ kind: Kind) -> Expression {
        Expression(copying: self, kind)
    }
}
