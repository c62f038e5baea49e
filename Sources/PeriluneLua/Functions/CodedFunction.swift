/// Swift functions whose arguments and results are coded.
extension LuaState {
    /// Makes a function of Lua out of a Swift closure whose parameters are decoded and whose result is encoded.
    ///
    /// - Parameter name: What errors call the function: `mail.send: argument 1: expected a string, got nil`.
    /// - Parameter body: Gets the decoded arguments; what it returns is encoded, what it throws becomes the error of the call.
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func makeCodedFunction<each Argument: Decodable, Result: Encodable>(
        _ name: String, _ body: @escaping (repeat each Argument) throws -> Result
    ) throws(LuaError) -> LuaFunction {
        try core.makeFunction(name, typed: { arguments in
            try body(repeat try arguments.decodeNext((each Argument).self))
        }, result: { core, result in try core.encode(result, of: name) })
    }

    /// Makes a function of Lua out of a Swift closure whose parameters are decoded, without a result.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func makeCodedFunction<each Argument: Decodable>(
        _ name: String, _ body: @escaping (repeat each Argument) throws -> Void
    ) throws(LuaError) -> LuaFunction {
        try core.makeFunction(name, typed: { arguments in
            try body(repeat try arguments.decodeNext((each Argument).self))
        }, result: nil)
    }

    /// Makes a function of Lua out of an asynchronous Swift closure whose parameters are decoded and whose result is encoded.
    ///
    /// The closure runs in a task of its own. When the run is cancelled or its time is over, the script ends at once: the task
    /// is cancelled, and nothing waits for it.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func makeCodedAsyncFunction<each Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        _ name: String, _ body: @escaping @Sendable (repeat each Argument) async throws -> Result
    ) throws(LuaError) -> LuaFunction {
        try makeAsyncFunction(name, CodedOperation(core: core, name: name, body: body) { core, result in [try core.encode(result, of: name)] })
    }

    /// Makes a function of Lua out of an asynchronous Swift closure whose parameters are decoded, without a result.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func makeCodedAsyncFunction<each Argument: Decodable & Sendable>(
        _ name: String, _ body: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) throws(LuaError) -> LuaFunction {
        try makeAsyncFunction(name, CodedOperation(core: core, name: name, body: body) { _, _ in [] })
    }
}

extension LuaState {
    /// Makes a function of Lua out of an asynchronous operation on what the arguments are made into, on the actor of the state before
    /// and after it. Limits and cancellation end the wait, as they do for coded functions.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    package func makeAsyncFunction<Request: Sendable, Response: Sendable>(
        _ name: String, request: @escaping ([LuaValue]) throws -> Request,
        perform: @escaping @Sendable (Request) async throws -> Response, results: @escaping (Response) throws -> [LuaValue]
    ) throws(LuaError) -> LuaFunction {
        try makeAsyncFunction(name, ConvertedOperation(core: core, request: request, perform: perform, results: results))
    }
}

/// As coded operations, with conversions of its own.
private struct ConvertedOperation<Request: Sendable, Response: Sendable>: LuaAsyncOperation {
    unowned let core: LuaCore
    let request: ([LuaValue]) throws -> Request
    let perform: @Sendable (Request) async throws -> Response
    let results: (Response) throws -> [LuaValue]

    nonisolated(nonsending) func callAsFunction(_ values: [LuaValue]) async throws -> [LuaValue] {
        let (wanted, perform) = (try request(values), perform)
        return try results(try await core.waiting { try await perform(wanted) })
    }
}

/// Decodes the arguments on the actor of the state, has a task of its own do the work, and gives its result back on the actor.
private struct CodedOperation<each Argument: Decodable & Sendable, Result: Sendable>: LuaAsyncOperation {
    unowned let core: LuaCore
    let name: String
    let body: @Sendable (repeat each Argument) async throws -> Result
    let encode: (LuaCore, Result) throws -> [LuaValue]

    func callAsFunction(_ values: [LuaValue]) async throws -> [LuaValue] {
        var arguments = DecodedArguments(name: name, values: values)
        let decoded = (repeat try arguments.next((each Argument).self))
        let body = body
        return try encode(core, await core.waiting { try await body(repeat each decoded) })
    }
}

/// Takes one argument after the other of those that are handles already.
package struct DecodedArguments {
    let name: String
    let values: [LuaValue]
    private var position = 0

    package init(name: String, values: [LuaValue]) {
        self.name = name
        self.values = values
    }

    /// Decodes the next one; `nil` stands for those that are missing.
    package mutating func next<Value: Decodable>(_ type: Value.Type) throws(LuaError) -> Value {
        position += 1
        let value = position <= values.count ? values[position - 1] : .nil
        return try convertArgument(position, of: name) { () throws(LuaError) in try LuaDecoder().decode(type, from: value) }
    }
}

extension LuaCore {
    fileprivate func encode<Result: Encodable>(_ result: Result, of name: String) throws(LuaError) -> LuaValue {
        do {
            return try openState().encode(result)
        } catch {
            throw LuaError(.conversion, "\(name): the result: \(error.message)")
        }
    }
}
