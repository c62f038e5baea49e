/// An immutable query: a source with conditions, orders and other parts. Each derivation returns a new request.
///
/// Example:
///
///     let schema = DatabaseSchema(generation: 1)                       // one for each generation of the schema
///     let author = try schema.table("author", in: db)
///     let authors = Request(author, schema: schema)                    // all authors
///     let age = try authors.column("age")                              // Expression
///     let adults = try authors.filter(age.binary(.greaterOrEqual, .value(.integer(18)))).order([Ordering(age)]).limit(10)
///     let compiler = RequestCompiler(schema: schema, plans: plans)     // PlanCache, kept from one generation to the next
///     let compiled = try adults.compiled(by: compiler)                 // .plan.sql, .plan.slots, .values, .plan.root
///
/// - Derivation: this file and `Request+Selection.swift`; keys: `Request+Keys.swift`; subrequests, UNION and common table
///   expressions: `Request+Compound.swift`; associations: `Request+Associations.swift`.
/// - Compilation: `compiled(by:as:)` with a ``RequestForm`` (`.rows`, `.first`, `.count`, `.exists`, `.aggregate`),
///   `compiledUpdate`, `compiledDelete`, and `inlineSQL` for expressions.
/// - All errors are ``RequestError`` with a message for users.
///
/// `@unchecked Sendable`: all properties are immutable except `memo`, which has a mutex.
package final class Request: @unchecked Sendable {
    package let source: RequestSource
    let filter: Expression?
    package let orders: [Ordering]
    package let limit: Int64?
    package let offset: Int64
    /// The parts that few requests use. Derived requests share them until they change.
    let parts: RequestParts
    /// The most recent results of compiling the request.
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

    /// Returns the column with the given name, ignoring case.
    package func column(_ name: String) throws -> Expression { try source.column(named: name) }

    func with(_ change: (inout RequestParts.Values) throws -> Void) rethrows -> Request {
        Request(
            source: source, filter: filter, orders: orders, limit: limit, offset: offset, parts: try parts.changed(change))
    }

    // MARK: - Rows

    /// Returns the request with an additional condition on its rows.
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

    /// Returns the request with the given order instead of its previous one.
    package func order(_ orders: [Ordering]) throws -> Request {
        for order in orders { try checkOrder(order.expression) }
        return try Request(source: source, filter: filter, orders: orders, limit: limit, offset: offset, parts: parts)
            .checkingWindowsOfGroups()
    }

    /// Returns the request with additional ordering terms, which apply to rows that are equal in the previous order.
    package func thenOrder(_ orders: [Ordering]) throws -> Request { try order(self.orders + orders) }

    private func checkOrder(_ expression: Expression) throws {
        if expression.isValue { throw RequestError.argument("cannot order by a value; use a column, an expression or SQL text") }
        if expression.traits.contains(.row) { throw RequestError.argument("list the columns to order by one by one") }
    }

    /// Returns the request in reverse order. Without an order, it is sorted by descending primary key.
    package func reversed() throws -> Request {
        if !orders.isEmpty { return try order(orders.map(\.reversed)) }
        let key = try orderByPrimaryKey()
        return try order(key.orders.map(\.reversed))
    }

    /// Returns the request sorted by primary key, or by rowid if the table has no primary key.
    package func orderByPrimaryKey() throws -> Request { try order(keyColumns().map { Ordering($0) }) }

    package func unordered() -> Request {
        Request(source: source, filter: filter, limit: limit, offset: offset, parts: parts)
    }

    /// Returns the request limited to `limit` rows, after skipping `offset` rows.
    package func limit(_ limit: Int64?, offset: Int64 = 0) throws -> Request {
        guard limit ?? 0 >= 0 else { throw RequestError.argument("a limit cannot be negative: \(limit!)") }
        guard offset >= 0 else { throw RequestError.argument("an offset cannot be negative: \(offset)") }
        return Request(source: source, filter: filter, orders: orders, limit: limit, offset: offset, parts: parts)
    }

    /// Returns the request with an alias for its table, which SQL text and columns can use. Existing expressions of the request
    /// then also refer to the alias.
    package func aliased(_ alias: String) throws -> Request {
        try Expression.checkName(alias, of: "an alias")
        func bound(_ expression: Expression) -> Expression { expression.bound(to: table, alias) }
        return Request(
            source: source.aliased(alias), filter: filter.map(bound), orders: orders.map { $0.map(bound) }, limit: limit,
            offset: offset, parts: parts.isNone ? parts : parts.changed { $0.mapExpressions(bound) })
    }

    /// Returns the request with SQL text as its source instead of the table. The SQL must select the table's columns in order.
    package func reading(sql text: [UInt8], _ arguments: SQLFragment.Arguments) throws -> Request {
        Request(
            source: source.reading(try SQLFragment(text, arguments)), filter: filter, orders: orders, limit: limit,
            offset: offset,
            parts: parts)
    }

    /// Returns the request for the rows associated with a single known row. Columns of the association refer to this request's
    /// own columns.
    ///
    /// - Parameter fromItself: Whether the known row is from the same table.
    package func reached(by identity: AssociationIdentity, fromItself: Bool) -> Request {
        Request(
            source: source.reached(by: identity, fromItself: fromItself), filter: filter, orders: orders, limit: limit,
            offset: offset, parts: parts)
    }
}
