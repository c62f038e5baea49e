/// Swift functions whose arguments are decoded and whose results are encoded.
extension LuaState {
    /// Creates a Lua function from a Swift closure with decoded parameters and an encoded result.
    ///
    /// - Parameters:
    ///   - name: The function's name in errors: `mail.send: argument 1: expected a string, got nil`.
    ///   - body: Receives the decoded arguments and returns the result to encode. If it throws, the call raises that error.
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    public func makeCodedFunction<each Argument: Decodable, Result: Encodable>(
        _ name: String, _ body: @escaping (repeat each Argument) throws -> Result
    ) throws(LuaError) -> LuaFunction {
        try core.makeFunction(
            name,
            typed: { arguments in
                try body(repeat try arguments.decodeNext((each Argument).self))
            }, result: { core, result in try core.encode(result, of: name) })
    }

    /// Creates a Lua function from a Swift closure with decoded parameters and no result.
    ///
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    public func makeCodedFunction<each Argument: Decodable>(
        _ name: String, _ body: @escaping (repeat each Argument) throws -> Void
    ) throws(LuaError) -> LuaFunction {
        try core.makeFunction(
            name,
            typed: { arguments in
                try body(repeat try arguments.decodeNext((each Argument).self))
            }, result: nil)
    }

    /// Creates a Lua function from an asynchronous Swift closure with decoded parameters and an encoded result.
    ///
    /// The closure runs in a separate task, which starts on the state's thread and leaves the thread at its first suspension. If
    /// the run is cancelled or exceeds its time limit while the closure is suspended, the script ends immediately. The task is
    /// cancelled, but the script does not wait for it to end.
    ///
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    public func makeCodedAsyncFunction<each Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        _ name: String, _ body: @escaping @Sendable (repeat each Argument) async throws -> Result
    ) throws(LuaError) -> LuaFunction {
        try makeAsyncFunction(
            name, CodedOperation(core: core, name: name, body: body) { core, result in [try core.encode(result, of: name)] })
    }

    /// Creates a Lua function from an asynchronous Swift closure with decoded parameters and no result.
    ///
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    public func makeCodedAsyncFunction<each Argument: Decodable & Sendable>(
        _ name: String, _ body: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) throws(LuaError) -> LuaFunction {
        try makeAsyncFunction(name, CodedOperation(core: core, name: name, body: body) { _, _ in [] })
    }
}

/// Swift functions that accept any number of arguments of one type.
extension LuaState {
    /// Creates a Lua function from a Swift closure that receives all arguments in an array, and returns a result to encode.
    ///
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    package func makeVariadicFunction<Argument: Decodable, Result: Encodable>(
        _ name: String, _ body: @escaping ([Argument]) throws -> Result
    ) throws(LuaError) -> LuaFunction {
        try makeFunction(name) { arguments in
            let result = try body(DecodedArguments.all(arguments.values, as: Argument.self, of: name))
            return [try arguments.core.encode(result, of: name)]
        }
    }

    /// Creates a Lua function from a Swift closure that receives all arguments in an array, and returns nothing.
    ///
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    package func makeVariadicFunction<Argument: Decodable>(
        _ name: String, _ body: @escaping ([Argument]) throws -> Void
    ) throws(LuaError) -> LuaFunction {
        try makeFunction(name) { arguments in
            try body(DecodedArguments.all(arguments.values, as: Argument.self, of: name))
            return []
        }
    }

    /// Creates a Lua function from an asynchronous Swift closure that receives all arguments in an array, and returns a result to encode.
    ///
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    package func makeVariadicAsyncFunction<Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        _ name: String, _ body: @escaping @Sendable ([Argument]) async throws -> Result
    ) throws(LuaError) -> LuaFunction {
        let core = core
        return try makeAsyncFunction(
            name, request: { .perform(try DecodedArguments.all($0, as: Argument.self, of: name)) }, perform: body,
            results: { [unowned core] result in [try core.encode(result, of: name)] })
    }

    /// Creates a Lua function from an asynchronous Swift closure that receives all arguments in an array, and returns nothing.
    ///
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    package func makeVariadicAsyncFunction<Argument: Decodable & Sendable>(
        _ name: String, _ body: @escaping @Sendable ([Argument]) async throws -> Void
    ) throws(LuaError) -> LuaFunction {
        try makeAsyncFunction(
            name, request: { .perform(try DecodedArguments.all($0, as: Argument.self, of: name)) }, perform: body,
            results: { _ in [] })
    }
}

extension LuaState {
    /// Creates a Lua function from an asynchronous operation. On the state's actor, `request` converts the arguments, and `results`
    /// converts the response. `request` may instead return the results directly, without a wait. Limits and cancellation end the
    /// wait.
    ///
    /// - Parameter staysOnThread: Whether `perform` resumes on the state's thread after each wait. Use it for operations with
    ///   little work after a wait.
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    package func makeAsyncFunction<Request: Sendable, Response: Sendable>(
        _ name: String, stayingOnThread staysOnThread: Bool = false,
        request: @escaping ([LuaValue]) throws -> LuaAsyncRequest<Request>,
        perform: @escaping @Sendable (Request) async throws -> Response, results: @escaping (Response) throws -> [LuaValue]
    ) throws(LuaError) -> LuaFunction {
        try makeAsyncFunction(
            name,
            ConvertedOperation(core: core, staysOnThread: staysOnThread, request: request, perform: perform, results: results))
    }
}

/// The request made by a call to an asynchronous function, or the results of a call that needs no asynchronous work.
package enum LuaAsyncRequest<Request> {
    case perform(Request)
    case results([LuaValue])
}

/// An asynchronous operation with explicit conversions of its arguments and results.
private struct ConvertedOperation<Request: Sendable, Response: Sendable>: LuaAsyncOperation {
    unowned let core: LuaCore
    let staysOnThread: Bool
    let request: ([LuaValue]) throws -> LuaAsyncRequest<Request>
    let perform: @Sendable (Request) async throws -> Response
    let results: (Response) throws -> [LuaValue]

    nonisolated(nonsending) func callAsFunction(_ values: [LuaValue]) async throws -> [LuaValue] {
        switch try request(values) {
        case .results(let known): return known
        case .perform(let wanted):
            let perform = perform
            return try results(try await core.waiting(stayingOnThread: staysOnThread) { try await perform(wanted) })
        }
    }
}

/// An operation that decodes the arguments on the state's actor, performs its work in a separate task, and encodes the result on
/// the actor.
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

/// A sequential reader that decodes a call's arguments.
package struct DecodedArguments {
    let name: String
    let values: [LuaValue]
    private var position = 0

    package init(name: String, values: [LuaValue]) {
        self.name = name
        self.values = values
    }

    /// Decodes the next argument. A missing argument counts as `nil`.
    package mutating func next<Value: Decodable>(_ type: Value.Type) throws(LuaError) -> Value {
        position += 1
        let value = position <= values.count ? values[position - 1] : .nil
        return try convertArgument(position, of: name) { () throws(LuaError) in try LuaDecoder().decode(type, from: value) }
    }

    /// Decodes all arguments as one type.
    package static func all<Value: Decodable>(
        _ values: [LuaValue], as type: Value.Type, of name: String
    ) throws(LuaError) -> [Value] {
        var arguments = DecodedArguments(name: name, values: values)
        var decoded: [Value] = []
        for _ in values { decoded.append(try arguments.next(type)) }
        return decoded
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
