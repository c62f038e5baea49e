package import PeriluneLua

/// A mistake in a script, with a kind for programs and a message for people.
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
    /// Refuses more arguments than a function takes, which would be ignored. A surplus nil is not an error.
    ///
    /// - Parameter cure: What to write instead.
    func refuseSurplus(after most: Int, of function: String, cure: String? = nil) throws {
        guard count > most, !self[most + 1].isNil else { return }
        let taken = most == 0 ? "no arguments" : most == 1 ? "one argument" : "at most \(most) arguments"
        throw BindingError(
            "argument",
            "\(function): takes \(taken), got \(self[most + 1].shortDescription) as argument \(most + 1)"
                + (cure.map { "; \($0)" } ?? ""))
    }
}
