/// A query as an immutable value: its source, conditions and order. Every derivation makes a new request.
///
/// Usage:
///
///     let schema = DatabaseSchema(generation: 1)                       // one for each generation of the schema
///     let author = try schema.table("author", in: db)
///     let authors = Request(author, schema: schema)                    // all authors
///     let age = try authors.column("age")                              // Expression
///     let adults = try authors.filter(age.binary(.greaterOrEqual, .value(.integer(18)))).order([Ordering(age)]).limit(10)
///     let compiler = RequestCompiler(schema: schema, plans: plans)     // PlanCache, kept from one generation to the next
///     let compiled = try adults.compiled(by: compiler)                 // .plan.sql, .plan.slots, .values, .plan.root
///
/// - Deriving: this file and `Request+Selection.swift`; keys: `Request+Keys.swift`; subrequests, UNION, common tables:
///   `Request+Compound.swift`; associations: `Request+Associations.swift`.
/// - Compiling: `compiled(by:as:)` with a ``RequestForm`` (`.rows`, `.first`, `.count`, `.exists`, `.aggregate`),
///   `compiledUpdate`, `compiledDelete`, `inlineSQL` of expressions.
/// - All errors are ``RequestError``s with a message for users.
///
/// `@unchecked Sendable`: immutable except for `memo`, which a lock guards.
package final class Request: @unchecked Sendable {
    package let source: RequestSource
    let filter: Expression?
    package let orders: [Ordering]
    package let limit: Int64?
    package let offset: Int64
    /// The rarely used parts, shared when unchanged.
    let parts: RequestParts
    /// The results of compiling the request.
    let memo = RequestMemo()

    /// Creates a request for all rows of a table or view.
    package convenience init(_ table: TableSchema, alias: String? = nil, schema: DatabaseSchema) {
        self.init(source: RequestSource(table, alias: alias, schema: schema))
    }

    init(
        source: RequestSource, filter: Expression? = nil, orders: [Ordering] = [], limit: Int64? = nil, offset: Int64 = 0,
        parts: RequestParts = .none
    ) {
        self.source = source
        self.filter = filter
        self.orders = orders
        self.limit = limit
        self.offset = offset
        self.parts = parts
    }

    package var table: TableSchema { source.table }

    /// Returns the column with a name, regardless of case.
    package func column(_ name: String) throws -> Expression { try source.column(named: name) }

    func with(_ change: (inout RequestParts.Values) throws -> Void) rethrows -> Request {
        Request(
            source: source, filter: filter, orders: orders, limit: limit, offset: offset, parts: try parts.changed(change))
    }

    // MARK: - Rows

    /// Returns the rows of this request for which a condition holds.
    package func filter(_ condition: Expression) throws -> Request {
        try condition.checkCondition("filter")
        if condition.traits.contains(.window) { return try filterByWindow(condition) }
        if condition.traits.contains(.aggregate) {
            throw RequestError.argument("filter cannot test an aggregate; use having(...) instead")
        }
        return Request(
            source: source, filter: try filter.map { try $0.and(condition) } ?? condition, orders: orders, limit: limit,
            offset: offset, parts: parts)
    }

    /// Returns a request without rows.
    package func none() throws -> Request { try filter(.sql("0")) }

    /// Returns the rows in this order instead of the previous one.
    package func order(_ orders: [Ordering]) throws -> Request {
        for order in orders { try checkOrder(order.expression) }
        return try Request(source: source, filter: filter, orders: orders, limit: limit, offset: offset, parts: parts)
            .checkingWindowsOfGroups()
    }

    /// Returns the rows ordered by additional terms, which apply to rows that are equal in the previous order.
    package func thenOrder(_ orders: [Ordering]) throws -> Request { try order(self.orders + orders) }

    private func checkOrder(_ expression: Expression) throws {
        if expression.isValue { throw RequestError.argument("cannot order by a value; use a column, an expression or SQL text") }
        if expression.traits.contains(.row) { throw RequestError.argument("list the columns to order by one by one") }
    }

    /// Returns the rows in reverse order; without an order, in descending order of the primary key.
    package func reversed() throws -> Request {
        if !orders.isEmpty { return try order(orders.map(\.reversed)) }
        let key = try orderByPrimaryKey()
        return try order(key.orders.map(\.reversed))
    }

    /// Returns the rows in the order of the primary key, or of the row id if the table has no primary key.
    package func orderByPrimaryKey() throws -> Request { try order(keyColumns().map { Ordering($0) }) }

    package func unordered() -> Request {
        Request(source: source, filter: filter, limit: limit, offset: offset, parts: parts)
    }

    /// Returns at most `limit` rows, after skipping `offset` rows.
    package func limit(_ limit: Int64?, offset: Int64 = 0) throws -> Request {
        guard limit ?? 0 >= 0 else { throw RequestError.argument("a limit cannot be negative: \(limit!)") }
        guard offset >= 0 else { throw RequestError.argument("an offset cannot be negative: \(offset)") }
        return Request(source: source, filter: filter, orders: orders, limit: limit, offset: offset, parts: parts)
    }

    /// Returns the request with an alias for its table, for SQL text and for columns with the alias. Expressions that were
    /// created for the table before also refer to the alias.
    package func aliased(_ alias: String) throws -> Request {
        try Expression.checkName(alias, of: "an alias")
        func bound(_ expression: Expression) -> Expression { expression.bound(to: table, alias) }
        return Request(
            source: source.aliased(alias), filter: filter.map(bound), orders: orders.map { $0.map(bound) }, limit: limit,
            offset: offset, parts: parts.isNone ? parts : parts.changed { $0.mapExpressions(bound) })
    }

    /// Returns the request with SQL as its source instead of the table. The SQL must select the columns of the table in order.
    package func reading(sql text: [UInt8], _ arguments: SQLFragment.Arguments) throws -> Request {
        Request(
            source: source.reading(try SQLFragment(text, arguments)), filter: filter, orders: orders, limit: limit,
            offset: offset,
            parts: parts)
    }

    /// Returns the request for rows that an association leads to from a known row. Columns of the association refer to the
    /// request's own columns.
    ///
    /// - Parameter fromItself: Whether the known row is from the same table.
    package func reached(by identity: AssociationIdentity, fromItself: Bool) -> Request {
        Request(
            source: source.reached(by: identity, fromItself: fromItself), filter: filter, orders: orders, limit: limit,
            offset: offset, parts: parts)
    }
}
