internal import PeriluneLua
internal import PeriluneRecords

/// The native functions that create and derive requests.
extension RequestBinding {
    func defineRequests(in table: LuaTable) throws {
        // (database, name of the table, field names or nil)
        try defineValue("table", in: table) { call in
            let schema = try call.table(call.string(2), of: 1, names: 3)
            let request = try Request(schema, schema: call.database(1).schema)
            return .userdata(try call.binding.derivables.make(.request(request)))
        }
        try derive("filter", in: table) { request, call in try request.filter(call.expression(2)) }
        try derive("having", in: table) { request, call in try request.having(call.expression(2)) }
        try derive("none", in: table) { request, _ in try request.none() }
        // (expression, whether the order is descending, whether NULLs come first or nil)
        try defineValue("ordering", in: table) { call in
            let nullsFirst: Bool? = call.value(3).isNil ? nil : call.boolean(3)
            let ordering = Ordering(try call.expression(1), isDescending: call.boolean(2), nullsFirst: nullsFirst)
            return .userdata(try call.binding.orderings.make([ordering]))
        }
        // (SQL text, arguments)
        try defineValue("order_text", in: table) { call in
            let terms = try Ordering.terms(ofSQL: call.bytes(1), .positional(call.expressions(2)))
            return .userdata(try call.binding.orderings.make(terms))
        }
        // (terms, whether to keep previous terms first)
        try derive("order", in: table) { request, call in
            let orders = try call.list(2).flatMap { try call.binding.orderings.value(of: $0) }
            return call.boolean(3) ? try request.thenOrder(orders) : try request.order(orders)
        }
        try derive("reversed", in: table) { request, _ in try request.reversed() }
        try derive("unordered", in: table) { request, _ in request.unordered() }
        // (limit or nil, offset)
        try derive("limit", in: table) { request, call in
            try request.limit(call.value(2).isNil ? nil : call.integer(2), offset: call.integer(3))
        }
        // (number and name of the association that leads to the rows, whether the association refers to its own table)
        try derive("reached_by", in: table) { request, call in
            try call.identity(2).map { request.reached(by: $0, fromItself: call.boolean(4)) } ?? request
        }
        try derive("aliased", in: table) { request, call in try request.aliased(call.string(2)) }
        // (request, SQL text, arguments)
        try derive("reading", in: table) { request, call in
            try request.reading(sql: call.bytes(2), .positional(call.expressions(3)))
        }
        // (request, other request)
        try derive("or_filter", in: table) { request, call in try request.or(call.request(2)) }
        // (request, kind, other request, condition)
        try derive("join", in: table) { request, call in
            guard let kind = TableJoinKind(rawValue: try call.string(2)) else { throw BindingError("argument", "no such join") }
            return try request.joined(kind, to: call.request(3), on: call.optionalExpression(4))
        }
    }

    func defineSelections(in table: LuaTable) throws {
        try derive("select", in: table) { request, call in try request.select(Self.columns(call, 2, names: 3)) }
        // (name of the field for the row id)
        try derive("with_rowid", in: table) { request, call in try request.withRowID(named: call.string(2)) }
        try derive("annotate", in: table) { request, call in try request.annotated(with: Self.columns(call, 2, names: 3)) }
        try derive("group", in: table) { request, call in try request.group(call.expressions(2)) }
        try derive("distinct", in: table) { request, _ in request.distinct() }
        try derive("compound", in: table) { request, call in
            let name = try call.string(2)
            guard let operation = Self.compoundOperators[name] else { throw BindingError("argument", "no operator `\(name)`") }
            return try request.compound(operation, call.request(3))
        }
        try defineCommonTables(in: table)
        try defineValue("column_names", in: table) { call in
            try call.derivable(1).request.table.columns.map(\.name).toLua(in: call.state)
        }
        try derive("nested", in: table) { request, _ in try request.nested() }
    }

    /// References to a common table are derived from the request that declares the table, which preserves the table's identity.
    private func defineCommonTables(in table: LuaTable) throws {
        func define(_ name: String, _ body: @escaping (RequestCall) throws -> CommonTable) throws {
            try defineValue(name, in: table) { call in
                .userdata(try call.binding.derivables.make(.request(body(call).request)))
            }
        }
        // (name, names of the columns, or a request with these columns)
        try define("declare_common_table") { call in
            if case .table = call.value(2) { return try CommonTable(call.string(1), columns: call.strings(2)) }
            return try CommonTable(call.string(1), like: call.derivable(2).request)
        }
        // (declaration, request)
        try define("define_common_table") { call in
            try CommonTable.declared(by: call.derivable(1).request).defined(as: call.derivable(2).request)
        }
        // (declaration, SQL text, arguments)
        try define("define_common_table_by_sql") { call in
            try CommonTable.declared(by: call.derivable(1).request).defined(
                asSQL: call.bytes(2), .positional(call.expressions(3)))
        }
    }

    /// Returns selected columns from two arguments: a list of expressions, and a list of their names with false for none.
    static func columns(_ call: RequestCall, _ position: Int, names: Int) throws -> [SelectedColumn] {
        let names = try call.list(names)
        return try call.expressions(position).enumerated().map { index, expression in
            guard case .string(let name) = names[index] else { return try SelectedColumn(expression) }
            return try SelectedColumn(expression, name: name.description)
        }
    }

    private static let compoundOperators: [String: CompoundOperator] = [
        "union": .union, "union all": .unionAll, "intersect": .intersect, "except": .except,
    ]
}
