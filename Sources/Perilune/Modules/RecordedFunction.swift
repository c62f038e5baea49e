internal import PeriluneLua

/// Replacements for functions with external effects in a preview: they check their arguments and the place of the call like the function,
/// and record the call instead of executing it.
extension LuaState {
    /// Makes one for a function with a result.
    ///
    /// - Parameter answer: The result of the call; `nil` for a placeholder that fails when the script uses it.
    func makeRecordedFunction<each Argument: Decodable & Sendable, Result: Encodable>(
        _ name: String, _ record: @escaping EffectHandler, answering answer: (@Sendable (repeat each Argument) throws -> Result)?
    ) throws -> LuaFunction {
        // A weak reference, because a function that a state retains must not keep the state alive.
        try makeFunction(name) { [unowned self] call in
            var arguments = DecodedArguments(name: name, values: call.values)
            let decoded = (repeat try arguments.next((each Argument).self))
            try self.note(name, call.values, record)
            guard let answer else { return [try self.missingResult(of: name)] }
            return [try self.encode(answer(repeat each decoded))]
        }
    }

    /// Creates a replacement for an asynchronous function with a result, which is rejected in places where a script cannot wait, such as a
    /// database block.
    func makeRecordedAsyncFunction<each Argument: Decodable & Sendable, Result: Encodable>(
        _ name: String, _ record: @escaping EffectHandler, answering answer: (@Sendable (repeat each Argument) throws -> Result)?
    ) throws -> LuaFunction {
        let call: ([LuaValue]) throws -> [LuaValue] = { [unowned self] values in
            var arguments = DecodedArguments(name: name, values: values)
            let decoded = (repeat try arguments.next((each Argument).self))
            try self.note(name, values, record)
            guard let answer else { return [try self.missingResult(of: name)] }
            return [try self.encode(answer(repeat each decoded))]
        }
        return try makeAsyncFunction(name, RecordedOperation(call: call))
    }

    /// Makes one for a function without a result.
    func makeRecordedFunction<each Argument: Decodable & Sendable>(
        _ name: String, of types: (repeat (each Argument).Type), _ record: @escaping EffectHandler
    ) throws -> LuaFunction {
        try makeFunction(name) { [unowned self] call in
            var arguments = DecodedArguments(name: name, values: call.values)
            repeat _ = try arguments.next((each Argument).self)
            try self.note(name, call.values, record)
            return []
        }
    }

    /// Makes one for an asynchronous function without a result.
    func makeRecordedAsyncFunction<each Argument: Decodable & Sendable>(
        _ name: String, of types: (repeat (each Argument).Type), _ record: @escaping EffectHandler
    ) throws -> LuaFunction {
        let call: ([LuaValue]) throws -> [LuaValue] = { [unowned self] values in
            var arguments = DecodedArguments(name: name, values: values)
            repeat _ = try arguments.next((each Argument).self)
            try self.note(name, values, record)
            return []
        }
        return try makeAsyncFunction(name, RecordedOperation(call: call))
    }

    private func note(_ name: String, _ values: [LuaValue], _ record: EffectHandler) throws {
        record(name, try values.map { try shortText(of: $0) })
    }

    /// Returns the result of a function, or a placeholder if none is known.
    func answer(of name: String, _ answer: (() throws -> some Encodable)?) throws -> LuaValue {
        guard let answer else { return try missingResult(of: name) }
        return try encode(answer())
    }

    /// Returns a placeholder that a script can store and pass on, but not use.
    func missingResult(of name: String) throws -> LuaValue {
        let type = try makeUserdataType("the result of \(name), which is not called in a preview", of: MissingResult.self)
        try type.refuseUse {
            var error = LuaError(
                .runtime,
                "\(name) has no result in a preview, where it is not called; register it with `preview: { ... }` to give it one")
            error.fields["kind"] = "preview"
            return error
        }
        return .userdata(try type.make(MissingResult()))
    }
}

private struct MissingResult {}

/// Records the call of an asynchronous function without waiting.
private struct RecordedOperation: LuaAsyncOperation {
    let call: ([LuaValue]) throws -> [LuaValue]

    nonisolated(nonsending) func callAsFunction(_ values: [LuaValue]) async throws -> [LuaValue] { try call(values) }
}
