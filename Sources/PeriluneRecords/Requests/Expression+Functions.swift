/// A call of an SQL function.
package final class FunctionCall: Sendable {
    let name: String
    let arguments: [Expression]
    /// Whether the call is `COUNT(*)`.
    let isOfRows: Bool
    let isDistinct: Bool
    /// The condition of `FILTER (WHERE ...)`, which restricts the rows of an aggregate.
    let filter: Expression?
    /// The order in which an aggregate processes its rows.
    let orders: [Ordering]
    /// The window of `OVER (...)`.
    let window: Window?

    init(
        _ name: String, _ arguments: [Expression], isOfRows: Bool = false, isDistinct: Bool = false, filter: Expression? = nil,
        orders: [Ordering] = [], window: Window? = nil
    ) {
        self.name = name
        self.arguments = arguments
        self.isOfRows = isOfRows
        self.isDistinct = isDistinct
        self.filter = filter
        self.orders = orders
        self.window = window
    }

    /// All direct operands of the call, including its filter, orders and window.
    var parts: [Expression] {
        arguments + (filter.map { [$0] } ?? []) + orders.map(\.expression) + (window?.parts ?? [])
    }

    /// The names of the built-in aggregates. `min` and `max` are aggregates only if they have one argument.
    static let aggregates: Set<String> = [
        "count", "sum", "avg", "total", "group_concat", "json_group_array", "json_group_object", "min", "max",
    ]

    var isAggregate: Bool {
        let name = name.foldedName
        return Self.aggregates.contains(name) && (arguments.count == 1 || (name != "min" && name != "max"))
    }

    private static let booleanFunctions: Set<String> = ["json_valid", "like", "glob"]
    /// The functions that return any one of their arguments.
    private static let choosingFunctions: Set<String> = ["min", "max", "coalesce", "ifnull"]
    /// The functions that return a value of their first argument.
    private static let keepingFunctions: Set<String> = ["first_value", "last_value", "nth_value", "lag", "lead", "nullif"]

    /// Whether the call always returns true, false or NULL.
    var isBoolean: Bool {
        let name = name.foldedName
        if Self.booleanFunctions.contains(name) { return true }
        if Self.keepingFunctions.contains(name) { return arguments.first?.isBoolean ?? false }
        guard Self.choosingFunctions.contains(name), arguments.contains(where: \.isBoolean) else { return false }
        // A parameter's value is unknown here. An integer other than 0 and 1 is left unchanged.
        return arguments.allSatisfy { $0.isBoolean || $0.isNull || $0.isParameter }
    }
}

/// A `CASE` expression.
package final class Choice: Sendable {
    let base: Expression?
    let branches: [(condition: Expression, result: Expression)]
    let otherwise: Expression?

    init(base: Expression?, branches: [(condition: Expression, result: Expression)], otherwise: Expression?) {
        self.base = base
        self.branches = branches
        self.otherwise = otherwise
    }
}

extension Expression {
    /// Returns a call of an SQL function, which SQLite, the host or the script defines, such as `lower`, `json_extract`,
    /// `strftime` or `my_function`.
    ///
    /// - Parameters:
    ///   - isAggregate: Whether the function is an aggregate; `nil` to recognize SQLite's own aggregates by name.
    ///   - getsWindow: Whether a window will be added, which functions such as `rank` require.
    package static func function(
        _ name: String, _ arguments: [Expression], isDistinct: Bool = false, filter: Expression? = nil,
        isAggregate: Bool? = nil, getsWindow: Bool = false
    ) throws -> Expression {
        try checkFunctionName(name)
        guard arguments.count <= 127 else { throw RequestError.argument("a function has at most 127 arguments") }
        let call = FunctionCall(name, arguments, isDistinct: isDistinct, filter: filter)
        guard getsWindow || !call.needsWindow else {
            throw RequestError.argument("\(name) requires a window; use :over{ order_by = ... }")
        }
        let isAggregate = isAggregate ?? call.isAggregate
        // A window function may take an aggregate as its argument: for example a running total of the sums of groups.
        if isAggregate, !getsWindow, arguments.contains(where: { $0.traits.contains(.aggregate) }) {
            throw RequestError.argument(
                "an aggregate cannot be nested in another one: \(name); for totals of groups use :over{...} behind it")
        }
        return try make(call, isAggregate: isAggregate)
    }

    /// Returns `COUNT(*)`.
    package static func countOfRows(filter: Expression? = nil) throws -> Expression {
        try make(FunctionCall("count", [], isOfRows: true, filter: filter), isAggregate: true)
    }

    /// Returns an SQLite aggregate of this expression: `count`, `sum`, `avg`, `total`, `min`, `max`, `group_concat`.
    package func aggregate(_ name: String, isDistinct: Bool = false, filter: Expression? = nil) throws -> Expression {
        try .function(name, [self], isDistinct: isDistinct, filter: filter, isAggregate: true)
    }

    /// Returns the aggregate restricted to rows that satisfy a condition.
    package func filteringAggregate(_ condition: Expression) throws -> Expression {
        guard case .function(let call) = kind, traits.contains(.aggregate) else {
            throw RequestError.argument("only an aggregate can have a condition on its rows")
        }
        let filter = try call.filter.map { try $0.and(condition) } ?? condition
        return try .make(
            FunctionCall(
                call.name, call.arguments, isOfRows: call.isOfRows, isDistinct: call.isDistinct, filter: filter,
                orders: call.orders),
            isAggregate: true)
    }

    static func make(_ call: FunctionCall, isAggregate: Bool) throws -> Expression {
        if !isAggregate, call.window == nil, call.isDistinct || call.filter != nil {
            throw RequestError.argument("only an aggregate can be distinct or filtered: \(call.name)")
        }
        if call.isDistinct, call.arguments.count != 1 {
            throw RequestError.argument("a distinct aggregate has one argument")
        }
        try call.filter?.checkCondition("filter of \(call.name)")
        let parts = call.parts
        if isAggregate, parts.contains(where: { $0.traits.contains(.window) }) {
            throw RequestError.argument("an aggregate cannot contain a window function: \(call.name)")
        }
        if parts.contains(where: { $0.traits.contains(.row) }) {
            throw RequestError.argument("a row of several columns can only be compared")
        }
        var traits: Traits = isAggregate ? .aggregate : call.window != nil ? .window : []
        if call.isBoolean { traits.insert(.boolean) }
        return try make(.function(call), traits, cost: 5, overAll: parts)
    }

    private static func checkFunctionName(_ name: String) throws {
        let bytes = Array(name.utf8)
        func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_") || byte >= 0x80 }
        guard let first = bytes.first, isLetter(first), bytes.count <= 255,
            bytes.allSatisfy({ isLetter($0) || $0 &- 0x30 < 10 })
        else {
            throw RequestError.argument("expected the name of a function: letters, digits and `_`, got `\(name.prefix(40))`")
        }
    }

    /// Returns `CASE [base] WHEN condition THEN result ... ELSE otherwise END`.
    package static func choice(
        base: Expression? = nil, _ branches: [(condition: Expression, result: Expression)], otherwise: Expression? = nil
    ) throws -> Expression {
        guard !branches.isEmpty else { throw RequestError.argument("a case needs at least one condition with its result") }
        var parts = branches.flatMap { [$0.condition, $0.result] }
        if let base { parts.append(base) }
        if let otherwise { parts.append(otherwise) }
        if parts.contains(where: { $0.traits.contains(.row) }) {
            throw RequestError.argument("a row of several columns can only be compared")
        }
        let isBoolean = branches.allSatisfy(\.result.isBoolean) && (otherwise.map { $0.isBoolean || $0.isNull } ?? true)
        return try make(
            .choice(Choice(base: base, branches: branches, otherwise: otherwise)), isBoolean ? .boolean : [], cost: 6,
            overAll: parts)
    }
}
