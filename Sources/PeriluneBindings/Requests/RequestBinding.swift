internal import PeriluneLua
internal import PeriluneRecords

/// The native functions with which Lua builds requests: `perilune.native.expressions`, `.requests` and `.associations`. The Lua
/// library caches requests, so these functions are called only for new requests and after schema changes.
final class RequestBinding {
    let expressions: LuaUserdataType<Expression>
    let derivables: LuaUserdataType<Derivable>
    /// The userdata type for ordering terms. A value is a list, because SQL text may contain several terms.
    let orderings: LuaUserdataType<[Ordering]>

    private init(in state: LuaState) throws {
        expressions = try state.makeUserdataType("SQL expression")
        derivables = try state.makeUserdataType("SQL request")
        orderings = try state.makeUserdataType("SQL order")
    }

    static func install(in loader: LibraryLoader) {
        var binding: RequestBinding?
        func provide(_ name: String, _ define: @escaping (RequestBinding, LuaTable) throws -> Void) {
            loader.provide(native: name) { state in
                let known = try binding ?? RequestBinding(in: state)
                binding = known
                let table = try state.makeTable()
                try define(known, table)
                return table
            }
        }
        provide("expressions") { try $0.defineExpressions(in: $1) }
        provide("requests") { try $0.defineRequestFunctions(in: $1) }
        provide("associations") { try $0.defineAssociationFunctions(in: $1) }
    }

    private func defineExpressions(in table: LuaTable) throws {
        try defineLeaves(in: table)
        try defineOperators(in: table)
        try defineFunctions(in: table)
        try defineLists(in: table)
        try defineAggregates(in: table)
    }

    private func defineRequestFunctions(in table: LuaTable) throws {
        try defineRequests(in: table)
        try defineSelections(in: table)
        try defineCompiling(in: table)
    }

    private func defineAssociationFunctions(in table: LuaTable) throws {
        try defineAssociations(in: table)
        try defineAssociationUses(in: table)
    }

    /// Defines a native function that returns an expression.
    func define(_ name: String, in table: LuaTable, _ body: @escaping (RequestCall) throws -> Expression) throws {
        try defineValue(name, in: table) { call in .userdata(try call.binding.expressions.make(body(call))) }
    }

    /// Defines a native function that derives a request or association from its first argument.
    func derive(_ name: String, in table: LuaTable, _ body: @escaping (Request, RequestCall) throws -> Request) throws {
        try defineValue(name, in: table) { call in
            let derived = try call.derivable(1).map { try body($0, call) }
            return .userdata(try call.binding.derivables.make(derived))
        }
    }

    func defineValue(_ name: String, in table: LuaTable, _ body: @escaping (RequestCall) throws -> LuaValue) throws {
        try table.setFunction(name) { arguments in [try body(RequestCall(arguments: arguments, binding: self))] }
    }
}
