internal import PeriluneLua

/// The recorded calls of functions with external effects, and the stubs that replace these functions. Used on the thread of the scenario.
final class EffectStubs {
    /// A call of a function with external effects.
    struct Call {
        let module: String
        let name: String
        /// The arguments as values in the state of the scenario.
        let arguments: [LuaValue]
        let file: String?
        let line: Int?
    }

    private(set) var calls: [Call] = []
    /// The stubs by module and function: results or replacement functions, as values in the state of the scenario.
    private var stubs: [String: [String: LuaValue]] = [:]
    private var unexpectedCalls: [Call] = []
    /// Counts a crash point before or after a call. Returns whether the calling state has ended there.
    var crashPoint: ((LuaState, _ moment: String, _ function: String, _ place: String?) -> Bool)?

    func stub(_ module: String, _ name: String, _ value: LuaValue) {
        stubs[module, default: [:]][name] = value
    }

    func stub(of module: String, _ name: String) -> LuaValue? { stubs[module]?[name] }

    /// Returns the functions of a module that have stubs; `nil` if none has.
    func names(of module: String) -> [String]? { stubs[module].map { $0.keys.sorted() } }

    /// The modules that have stubs.
    var modules: [String] { stubs.keys.sorted() }

    /// Records a call, and returns the results of its stub.
    func record(_ call: Call) throws -> [LuaValue] {
        calls.append(call)
        switch stub(of: call.module, call.name) {
        case nil:
            unexpectedCalls.append(call)
            return []
        case .function(let function)?: return try function.call(call.arguments)
        case let value?: return [value]
        }
    }

    /// Returns failures for the calls without a stub.
    func unexpected() -> [ScenarioFailure] {
        unexpectedCalls.map { call in
            var failure = ScenarioFailure(
                "unexpected call of \(call.module).\(call.name)", kind: "unexpected_effect", file: call.file,
                line: call.line)
            failure.details = ["stub it with t.effects.\(call.module):stub(\"\(call.name)\", value)"]
            return failure
        }
    }
}
