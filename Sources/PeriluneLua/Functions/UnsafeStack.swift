internal import CPeriluneShim

// What Swift gives to functions in C that are written against Lua's own headers.
//
// They must not raise: an error of Lua would jump over the Swift frames between. Of Lua's functions they may call those that the manual
// marks `-`, and those it marks `m`, since memory is not refused while Swift frames are on the stack.

extension LuaState {
    /// Calls functions in C that work on the stack of the state.
    ///
    /// In a function of Swift that a script has called this is the stack of the call: its arguments stand at 1, 2, 3, ...
    ///
    /// - Parameters:
    ///   - values: What is pushed before.
    ///   - body: Gets the `lua_State`, with room for 10 values, and the index of the first that was pushed. It must not keep the pointer.
    ///     What it leaves above the values that were there before is removed; it must not take those.
    /// - Throws: What the closure throws; ``LuaError`` with code `usage` if the state is closed or a value is of another state.
    public func withUnsafeStack<Result>(
        _ values: [LuaValue] = [], _ body: (_ L: OpaquePointer, _ index: Int32) throws -> Result
    ) throws -> Result {
        try core.prepare()
        let L = core.L, top = lua_gettop(L)
        try core.push(contentsOf: values)
        defer { lua_settop(L, top) }
        return try body(L, top + 1)
    }

    /// The value that functions in C push; see ``withUnsafeStack(_:_:)``.
    ///
    /// - Parameter push: Leaves one value more on the stack than there were.
    /// - Throws: ``LuaError`` with code `usage` if the state is closed, with code `memory` if its stack cannot grow.
    public func makeValue(c push: (_ L: OpaquePointer) -> Void) throws(LuaError) -> LuaValue {
        try core.prepare()
        let L = core.L, top = lua_gettop(L)
        push(L)
        precondition(lua_gettop(L) == top + 1, "the functions in C have not pushed one value")
        return core.takeValues(1)[0]
    }

    /// Takes the error off the stack that a function in C has left there, in a closure of ``withUnsafeStack(_:_:)``.
    ///
    /// - Parameter status: What the function has returned: a status of Lua.
    public func takeUnsafeError(status: Int32) -> LuaError { core.takeError(status: status) }
}

extension LuaTable {
    /// Sets a member to the value that functions in C push; see ``LuaState/makeValue(c:)``.
    package func setValue(_ name: String, c push: (_ L: OpaquePointer) -> Void) throws(LuaError) {
        try set(.string(LuaString(name)), reference.core.openState().makeValue(c: push))
    }
}
