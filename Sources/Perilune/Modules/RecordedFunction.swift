internal import PeriluneLua

/// Replacements for functions with external effects, which record calls instead of executing them. Like the original functions, they check
/// their arguments, and asynchronous ones reject calls in blocks in which a script cannot wait.
extension LuaState {
    /// Creates a replacement for a function with a result.
    ///
    /// - Parameter answer: A closure that returns the result; `nil` to return a placeholder that raises an error if the script uses it.
    func makeRecordedFunction<each Argument: Decodable & Sendable, Result: Encodable>(
        _ name: String, _ record: @escaping EffectHandler, answering answer: (@Sendable (repeat each Argument) throws -> Result)?
    ) throws -> LuaFunction {
        // An unowned reference, because the state retains the function, which must not retain the state.
        try makeFunction(name) { [unowned self] call in
            var arguments = DecodedArguments(name: name, values: call.values)
            let decoded = (repeat try arguments.next((each Argument).self))
            try self.note(name, call.values, record)
            guard let answer else { return [try self.missingResult(of: name)] }
            return [try self.encode(answer(repeat each decoded))]
        }
    }

    /// Creates a replacement for an asynchronous function with a result. Calls fail in places in which a script cannot wait, such as a
    /// transaction block.
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

    /// Creates a replacement for a function without a result.
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

    /// Creates a replacement for an asynchronous function without a result.
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

    /// Creates a replacement for a variadic function.
    ///
    /// - Parameter answer: A closure that receives the decoded arguments and returns the results.
    func makeRecordedFunction<Argument: Decodable>(
        variadic name: String, isAsynchronous: Bool, _ record: @escaping EffectHandler,
        answering answer: @escaping (LuaState, [Argument]) throws -> [LuaValue]
    ) throws -> LuaFunction {
        let call: ([LuaValue]) throws -> [LuaValue] = { [unowned self] values in
            let decoded = try DecodedArguments.all(values, as: Argument.self, of: name)
            try self.note(name, values, record)
            return try answer(self, decoded)
        }
        guard isAsynchronous else { return try makeFunction(name) { try call($0.values) } }
        return try makeAsyncFunction(name, RecordedOperation(call: call))
    }

    private func note(_ name: String, _ values: [LuaValue], _ record: EffectHandler) throws {
        record(name, try values.map { try shortText(of: $0) })
    }

    /// Returns the result of a closure, or a placeholder without a closure.
    func answer(of name: String, _ answer: (() throws -> some Encodable)?) throws -> LuaValue {
        guard let answer else { return try missingResult(of: name) }
        return try encode(answer())
    }

    /// Returns a placeholder for an unknown result. A script can store and pass the placeholder; any other use raises an error.
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

/// An asynchronous operation that records a call and returns immediately.
private struct RecordedOperation: LuaAsyncOperation {
    let call: ([LuaValue]) throws -> [LuaValue]

    nonisolated(nonsending) func callAsFunction(_ values: [LuaValue]) async throws -> [LuaValue] { try call(values) }
}
