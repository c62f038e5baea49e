internal import CPeriluneRows
internal import PeriluneLua
internal import PeriluneRecords

/// What the Lua part builds requests with: the tables `internal.sql_expressions` and `internal.sql_requests`. Their functions are
/// called when a request is new or the schema has changed, not when a request is built again.
final class RequestBinding {
    let expressions: LuaUserdataType<Expression>
    let derivables: LuaUserdataType<Derivable>
    /// The terms of an order: of SQL text, there may be several.
    let orderings: LuaUserdataType<[Ordering]>
    private let core: LuaCore

    private init(in state: LuaState) throws {
        core = state.core
        expressions = try state.makeUserdataType("SQL expression")
        derivables = try state.makeUserdataType("SQL request")
        orderings = try state.makeUserdataType("SQL order")
    }

    static func install(in internals: LuaTable, of state: LuaState) throws {
        let binding = try RequestBinding(in: state)
        let expressions = try state.makeTable()
        try binding.defineLeaves(in: expressions)
        try binding.defineOperators(in: expressions)
        try binding.defineFunctions(in: expressions)
        try binding.defineLists(in: expressions)
        try internals.set("sql_expressions", .table(expressions))
        let requests = try state.makeTable()
        try binding.defineRequests(in: requests)
        try binding.defineSelections(in: requests)
        try binding.defineCompiling(in: requests)
        try internals.set("sql_requests", .table(requests))
        let associations = try state.makeTable()
        try binding.defineAssociations(in: associations)
        try binding.defineAssociationUses(in: associations)
        try binding.defineAggregates(in: expressions)
        try internals.set("sql_associations", .table(associations))
    }

    /// Defines a function that makes an expression.
    func define(_ name: String, in table: LuaTable, _ body: @escaping (RequestCall) throws -> Expression) throws {
        try defineValue(name, in: table) { call in .userdata(try call.binding.expressions.make(body(call))) }
    }

    /// Defines a function that derives the request or association which is its first argument.
    func derive(_ name: String, in table: LuaTable, _ body: @escaping (Request, RequestCall) throws -> Request) throws {
        try defineValue(name, in: table) { call in
            let derived = try call.derivable(1).map { try body($0, call) }
            return .userdata(try call.binding.derivables.make(derived))
        }
    }

    func defineValue(_ name: String, in table: LuaTable, _ body: @escaping (RequestCall) throws -> LuaValue) throws {
        try table.set(.string(LuaString(name)), .function(core.makeFunction(name, raw: { core, _ in
            let result = try body(RequestCall(core: core, binding: self))
            try core.prepare()
            core.push(result)
            return 1
        })))
    }
}
