internal import CPeriluneShim

/// An error whose error object a function in C makes. Of the package, since only its own C makes error objects.
package protocol LuaErrorPushing: Error {
    /// Pushes the error object; where it was raised is added to it.
    func pushErrorObject(on L: OpaquePointer)
    /// What comes out of Lua as ``LuaError/underlying``.
    var underlying: any Error { get }
}

// Errors as scripts see them, for a library that adds to them what it knows. Of the package: a program that embeds Lua throws errors of
// types of its own, which say all that they know (``LuaErrorDescribing``).
extension LuaError {
    /// The value that a script has raised, or would catch; `nil` for errors that have not been in Lua.
    package var raisedValue: LuaValue? {
        guard let value, value.core.isOpen, lua_checkstack(value.core.L, 1) != 0 else { return nil }
        value.push(on: value.core.L)
        return value.core.takeValues(1)[0]
    }

    /// An error that raises a value as `error(value, 0)` does.
    ///
    /// - Parameter error: Where it was raised first, if it was.
    package init(raising value: LuaValue, in state: LuaState, after error: LuaError? = nil) {
        self = error ?? LuaError(.runtime, "")
        state.core.push(value)
        self.value = LuaReference(takingTopOf: state.core)
    }
}

extension LuaState {
    /// The fields of an error object, as a table: what is set in it, scripts see. `nil` for all other values.
    package func errorFields(of value: LuaValue) throws(LuaError) -> LuaTable? {
        try core.prepare()
        try core.checkOwnership(of: value)
        core.push(value)
        defer { plua_pop(core.L, 1) }
        guard plua_is_error(core.L, -1) else { return nil }
        plua_push_error_fields(core.L, -1)
        return LuaTable(LuaReference(takingTopOf: core))
    }
}
