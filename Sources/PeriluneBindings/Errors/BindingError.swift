package import PeriluneLua

/// An error caused by a mistake in a script, with a kind for programs and a message for people.
package struct BindingError: LuaErrorDescribing {
    package let luaKind: String
    package let luaMessage: String
    package let luaFields: [String: ScriptValue]

    package init(_ kind: String, _ message: String, fields: [String: ScriptValue] = [:]) {
        luaKind = kind
        luaMessage = message
        luaFields = fields
    }
}

extension LuaArguments {
    /// Throws if a script passed more arguments than a function takes. A surplus `nil` is not an error.
    ///
    /// - Parameter cure: A hint that explains the correct call.
    func refuseSurplus(after most: Int, of function: String, cure: String? = nil) throws {
        guard count > most, !self[most + 1].isNil else { return }
        throw BindingError.surplus(self[most + 1], after: most, of: function, cure: cure)
    }
}

extension LuaMethodArguments {
    /// Throws if a script passed more arguments than a method takes. A surplus `nil` is not an error.
    func refuseSurplus(after most: Int, of method: String) throws {
        guard count > most, !self[most + 1].isNil else { return }
        throw BindingError.surplus(self[most + 1], after: most, of: method)
    }
}

extension BindingError {
    fileprivate static func surplus(
        _ argument: LuaValue, after most: Int, of function: String, cure: String? = nil
    ) -> BindingError {
        let taken = most == 0 ? "no arguments" : most == 1 ? "one argument" : "at most \(most) arguments"
        return BindingError(
            "argument",
            "\(function): takes \(taken), got \(argument.shortDescription) as argument \(most + 1)"
                + (cure.map { "; \($0)" } ?? ""))
    }
}
