internal import CPeriluneShim

/// An error whose Lua error object is created by a C function. Package-internal, because only this package's C code creates error
/// objects.
package protocol LuaErrorPushing: Error {
    /// Pushes the error object. The caller adds the script's position.
    func pushErrorObject(on L: OpaquePointer)
    /// The error that becomes ``LuaError/underlying``.
    var underlying: any Error { get }
}

// Access to raised values and error objects, for libraries that add details to errors. Package-internal, because programs that
// embed Lua throw error types that provide all details themselves (``LuaErrorDescribing``).
extension LuaError {
    /// The value that a script raised or would catch; `nil` for an error that was never raised in Lua.
    package var raisedValue: LuaValue? {
        guard let value, value.core.isOpen, lua_checkstack(value.core.L, 1) != 0 else { return nil }
        value.push(on: value.core.L)
        return value.core.takeValues(1)[0]
    }

    /// Creates an error that raises a value, like `error(value, 0)` in Lua.
    ///
    /// - Parameter error: The previous error, whose position is kept; `nil` if none exists.
    package init(raising value: LuaValue, in state: LuaState, after error: LuaError? = nil) {
        self = error ?? LuaError(.runtime, "")
        state.core.push(value)
        self.value = LuaReference(takingTopOf: state.core)
    }
}

extension LuaState {
    /// Returns the table in which an error object stores its fields, or `nil` for other values. Scripts see changes to this table.
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
