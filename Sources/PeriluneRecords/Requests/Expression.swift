/// An immutable SQL expression: a column, a bound value, an operator, a function, or a subrequest.
///
/// - Columns come from ``Request/column(_:)``, values from ``value(_:)``. Other expressions are composed of these: operators in
///   `Expression+Operators.swift`, lists and subrequests in `Expression+Lists.swift`, functions in `Expression+Functions.swift`, SQL text
///   in `Expression+Text.swift`.
/// - Functions that create an expression throw ``RequestError`` if it is invalid.
///
/// `@unchecked Sendable`: `kind` changes only in the deinitializer.
package final class Expression: @unchecked Sendable {
    private(set) var kind: Kind
    /// The height of the expression tree that SQLite builds.
    let height: Int
    /// The space that the expression needs on the parser stack of SQLite.
    let nesting: Int
    let traits: Traits

    enum Kind {
        case value(Value)
        /// A named parameter, which is bound each time a prepared request runs.
        case parameter(String)
        /// A column of a source with the given table; the position ``TableSchema/rowID`` means the rowid.
        case column(TableSchema, Int, ColumnPlace)
        /// An expression that was created before its source got an alias: the table in it means that source.
        case bound(Expression)
        /// A result column by its name, in ORDER BY.
        case resultColumn(String)
        /// A column of the row that an upsert tries to insert: `excluded.column`.
        case excluded(TableSchema, Int)
        case unary(UnaryOperator, Expression)
        case binary(BinaryOperator, Expression, Expression)
        /// An AND or OR. Chains may have thousands of operands nested on one side, so they are walked without recursion.
        case logical(isAnd: Bool, Expression, Expression)
        case between(Expression, Expression, Expression, isNegated: Bool)
        case like(LikeOperator, Expression, Expression, escape: Expression?, isNegated: Bool)
        case inValues(Expression, ValueList, isNegated: Bool)
        case inExpressions(Expression, [Expression], isNegated: Bool)
        case inRequest(Expression, Request, isNegated: Bool)
        case keys(KeyList)
        case exists(Request, isNegated: Bool)
        case request(Request)
        case function(FunctionCall)
        case cast(Expression, String)
        case collation(Expression, String)
        case choice(Choice)
        case fragment(SQLFragment)
        case row([Expression])
        case aggregate(AssociationAggregate)
    }

    struct Traits: OptionSet {
        let rawValue: UInt16
        /// The value is always true, false or NULL.
        static let boolean = Traits(rawValue: 1)
        /// The expression contains an SQL aggregate outside of subrequests.
        static let aggregate = Traits(rawValue: 2)
        static let excluded = Traits(rawValue: 4)
        static let resultColumn = Traits(rawValue: 8)
        static let row = Traits(rawValue: 16)
        /// The expression contains a subrequest.
        static let request = Traits(rawValue: 32)
        /// The expression contains a window function outside of subrequests.
        static let window = Traits(rawValue: 64)
        /// The traits of operands that an expression inherits.
        static let inherited: Traits = [.aggregate, .excluded, .resultColumn, .request, .window]
    }

    /// Creates an expression without operands.
    init(_ kind: Kind, _ traits: Traits = []) {
        self.kind = kind
        self.traits = traits
        height = 1
        nesting = 0
    }

    private init(_ kind: Kind, _ traits: Traits, height: Int, nesting: Int) {
        self.kind = kind
        self.traits = traits
        self.height = height
        self.nesting = nesting
    }

    /// Creates a copy with the same operands and traits but a different kind.
    convenience init(copying other: Expression, _ kind: Kind) {
        self.init(kind, other.traits, height: other.height, nesting: other.nesting)
    }

    /// Returns an expression with operands.
    ///
    /// - Parameter cost: The space that it adds on the stack of SQLite's parser.
    /// - Throws: ``RequestError`` if the expression is nested too deeply for SQLite's parser.
    static func make(
        _ kind: Kind, _ traits: Traits = [], cost: Int, over parts: Expression...
    ) throws -> Expression {
        try make(kind, traits, cost: cost, overAll: parts)
    }

    static func make(
        _ kind: Kind, _ traits: Traits = [], cost: Int, overAll parts: [Expression], requests: [Request] = []
    ) throws -> Expression {
        var height = 0
        var nesting = 0
        var traits = traits
        for part in parts {
            height = max(height, part.height)
            nesting = max(nesting, part.nesting)
            traits.formUnion(part.traits.intersection(.inherited))
        }
        if !requests.isEmpty { traits.insert(.request) }
        for request in requests {
            height = max(height, request.height)
            nesting = max(nesting, request.nesting)
        }
        return try checked(Expression(kind, traits, height: height + 1, nesting: nesting + cost))
    }

    /// Returns an expression with two operands, like `make`, without allocating an array.
    @inline(__always)
    static func makeBinary(
        _ kind: Kind, _ traits: Traits, cost: Int, _ a: Expression, _ b: Expression
    ) throws -> Expression {
        let traits = traits.union(a.traits.union(b.traits).intersection(.inherited))
        return try checked(
            Expression(kind, traits, height: max(a.height, b.height) + 1, nesting: max(a.nesting, b.nesting) + cost))
    }

    /// Returns an AND or OR. A chain may have thousands of operands without increasing the height.
    static func makeLogical(isAnd: Bool, _ a: Expression, _ b: Expression) throws -> Expression {
        func height(_ part: Expression) -> Int { part.isLogical(isAnd: isAnd) ? part.height : part.height + Self.groupHeight }
        return try checked(
            Expression(
                .logical(isAnd: isAnd, a, b), [.boolean, a.traits.union(b.traits).intersection(.inherited)],
                height: max(height(a), height(b)), nesting: max(nestingInside(a, isAnd), nestingInside(b, isAnd))))
    }

    private static func nestingInside(_ part: Expression, _ isAnd: Bool) -> Int {
        part.isLogical(isAnd: isAnd) ? part.nesting : part.nesting + 3
    }

    func isLogical(isAnd: Bool) -> Bool {
        if case .logical(isAnd, _, _) = kind { true } else { false }
    }

    /// The height that a chain of AND or OR adds, whatever its length, because it is written as balanced groups.
    static let groupHeight = 100
    /// The maximum height. SQLite's own limit is 1000.
    static let greatestHeight = 800
    /// The maximum space on the parser's stack. SQLite's own limit is 100, of which the rest of the statement needs some.
    static let greatestNesting = 80

    private static func checked(_ expression: Expression) throws -> Expression {
        guard expression.height <= greatestHeight, expression.nesting <= greatestNesting else {
            throw RequestError(
                "too_deep",
                "the expression is nested too deeply for SQLite; move a part of it into a common table expression, "
                    + "or combine long lists with `all` or `any`")
        }
        return expression
    }

    deinit {
        guard case .logical = kind else { return }
        releaseChain()
    }

    /// Releases a long chain iteratively: recursive release would overflow the stack.
    private func releaseChain() {
        var pending: [Expression] = []
        if case .logical(_, let a, let b) = kind { pending = [a, b] }
        kind = .value(.null)
        while var expression = pending.popLast() {
            guard case .logical(_, let a, let b) = expression.kind, isKnownUniquelyReferenced(&expression) else { continue }
            pending.append(a)
            pending.append(b)
            expression.kind = .value(.null)
        }
    }
}

// MARK: - Leaves

extension Expression {
    static let nanMessage = "NaN cannot be compared or stored: SQLite would convert it to NULL"

    /// Returns a value that the statement binds. Null is allowed; comparisons treat it specially.
    package static func value(_ value: Value) throws -> Expression {
        if case .real(let number) = value, number.isNaN { throw RequestError.argument(nanMessage) }
        if case .boolean = value { return Expression(.value(value), .boolean) }
        return Expression(.value(value))
    }

    /// Returns a named parameter, which is bound each time a prepared request runs.
    package static func parameter(_ name: String) throws -> Expression {
        try checkName(name, of: "a parameter")
        return Expression(.parameter(name))
    }

    /// Returns `excluded.column`: the value that the conflicting INSERT would have written.
    package static func excluded(_ column: Int, of table: TableSchema) -> Expression {
        Expression(.excluded(table, column), .excluded)
    }

    /// Returns a column of a table. Without an alias, it refers to the request's own table, otherwise to the only joined table with that
    /// name, or else to an enclosing request. With an alias, it refers to the source with that alias.
    package static func column(_ position: Int, of table: TableSchema, alias: String? = nil) -> Expression {
        Expression(.column(table, position, alias.map { .alias($0) } ?? .nearest))
    }

    /// Returns a column of the rows that an association leads to.
    package static func column(_ position: Int, of table: TableSchema, of association: AssociationIdentity) -> Expression {
        Expression(.column(table, position, .association(association)))
    }

    var isNull: Bool { if case .value(.null) = kind { true } else { false } }

    /// Whether the expression is a bound value.
    package var isValue: Bool { if case .value = kind { true } else { false } }

    /// Whether the value is a boolean or NULL. SQLite itself represents booleans as integers.
    package var isBoolean: Bool {
        traits.contains(.boolean) || declaredType.content == .boolean
    }

    var isParameter: Bool { if case .parameter = kind { true } else { false } }

    /// The table and position of the column, if the expression is a column.
    package var columnPosition: (table: TableSchema, position: Int)? {
        if case .column(let table, let position, _) = unbound.kind { (table, position) } else { nil }
    }

    /// The name of the column in results; `nil` if the expression is not a column.
    package var columnName: String? {
        guard let (table, position) = columnPosition else { return nil }
        return position >= 0 ? table.columns[position].name : table.rowIDName
    }

    /// The name that SQLite gives to the column in results; `nil` if the expression is not a column.
    var sqlColumnName: String? {
        guard let (table, position) = columnPosition else { return nil }
        return position >= 0 ? table.columns[position].sqlName : table.rowIDName
    }

    /// Checks the name of an alias, a parameter or a result column. Any name that SQL can quote is valid.
    static func checkName(_ name: String, of what: String) throws {
        if name.isEmpty { throw RequestError.argument("the name of \(what) cannot be empty") }
        if name.utf8.contains(0) { throw RequestError.argument("the name of \(what) cannot contain a NUL byte") }
    }
}
