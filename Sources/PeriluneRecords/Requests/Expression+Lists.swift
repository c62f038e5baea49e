/// Conditions that test membership in lists, keys and subrequests.
extension Expression {
    /// Returns the condition that the value is in a list. It is false for an empty list. A null in the list is an error.
    package func isIn(values: [Value]) throws -> Expression {
        try checkSingleValue()
        return try .make(.inValues(self, ValueList(values), isNegated: false), .boolean, cost: 5, over: self)
    }

    /// Returns the condition that the value is in a list of expressions.
    package func isIn(members: [Expression]) throws -> Expression {
        try checkSingleValue()
        let values = members.compactMap { if case .value(let value) = $0.kind { value } else { nil } }
        if values.count == members.count { return try isIn(values: values) }
        _ = try ValueList(values)
        return try .make(.inExpressions(self, members, isNegated: false), .boolean, cost: 5, overAll: [self] + members)
    }

    /// Returns the condition that the value is among the results of a request. A row of several columns is compared with the
    /// same number of columns of the request.
    package func isIn(_ request: Request) throws -> Expression {
        let count = if case .row(let parts) = kind { parts.count } else { 1 }
        try request.checkColumnCount(count, for: "is_in")
        return try .make(
            .inRequest(self, request, isNegated: false), .boolean, cost: 10, overAll: [self], requests: [request])
    }

    /// Returns the condition that a request has rows.
    package static func exists(_ request: Request) throws -> Expression {
        try .make(.exists(request, isNegated: false), .boolean, cost: 10, overAll: [], requests: [request])
    }

    /// Returns an expression for the value in the first row of a one-column request, which is NULL for an empty result.
    package static func request(_ request: Request) throws -> Expression {
        try request.checkColumnCount(1, for: "a request that is used as a value")
        return try .make(.request(request), cost: 8, overAll: [], requests: [request])
    }

    /// Returns a row of several columns, to compare with the same number of values.
    package static func row(_ parts: [Expression]) throws -> Expression {
        guard parts.count > 1 else { throw RequestError.argument("expected at least two columns") }
        for part in parts { try part.checkSingleValue() }
        return try .make(.row(parts), .row, cost: 5, overAll: parts)
    }

    private func checkSingleValue() throws {
        if traits.contains(.row) { throw RequestError.argument("a row of several columns can only be compared") }
    }
}

/// The condition that a key of one or several columns is in a list.
struct KeyList: Sendable {
    let columns: [Expression]
    /// A JSON array of values, or of arrays if keys have several columns; `nil` if `rows` contains the keys.
    let json: [UInt8]?
    /// The keys as one parameter per value, if JSON cannot represent them or they are few.
    let rows: [[Value]]

    init(columns: [Expression], rows: [[Value]]) throws {
        for row in rows {
            if let value = row.first(where: \.isNull) {
                throw RequestError.argument("a key cannot be \(value.typeName)")
            }
            for case .real(let number) in row where number.isNaN { throw RequestError.argument(Expression.nanMessage) }
        }
        self.columns = columns
        let fitsJSON = rows.count >= ValueList.jsonThreshold && rows.allSatisfy { $0.allSatisfy(ValueList.isCarriedByJSON) }
        json =
            fitsJSON ? columns.count == 1 ? ValueList.jsonArray(rows.lazy.map { $0[0] }) : ValueList.jsonArray(rows: rows) : nil
        self.rows = fitsJSON ? [] : rows
        guard self.rows.count * columns.count <= ValueList.mostSingles else {
            throw RequestError.argument("too many keys: \(rows.count)")
        }
    }
}
