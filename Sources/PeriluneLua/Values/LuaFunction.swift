internal import CPeriluneShim

/// A handle to a Lua or Swift function.
public struct LuaFunction {
    let reference: LuaReference

    init(_ reference: LuaReference) {
        self.reference = reference
    }

    /// Calls the function and returns its results.
    ///
    /// - Throws: ``LuaError``. If a Swift function threw, its error is ``LuaError/underlying``.
    @discardableResult
    public func call(_ arguments: [LuaValue]) throws(LuaError) -> [LuaValue] {
        let core = reference.core
        try core.prepare()
        reference.push(on: core.L)
        do {
            try core.push(contentsOf: arguments)
        } catch {
            plua_pop(core.L, 1)
            throw error
        }
        return try core.call(argumentCount: arguments.count)
    }

    /// Calls the function with Swift values as arguments, and converts its first result to a Swift type.
    ///
    /// - Throws: ``LuaError`` if the function raises or exceeds a limit, or its result has a different type.
    public func callAsFunction<each Argument: LuaConvertible, Result: LuaConvertible>(
        _ argument: repeat each Argument
    ) throws(LuaError) -> Result {
        try Result.fromLua(call(luaValues(repeat each argument, for: reference.core)).first ?? .nil)
    }

    /// Calls the function with Swift values as arguments, and discards its results.
    ///
    /// - Throws: ``LuaError`` if the function raises or exceeds a limit.
    public func callAsFunction<each Argument: LuaConvertible>(_ argument: repeat each Argument) throws(LuaError) {
        try call(luaValues(repeat each argument, for: reference.core))
    }
}

/// Converts Swift values to Lua values.
func luaValues<each Value: LuaConvertible>(
    _ value: repeat each Value, for core: LuaCore
) throws(LuaError) -> [LuaValue] {
    var values: [LuaValue] = []
    func append<V: LuaConvertible>(_ value: V) throws(LuaError) {
        values.append(try value.toLua(in: core.openState()))
    }
    repeat try append(each value)
    return values
}

/// A handle to a coroutine.
public struct LuaCoroutine {
    let reference: LuaReference

    init(_ reference: LuaReference) {
        self.reference = reference
    }
}
