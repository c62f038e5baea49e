/// The window of `OVER (...)`: the rows over which a function is computed for each row.
package struct Window: Sendable {
    let partitions: [Expression]
    let orders: [Ordering]
    /// The frame as SQL, such as `ROWS BETWEEN 2 PRECEDING AND CURRENT ROW`. With `nil`, SQLite uses all rows up to the current row and its
    /// peers, or all rows of the partition if there is no order.
    let frame: String?

    package init(partitions: [Expression] = [], orders: [Ordering] = [], frame: String? = nil) {
        self.partitions = partitions
        self.orders = orders
        self.frame = frame
    }

    var parts: [Expression] { partitions + orders.map(\.expression) }
}

extension FunctionCall {
    /// The functions that SQLite allows only with a window.
    static let windowFunctions: Set<String> = [
        "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value",
        "nth_value",
    ]

    /// The SQLite functions that are computed from a single row.
    private static let rowFunctions: Set<String> = [
        "abs", "coalesce", "date", "datetime", "glob", "hex", "ifnull", "iif", "instr", "json_extract", "julianday", "length",
        "like",
        "lower", "ltrim", "nullif", "printf", "quote", "random", "replace", "round", "rtrim", "strftime", "substr", "time",
        "trim",
        "typeof", "unicode", "unixepoch", "upper",
    ]

    var needsWindow: Bool { Self.windowFunctions.contains(name.foldedName) && window == nil }

    fileprivate var isOfRow: Bool {
        let name = name.foldedName
        return Self.rowFunctions.contains(name) || (name == "min" || name == "max") && arguments.count != 1
    }
}

extension Expression {
    /// Returns a function computed over a window: an aggregate, or a window function such as `rank`.
    package func over(_ window: Window) throws -> Expression {
        guard case .function(let call) = kind, call.window == nil else {
            throw RequestError.argument("only an aggregate or a window function can have a window")
        }
        let name = call.name
        if call.isOfRow { throw RequestError.argument("\(name) is an ordinary function and cannot have a window") }
        if call.isDistinct { throw RequestError.argument("a distinct aggregate cannot have a window: \(name)") }
        if !call.orders.isEmpty {
            throw RequestError.argument(
                "\(name): an aggregate with a window takes its order from the window; use over{ order_by = ... }")
        }
        if call.filter != nil, FunctionCall.windowFunctions.contains(name.foldedName) {
            throw RequestError.argument("only an aggregate can have a condition on its rows: \(name)")
        }
        if (call.parts + window.parts).contains(where: { $0.traits.contains(.window) }) {
            throw RequestError.argument("window functions cannot be nested: \(name)")
        }
        for part in window.parts where part.isValue {
            throw RequestError.argument("\(name): cannot partition or order by a constant; use a column or an expression")
        }
        return try .make(
            FunctionCall(name, call.arguments, isOfRows: call.isOfRows, filter: call.filter, window: window), isAggregate: false)
    }

    /// Returns the aggregate with an order in which it processes its rows.
    package func ordered(by orders: [Ordering]) throws -> Expression {
        guard case .function(let call) = kind, traits.contains(.aggregate) else {
            throw RequestError.argument("only an aggregate can order its rows")
        }
        guard OrderedAggregate.names.contains(call.name.foldedName) else {
            throw RequestError.argument(
                "the order of rows does not affect \(call.name); only group_concat and json_group_array can be ordered")
        }
        let most = call.name.foldedName == "group_concat" ? 2 : 1
        guard !call.isOfRows, (1...most).contains(call.arguments.count) else {
            throw RequestError.argument(
                "\(call.name) takes \(most == 1 ? "one argument" : "one argument, or two with a separator"), got "
                    + (call.isOfRows ? "*" : "\(call.arguments.count)"))
        }
        if call.isDistinct { throw RequestError.argument("a distinct aggregate cannot be ordered: \(call.name)") }
        return try .make(
            FunctionCall(call.name, call.arguments, filter: call.filter, orders: call.orders + orders), isAggregate: true)
    }
}

// MARK: - Writing

extension CompilerWalk {
    mutating func window(_ window: Window) throws {
        tokens.add(.over)
        var isFirst = true
        func space(_ walk: inout CompilerWalk) {
            if !isFirst { walk.tokens.add(.text, CollectionOfOne(0x20)) }
            isFirst = false
        }
        if !window.partitions.isEmpty {
            space(&self)
            tokens.add(.partitionBy)
            try list(window.partitions) { walk, part in try walk.expression(part) }
        }
        if !window.orders.isEmpty {
            space(&self)
            var isFirstTerm = true
            try order(window.orders, &isFirstTerm, begin: .windowOrderBy)
        }
        if let frame = window.frame {
            space(&self)
            tokens.add(.text, frame.utf8)
        }
        tokens.add(.close)
    }

    /// Writes an aggregate with an order, which SQLite supports since 3.44. For older versions, writes a call of Perilune's replacement
    /// function.
    mutating func orderedAggregate(_ call: FunctionCall) throws {
        guard !OrderedAggregate.isBuiltIn else {
            tokens.add(.function, call.name.utf8)
            try list(call.arguments) { walk, argument in try walk.expression(argument) }
            var isFirst = true
            try order(call.orders, &isFirst, begin: .aggregateOrderBy)
            tokens.add(.close)
            return try filter(of: call)
        }
        let isJSON = call.name.foldedName == "json_group_array"
        if isJSON { tokens.add(.text, "json('[' || ifnull(".utf8) }
        tokens.add(.name, OrderedAggregate.functionName.utf8)
        tokens.add(.open)
        tokens.add(.text, try "'\(OrderedAggregate.directions(of: call.orders))'".utf8)
        tokens.add(.comma)
        if isJSON {
            tokens.add(.text, "json_quote(".utf8)
            try expression(call.arguments[0])
            tokens.add(.text, "), ','".utf8)
        } else {
            try expression(call.arguments[0])
            tokens.add(.comma)
            if call.arguments.count > 1 { try expression(call.arguments[1]) } else { tokens.add(.text, "','".utf8) }
        }
        for order in call.orders {
            tokens.add(.comma)
            try expression(order.expression)
        }
        tokens.add(.close)
        try filter(of: call)
        if isJSON { tokens.add(.text, ", '') || ']')".utf8) }
    }
}
