internal import CPeriluneShim

// Access to the Lua stack for C functions that are written against Lua's own headers.
//
// The C functions must not raise, because a Lua error would jump over Swift frames. They may call the Lua API functions that the
// manual marks `-` or `m`: allocations do not fail while Swift frames are on the stack.

extension LuaState {
    /// Runs a closure that calls C functions on the state's Lua stack.
    ///
    /// In a Swift function called by a script, the stack holds the arguments of that call at the indexes 1, 2, 3, ...
    ///
    /// - Parameters:
    ///   - values: Values to push first.
    ///   - body: Receives the `lua_State`, with room for 10 values, and the index of the first pushed value. It must not keep the
    ///     pointer or remove values that were on the stack before. Values that it leaves are removed.
    /// - Throws: Errors of the closure; ``LuaError`` with code `usage` if the state is closed or a value belongs to another
    ///   state.
    public func withUnsafeStack<Result>(
        _ values: [LuaValue] = [], _ body: (_ L: OpaquePointer, _ index: Int32) throws -> Result
    ) throws -> Result {
        try core.prepare()
        let L = core.L, top = lua_gettop(L)
        try core.push(contentsOf: values)
        defer { lua_settop(L, top) }
        return try body(L, top + 1)
    }

    /// Returns the value that a closure pushes with C functions; see ``withUnsafeStack(_:_:)``.
    ///
    /// - Parameter push: Pushes exactly one value.
    /// - Throws: ``LuaError`` with code `usage` if the state is closed, with code `memory` if its stack cannot grow.
    public func makeValue(c push: (_ L: OpaquePointer) -> Void) throws(LuaError) -> LuaValue {
        try core.prepare()
        let L = core.L, top = lua_gettop(L)
        push(L)
        precondition(lua_gettop(L) == top + 1, "the functions in C have not pushed one value")
        return core.takeValues(1)[0]
    }

    /// Pops the error that a C function left on the stack. Call it inside the closure of ``withUnsafeStack(_:_:)``.
    ///
    /// - Parameter status: The Lua status that the C function returned.
    public func takeUnsafeError(status: Int32) -> LuaError { core.takeError(status: status) }
}

extension LuaTable {
    /// Sets a field to the value that a closure pushes with C functions; see ``LuaState/makeValue(c:)``.
    package func setValue(_ name: String, c push: (_ L: OpaquePointer) -> Void) throws(LuaError) {
        try set(.string(LuaString(name)), reference.core.openState().makeValue(c: push))
    }
}
