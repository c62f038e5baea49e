internal import CPeriluneShim

/// A Swift function that Lua calls. It takes its arguments from the stack, leaves its results there and returns their number. It
/// never raises a Lua error directly; the C trampoline raises the error after the Swift function has returned.
final class SwiftFunction {
    unowned let core: LuaCore
    let body: (LuaCore, _ argumentCount: Int) throws -> CInt

    init(core: LuaCore, body: @escaping (LuaCore, _ argumentCount: Int) throws -> CInt) {
        self.core = core
        self.body = body
    }

    func call(on L: OpaquePointer) -> CInt {
        core.entering(L) {
            core.drainIfNeeded()
            defer { core.drainIfNeeded() }
            do {
                return try body(core, Int(lua_gettop(L)))
            } catch {
                // The stack may be unable to grow, so arguments are removed to make room for the error. The first argument stays,
                // because messages describe it.
                lua_settop(L, min(lua_gettop(L), 1))
                core.push(error)
                return CInt(PLUA_RAISE)
            }
        }
    }
}

/// Calls a Swift function on behalf of the C trampoline.
func callSwiftFunction(_ L: OpaquePointer?, _ function: UnsafeMutableRawPointer?) -> CInt {
    Unmanaged<SwiftFunction>.fromOpaque(function!).takeUnretainedValue().call(on: L!)
}

/// The arguments of a call from Lua, valid during the call.
public struct LuaArguments {
    let core: LuaCore
    let name: String
    /// The number of arguments, including trailing `nil` values.
    public let count: Int

    /// The argument at a position, from 1; `nil` after the last one.
    public subscript(position: Int) -> LuaValue {
        precondition(position >= 1, "arguments count from 1")
        return position <= count ? core.value(at: CInt(position)) : .nil
    }

    /// All arguments.
    public var values: [LuaValue] {
        (0..<count).map { core.value(at: CInt($0 + 1)) }
    }

    /// The state of the calling script.
    public var state: LuaState {
        get throws(LuaError) { try core.openState() }
    }

    /// Whether the script can wait for an asynchronous function at this point. It cannot wait in a function called by `table.sort`,
    /// or in a run that was started synchronously.
    public var canWait: Bool { core.context.pointee.has_driver && lua_isyieldable(core.L) != 0 }

    /// Returns the argument at a position, converted to a Swift type.
    ///
    /// - Throws: ``LuaError`` that names the function, the position, the expected type and the actual value.
    public func get<Value: LuaConvertible>(_ position: Int, as type: Value.Type = Value.self) throws(LuaError) -> Value {
        try convertArgument(position, of: name) { () throws(LuaError) in try Value.fromLua(self[position]) }
    }

    /// Returns the error for an argument of a wrong type.
    public func mismatch(_ position: Int, expected: String) -> LuaError {
        let got = position > count ? "no value" : core.valueDescription(at: CInt(position))
        return .argument(name, position, "expected \(expected), got \(got)")
    }
}

/// Converts an argument. Errors name the function and the position.
func convertArgument<Value>(
    _ position: Int, of function: String, _ convert: () throws(LuaError) -> Value
) throws(LuaError) -> Value {
    do {
        return try convert()
    } catch {
        throw .argument(function, position, error.message)
    }
}

extension LuaError {
    static func argument(_ function: String, _ position: Int, _ message: String) -> LuaError {
        var error = LuaError(.conversion, "\(function): argument \(position): \(message)")
        error.fields["kind"] = "argument"
        return error
    }
}

// MARK: - Creating functions

extension LuaState {
    /// Creates a Lua function from a Swift closure.
    ///
    /// The closure lives as long as the Lua function. Scripts can catch its errors; an uncaught error reaches the caller as the
    /// ``LuaError/underlying`` error.
    ///
    /// - Parameters:
    ///   - name: The function's name in errors: `mail.send`.
    ///   - body: Receives the arguments and returns the results.
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    public func makeFunction(
        _ name: String, _ body: @escaping (LuaArguments) throws -> [LuaValue]
    ) throws(LuaError) -> LuaFunction {
        try core.makeFunction(name, body)
    }

    /// Creates a Lua function from a Swift closure with typed parameters and a result.
    ///
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    public func makeFunction<each Argument: LuaConvertible, Result: LuaConvertible>(
        _ name: String, typed body: @escaping (repeat each Argument) throws -> Result
    ) throws(LuaError) -> LuaFunction {
        try core.makeFunction(
            name,
            typed: { arguments in
                try body(repeat try arguments.next((each Argument).self))
            }, result: { core, result in try result.toLua(in: core.openState()) })
    }

    /// Creates a Lua function from a Swift closure with typed parameters and no result.
    ///
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    public func makeFunction<each Argument: LuaConvertible>(
        _ name: String, typed body: @escaping (repeat each Argument) throws -> Void
    ) throws(LuaError) -> LuaFunction {
        try core.makeFunction(
            name,
            typed: { arguments in
                try body(repeat try arguments.next((each Argument).self))
            }, result: nil)
    }
}

extension LuaCore {
    /// Creates a Lua function whose body uses the Lua stack directly.
    package func makeFunction(
        _ name: String, raw body: @escaping (LuaCore, _ argumentCount: Int) throws -> CInt
    ) throws(LuaError) -> LuaFunction {
        try prepare()
        pushFunction(raw: body)
        return LuaFunction(LuaReference(takingTopOf: self))
    }

    package func makeFunction(
        _ name: String, _ body: @escaping (LuaArguments) throws -> [LuaValue]
    ) throws(LuaError) -> LuaFunction {
        try prepare()
        pushFunction(name, body)
        return LuaFunction(LuaReference(takingTopOf: self))
    }

    /// Pushes a Lua function whose Swift body receives its arguments as values.
    func pushFunction(_ name: String, _ body: @escaping (LuaArguments) throws -> [LuaValue]) {
        pushFunction { core, count in
            try core.pushResults(body(LuaArguments(core: core, name: name, count: count)))
        }
    }

    private func pushFunction(raw body: @escaping (LuaCore, _ argumentCount: Int) throws -> CInt) {
        plua_push_function(L, Unmanaged.passRetained(SwiftFunction(core: self, body: body)).toOpaque())
    }

    /// Creates a Lua function whose body reads typed arguments in order.
    ///
    /// - Parameter result: Converts a result that cannot be pushed directly to a Lua value; `nil` for functions without a result.
    func makeFunction<Result>(
        _ name: String, typed body: @escaping (inout TypedArguments) throws -> Result,
        result makeValue: ((LuaCore, Result) throws -> LuaValue)?
    ) throws(LuaError) -> LuaFunction {
        try makeFunction(
            name,
            raw: { core, count in
                var arguments = TypedArguments(LuaArguments(core: core, name: name, count: count))
                let result = try body(&arguments)
                guard let makeValue else { return 0 }
                if core.pushPlain(result) { return 1 }
                return try core.pushResults(CollectionOfOne(makeValue(core, result)))
            })
    }

    func pushResults(_ results: some Collection<LuaValue>) throws(LuaError) -> CInt {
        try push(contentsOf: results)
        return CInt(results.count)
    }

    /// Returns the state, which cannot be deinitialized while a script or a Swift function runs in it.
    package func openState() throws(LuaError) -> LuaState {
        guard let state, isOpen else { throw LuaError(.usage, "the Lua state is closed") }
        return state
    }
}
