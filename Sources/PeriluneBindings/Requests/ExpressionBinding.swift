internal import PeriluneLua
internal import PeriluneRecords

/// The native functions for expressions.
extension RequestBinding {
    func defineLeaves(in table: LuaTable) throws {
        try define("value", in: table) { call in try .value(call.plainValue(1)) }
        // (number of a request value, or name of a parameter)
        try define("parameter", in: table) { call in
            if case .integer(let number) = call.value(1) { return try .parameter(String(number)) }
            return try .parameter(call.string(1))
        }
        // (database, table, column, alias or nil, number and name of the association if the alias is nil, field names or nil)
        try define("column", in: table) { call in try call.column(3, of: call.table(call.string(2), of: 1, names: 7)) }
        // (declaration of a common table, column, alias or nil, number and name of the association if the alias is nil)
        try define("common_column", in: table) { call in try call.column(2, of: call.derivable(1).request.table) }
        // (name) returns a column without a table, for use in table definitions.
        try define("name", in: table) { call in
            .column(0, of: try CommonTable("table", columns: [call.string(1)]).table)
        }
        // (request, name) returns a column or annotation of a request.
        try define("column_of_request", in: table) { call in
            let request = try call.derivable(1).request
            let name = try call.string(2)
            return try request.annotation(named: name) ?? request.column(name)
        }
        // (request, name) returns `excluded.column`, for use in the assignments of an upsert.
        try define("excluded", in: table) { call in
            let table = try call.derivable(1).request.table
            let name = try call.string(2)
            guard let column = table.column(named: name), column >= 0 else { throw RequestError.unknownColumn(name, in: table) }
            return .excluded(column, of: table)
        }
        // (request, name) returns a column for ORDER BY, which may be a result column.
        try define("order_column", in: table) { call in try call.derivable(1).request.orderColumn(call.string(2)) }
        try defineValue("has_result_column", in: table) { call in
            .boolean(try call.derivable(1).request.hasResultColumn(call.string(2)))
        }
    }

    func defineOperators(in table: LuaTable) throws {
        try define("binary", in: table) { call in
            let name = try call.string(1)
            guard let operation = Self.binaryOperators[name] else { throw BindingError("argument", "no operator `\(name)`") }
            return try call.expression(2).binary(operation, call.expression(3))
        }
        try define("unary", in: table) { call in
            let name = try call.string(1)
            guard let operation = Self.unaryOperators[name] else { throw BindingError("argument", "no operator `\(name)`") }
            return try call.expression(2).unary(operation)
        }
        // (whether it is AND, left, right)
        try define("logical", in: table) { call in
            let (left, right) = (try call.expression(2), try call.expression(3))
            return call.boolean(1) ? try left.and(right) : try left.or(right)
        }
        try define("between", in: table) { call in
            try call.expression(1).between(call.expression(2), call.expression(3))
        }
        // (operator, text, pattern, escape character)
        try define("like", in: table) { call in
            let escape = try call.optionalString(4).map { try Expression.value(.text($0)) }
            return try call.expression(2).like(call.string(1) == "glob" ? .glob : .like, call.expression(3), escape: escape)
        }
        try define("collating", in: table) { call in try call.expression(1).collating(call.string(2)) }
        try define("cast", in: table) { call in try call.expression(1).cast(as: call.string(2)) }
    }

    func defineFunctions(in table: LuaTable) throws {
        // (name, arguments, whether the arguments are DISTINCT, whether a window follows)
        try define("call", in: table) { call in
            try .function(call.string(1), call.expressions(2), isDistinct: call.boolean(3), getsWindow: call.boolean(4))
        }
        // (aggregate or window function, partitions, orders, SQL text of the frame)
        try define("over", in: table) { call in
            let orders = try call.list(3).flatMap { try call.binding.orderings.value(of: $0) }
            return try call.expression(1).over(
                Window(partitions: call.expressions(2), orders: orders, frame: call.optionalString(4)))
        }
        // (aggregate, orders)
        try define("ordered", in: table) { call in
            try call.expression(1).ordered(by: call.list(2).flatMap { try call.binding.orderings.value(of: $0) })
        }
        try define("count_rows", in: table) { _ in try .countOfRows() }
        try define("filtering", in: table) { call in try call.expression(1).filteringAggregate(call.expression(2)) }
        // (list of alternating conditions and results, result for all other cases)
        try define("choice", in: table) { call in
            let parts = try call.expressions(1)
            let branches = stride(from: 0, to: parts.count - 1, by: 2).map { (condition: parts[$0], result: parts[$0 + 1]) }
            return try .choice(branches, otherwise: call.optionalExpression(2))
        }
        // (SQL text, arguments, names of the arguments)
        try define("fragment", in: table) { call in
            let arguments = try call.expressions(2)
            guard case .table = call.value(3) else { return try .sql(call.bytes(1), .positional(arguments)) }
            let named = Dictionary(zip(try call.strings(3), arguments), uniquingKeysWith: { first, _ in first })
            return try .sql(call.bytes(1), .named(named))
        }
    }

    func defineLists(in table: LuaTable) throws {
        try define("is_in", in: table) { call in try call.expression(1).isIn(members: call.expressions(2)) }
        // The list is a single value, which is a JSON array.
        try define("is_in_json", in: table) { call in
            try .sql(
                Array("? IN (SELECT +value FROM json_each(?))".utf8), .positional([call.expression(1), call.expression(2)]))
        }
        try define("is_in_request", in: table) { call in try call.expression(1).isIn(call.derivable(2).request) }
        try define("exists", in: table) { call in try .exists(call.request(1)) }
        try define("scalar", in: table) { call in try .request(call.request(1)) }
    }

    private static let binaryOperators: [String: BinaryOperator] = [
        "=": .equal, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual, "is": .is,
        "is not": .isNot, "match": .match, "regexp": .regexp, "+": .add, "-": .subtract, "*": .multiply, "/": .divide,
        "%": .modulo, "||": .concatenate, "->": .jsonValue, "->>": .jsonText,
    ]

    private static let unaryOperators: [String: UnaryOperator] = [
        "not": .not, "negate": .negate, "is null": .isNull, "is not null": .isNotNull,
    ]
}

extension RequestCall {
    /// Returns the column that an argument names. The arguments after it identify the occurrence of the table, by alias or
    /// association.
    fileprivate func column(_ position: Int, of table: TableSchema) throws -> Expression {
        let name = try string(position)
        guard let column = table.column(named: name) else { throw RequestError.unknownColumn(name, in: table) }
        guard let identity = try identity(position + 2) else {
            return .column(column, of: table, alias: try optionalString(position + 1))
        }
        return .column(column, of: table, of: identity)
    }

    /// Returns the number and name of an association, or `nil` if the argument is not a number.
    func identity(_ position: Int) throws -> AssociationIdentity? {
        guard case .integer(let number) = value(position) else { return nil }
        return AssociationIdentity(number: Int(number), name: try string(position + 1))
    }
}
