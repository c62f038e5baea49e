/// A piece of SQL that has a value: a column, a bound value, an operation, a function, a sub-request. Immutable.
///
/// - Columns come from ``Request/column(_:)``; values from ``value(_:)``; everything else is made of other expressions: operators
///   in `Expression+Operators.swift`, lists and sub-requests in `Expression+Lists.swift`, functions in
///   `Expression+Functions.swift`, SQL text in `Expression+Text.swift`.
/// - Whatever makes an expression throws ``RequestError`` if it cannot work.
///
/// `@unchecked Sendable`: `kind` changes only in the deinitialiser.
package final class Expression: @unchecked Sendable {
    private(set) var kind: Kind
    /// How deep SQLite's tree of it is.
    let height: Int
    /// How much of SQLite's parser stack it needs.
    let nesting: Int
    let traits: Traits

    enum Kind {
        case value(Value)
        /// Filled in when a prepared request runs.
        case parameter(String)
        /// A column, or the row id (``TableSchema/rowID``), of a source of that table.
        case column(TableSchema, Int, ColumnPlace)
        /// An expression for a source before it got its alias: the table in it refers to that source.
        case bound(Expression)
        /// A column of the result, in ORDER BY.
        case resultColumn(String)
        /// `excluded.column`, in upserts.
        case excluded(TableSchema, Int)
        case unary(UnaryOperator, Expression)
        case binary(BinaryOperator, Expression, Expression)
        /// AND or OR. Chains of thousands lean to one side, and are walked without recursion.
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
        /// Its value is true, false or NULL.
        static let boolean = Traits(rawValue: 1)
        /// It contains an SQL aggregate, outside of sub-requests.
        static let aggregate = Traits(rawValue: 2)
        static let excluded = Traits(rawValue: 4)
        static let resultColumn = Traits(rawValue: 8)
        static let row = Traits(rawValue: 16)
        /// It contains a sub-request.
        static let request = Traits(rawValue: 32)
        /// It contains a value over a window of rows, outside of sub-requests.
        static let window = Traits(rawValue: 64)
        /// The traits that containing expressions inherit.
        static let inherited: Traits = [.aggregate, .excluded, .resultColumn, .request, .window]
    }

    /// An expression without others in it.
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

    /// An expression of the same parts.
    convenience init(copying other: Expression, _ kind: Kind) {
        self.init(kind, other.traits, height: other.height, nesting: other.nesting)
    }

    /// An expression with others in it.
    ///
    /// - Parameter cost: What it adds to the stack of SQLite's parser.
    /// - Throws: ``RequestError`` if it is nested more deeply than SQLite can parse.
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

    /// An operation on two parts; as `make`, but without an array of them.
    @inline(__always)
    static func makeBinary(
        _ kind: Kind, _ traits: Traits, cost: Int, _ a: Expression, _ b: Expression
    ) throws -> Expression {
        let traits = traits.union(a.traits.union(b.traits).intersection(.inherited))
        return try checked(
            Expression(kind, traits, height: max(a.height, b.height) + 1, nesting: max(a.nesting, b.nesting) + cost))
    }

    /// AND or OR: its members may be thousands, and cost no height each.
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

    /// The height that a chain of AND or OR of any length may add: it is written in balanced groups.
    static let groupHeight = 100
    /// SQLite has 1000.
    static let greatestHeight = 800
    /// SQLite's parser has a stack of 100; a statement around needs some.
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

    /// Releases long chains one by one: each inside the other would need a stack as deep as the chain is long.
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

    /// A value, which is bound to the statement. `null` is an expression like others here; comparisons treat it.
    package static func value(_ value: Value) throws -> Expression {
        if case .real(let number) = value, number.isNaN { throw RequestError.argument(nanMessage) }
        if case .boolean = value { return Expression(.value(value), .boolean) }
        return Expression(.value(value))
    }

    /// A value that is passed when a prepared request runs.
    package static func parameter(_ name: String) throws -> Expression {
        try checkName(name, of: "a parameter")
        return Expression(.parameter(name))
    }

    /// `excluded.column`: the value that a conflicting insert would have written.
    package static func excluded(_ column: Int, of table: TableSchema) -> Expression {
        Expression(.excluded(table, column), .excluded)
    }

    /// A column of a table in a request: it belongs to the request's own table, or to the only joined table of that name, or else to a
    /// surrounding request. With an alias, it belongs to the source that has it.
    package static func column(_ position: Int, of table: TableSchema, alias: String? = nil) -> Expression {
        Expression(.column(table, position, alias.map { .alias($0) } ?? .nearest))
    }

    /// A column of the rows that an association leads to.
    package static func column(_ position: Int, of table: TableSchema, of association: AssociationIdentity) -> Expression {
        Expression(.column(table, position, .association(association)))
    }

    var isNull: Bool { if case .value(.null) = kind { true } else { false } }

    /// Whether it is a plain value.
    package var isValue: Bool { if case .value = kind { true } else { false } }

    /// Whether its value is true, false or NULL, though SQLite has numbers.
    package var isBoolean: Bool {
        traits.contains(.boolean) || declaredType.content == .boolean
    }

    var isParameter: Bool { if case .parameter = kind { true } else { false } }

    /// The table and position if it is a column.
    package var columnPosition: (table: TableSchema, position: Int)? {
        if case .column(let table, let position, _) = unbound.kind { (table, position) } else { nil }
    }

    /// The name of a result column with this expression, if the expression has a name.
    package var columnName: String? {
        guard let (table, position) = columnPosition else { return nil }
        return position >= 0 ? table.columns[position].name : table.rowIDName
    }

    /// The name that SQLite gives to a result column of this expression, if it is a column.
    var sqlColumnName: String? {
        guard let (table, position) = columnPosition else { return nil }
        return position >= 0 ? table.columns[position].sqlName : table.rowIDName
    }

    /// Names of aliases, parameters and results: anything that SQL can quote.
    static func checkName(_ name: String, of what: String) throws {
        if name.isEmpty { throw RequestError.argument("the name of \(what) cannot be empty") }
        if name.utf8.contains(0) { throw RequestError.argument("the name of \(what) cannot contain a NUL byte") }
    }
}
