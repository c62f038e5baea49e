internal import PeriluneLua

/// A builder for a module of Swift functions that scripts can call; see ``ScriptHost/register(module:_:_:)``.
///
/// Parameters can have any `Decodable` type, and results any `Encodable` type, including ``ScriptObject`` types. If a script passes an
/// invalid argument, the error contains the function, the argument and the expected type.
///
/// A module contains only functions. To offer a constant, register a function without arguments. To return several results, return an array
/// or a structure. To accept a callback, take the name of a Lua function, and pass it to `host.call`.
public final class ScriptModule {
    /// The side effects of a function, which determine whether a preview executes it.
    @nonexhaustive
    public enum Effect: String, Sendable {
        /// No significant effects outside of the program and its database.
        case none
        /// An external effect that cannot be undone, such as sending a letter or making a payment. Previews record the call instead of
        /// executing it: they check the arguments as usual, and the function's `preview` closure returns the result.
        case external
        /// Unknown effects. Previews reject the call. This is the default for methods of objects.
        case undeclared
    }

    /// The documentation of a function's parameter.
    public struct Parameter: Hashable, Codable, Sendable {
        /// The name of the parameter.
        public let name: String
        /// The type of the parameter in LuaCATS notation.
        public let type: String
    }

    /// A function of the module, with its documentation.
    public struct Function: Sendable {
        /// The name of the function, a field of the module.
        public let name: String
        /// A description of the function for people.
        public let documentation: String
        /// The parameters, in order.
        public let parameters: [Parameter]
        /// The type of the result in LuaCATS notation; `nil` without a result.
        public let result: String?
        /// The side effects of the function.
        public let effect: Effect
        /// Whether the function is asynchronous: the calling script waits without blocking a thread.
        public let isAsynchronous: Bool

        package let make: @Sendable (LuaState, _ fullName: String) throws -> LuaFunction
        /// Creates the replacement for previews, which records calls.
        let makeRecorded: @Sendable (LuaState, _ fullName: String, @escaping EffectHandler) throws -> LuaFunction
        /// Throws an error for arguments that the function would reject.
        package let checkArguments: @Sendable (_ values: [LuaValue], _ fullName: String) throws -> Void
    }

    let name: String
    package private(set) var functions: [Function] = []
    /// The first function that cannot be registered.
    package private(set) var failure: LuaError?

    package init(_ name: String) {
        self.name = name
    }

    /// Adds a function.
    ///
    /// The function runs on the host's thread, while the script waits. Make long operations asynchronous, because the run's limits cannot
    /// interrupt a synchronous function.
    ///
    /// - Parameters:
    ///   - documentation: A description of the function for authors of scripts.
    ///   - parameters: The names of the parameters, for authors of scripts.
    ///   - preview: A closure that returns the result in a preview, for a function with external effects. Without this closure, a script
    ///     fails in a preview if it uses the result.
    ///   - name: The name of the function, a field of the module.
    ///   - effect: The effects outside of the program and its database.
    ///   - body: A closure that receives the decoded arguments. Its result is encoded; its error becomes the error of the call.
    public func function<each Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        _ name: String, _ documentation: String = "", parameters: [String] = [], effect: Effect = .none,
        _ body: @escaping @Sendable (repeat each Argument) throws -> Result,
        preview: (@Sendable (repeat each Argument) throws -> Result)? = nil
    ) {
        add(name, documentation, parameters, (repeat (each Argument).self), Result.self, effect) { state, fullName in
            try state.makeCodedFunction(fullName, body)
        } recorded: { state, fullName, record in
            try state.makeRecordedFunction(fullName, record, answering: preview)
        }
    }

    /// Adds a function without a result.
    ///
    /// - Parameters:
    ///   - name: The name of the function, a field of the module.
    ///   - documentation: A description of the function for authors of scripts.
    ///   - parameters: The names of the parameters, for authors of scripts.
    ///   - effect: The effects outside of the program and its database.
    ///   - body: A closure that receives the decoded arguments. Its error becomes the error of the call.
    public func function<each Argument: Decodable & Sendable>(
        _ name: String, _ documentation: String = "", parameters: [String] = [], effect: Effect = .none,
        _ body: @escaping @Sendable (repeat each Argument) throws -> Void
    ) {
        add(name, documentation, parameters, (repeat (each Argument).self), nil, effect) { state, fullName in
            try state.makeCodedFunction(fullName, body)
        } recorded: { state, fullName, record in
            try state.makeRecordedFunction(fullName, of: (repeat (each Argument).self), record)
        }
    }

    /// Adds an asynchronous function. The calling script waits without blocking a thread.
    ///
    /// The function starts on the host's thread and leaves it at the first `await` that suspends, so a function that returns without
    /// suspending is cheap. Call `await Task.yield()` before a long computation, which would otherwise block the host's other scripts.
    ///
    /// - Parameters:
    ///   - name: The name of the function, a field of the module.
    ///   - documentation: A description of the function for authors of scripts.
    ///   - parameters: The names of the parameters, for authors of scripts.
    ///   - effect: The effects outside of the program and its database.
    ///   - body: A closure that receives the decoded arguments. Its result is encoded; its error becomes the error of the call.
    ///   - preview: A closure that returns the result in a preview, for a function with external effects.
    public func function<each Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        _ name: String, _ documentation: String = "", parameters: [String] = [], effect: Effect = .none,
        _ body: @escaping @Sendable (repeat each Argument) async throws -> Result,
        preview: (@Sendable (repeat each Argument) throws -> Result)? = nil
    ) {
        add(name, documentation, parameters, (repeat (each Argument).self), Result.self, effect, isAsynchronous: true) {
            state, fullName in
            try state.makeCodedAsyncFunction(fullName, body)
        } recorded: { state, fullName, record in
            try state.makeRecordedAsyncFunction(fullName, record, answering: preview)
        }
    }

    /// Adds an asynchronous function without a result. The calling script waits without blocking a thread.
    ///
    /// - Parameters:
    ///   - name: The name of the function, a field of the module.
    ///   - documentation: A description of the function for authors of scripts.
    ///   - parameters: The names of the parameters, for authors of scripts.
    ///   - effect: The effects outside of the program and its database.
    ///   - body: A closure that receives the decoded arguments. Its error becomes the error of the call.
    public func function<each Argument: Decodable & Sendable>(
        _ name: String, _ documentation: String = "", parameters: [String] = [], effect: Effect = .none,
        _ body: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) {
        add(name, documentation, parameters, (repeat (each Argument).self), nil, effect, isAsynchronous: true) {
            state, fullName in
            try state.makeCodedAsyncFunction(fullName, body)
        } recorded: { state, fullName, record in
            try state.makeRecordedAsyncFunction(fullName, of: (repeat (each Argument).self), record)
        }
    }

    /// Adds a variadic function, which accepts any number of arguments of one type.
    ///
    /// ```swift
    /// mail.function(variadic: "join") { (parts: [String]) in parts.joined(separator: "+") }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the function, a field of the module.
    ///   - documentation: A description of the function for authors of scripts.
    ///   - effect: The effects outside of the program and its database.
    ///   - body: A closure that receives all decoded arguments.
    ///   - preview: A closure that returns the result in a preview, for a function with external effects.
    public func function<Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        variadic name: String, _ documentation: String = "", effect: Effect = .none,
        _ body: @escaping @Sendable ([Argument]) throws -> Result, preview: (@Sendable ([Argument]) throws -> Result)? = nil
    ) {
        add(variadic: name, documentation, Result.self, effect) { state, fullName in
            try state.makeVariadicFunction(fullName, body)
        } answering: { (state, fullName, values: [Argument]) in
            [try state.answer(of: fullName, preview.map { preview in { try preview(values) } })]
        }
    }

    /// Adds a variadic function without a result, which accepts any number of arguments of one type.
    ///
    /// - Parameters:
    ///   - name: The name of the function, a field of the module.
    ///   - documentation: A description of the function for authors of scripts.
    ///   - effect: The effects outside of the program and its database.
    ///   - body: A closure that receives all decoded arguments.
    public func function<Argument: Decodable & Sendable>(
        variadic name: String, _ documentation: String = "", effect: Effect = .none,
        _ body: @escaping @Sendable ([Argument]) throws -> Void
    ) {
        add(variadic: name, documentation, nil, effect) { state, fullName in
            try state.makeVariadicFunction(fullName, body)
        } answering: { (_, _, _: [Argument]) in
            []
        }
    }

    /// Adds an asynchronous variadic function, which accepts any number of arguments of one type. The calling script waits without blocking
    /// a thread.
    ///
    /// - Parameters:
    ///   - name: The name of the function, a field of the module.
    ///   - documentation: A description of the function for authors of scripts.
    ///   - effect: The effects outside of the program and its database.
    ///   - body: A closure that receives all decoded arguments.
    ///   - preview: A closure that returns the result in a preview, for a function with external effects.
    public func function<Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        variadic name: String, _ documentation: String = "", effect: Effect = .none,
        _ body: @escaping @Sendable ([Argument]) async throws -> Result,
        preview: (@Sendable ([Argument]) throws -> Result)? = nil
    ) {
        add(variadic: name, documentation, Result.self, effect, isAsynchronous: true) { state, fullName in
            try state.makeVariadicAsyncFunction(fullName, body)
        } answering: { (state, fullName, values: [Argument]) in
            [try state.answer(of: fullName, preview.map { preview in { try preview(values) } })]
        }
    }

    /// Adds an asynchronous variadic function without a result, which accepts any number of arguments of one type. The calling script waits
    /// without blocking a thread.
    ///
    /// - Parameters:
    ///   - name: The name of the function, a field of the module.
    ///   - documentation: A description of the function for authors of scripts.
    ///   - effect: The effects outside of the program and its database.
    ///   - body: A closure that receives all decoded arguments.
    public func function<Argument: Decodable & Sendable>(
        variadic name: String, _ documentation: String = "", effect: Effect = .none,
        _ body: @escaping @Sendable ([Argument]) async throws -> Void
    ) {
        add(variadic: name, documentation, nil, effect, isAsynchronous: true) { state, fullName in
            try state.makeVariadicAsyncFunction(fullName, body)
        } answering: { (_, _, _: [Argument]) in
            []
        }
    }

    private func add<Argument: Decodable & Sendable>(
        variadic name: String, _ documentation: String, _ result: Any.Type?, _ effect: Effect, isAsynchronous: Bool = false,
        _ make: @escaping @Sendable (LuaState, String) throws -> LuaFunction,
        answering answer: @escaping @Sendable (LuaState, String, [Argument]) throws -> [LuaValue]
    ) {
        add(name, documentation, ["..."], (Argument.self), result, effect, isAsynchronous: isAsynchronous, make) {
            state, fullName, record in
            try state.makeRecordedFunction(variadic: fullName, isAsynchronous: isAsynchronous, record) { state, values in
                try answer(state, fullName, values)
            }
        } checking: { values, fullName in
            _ = try DecodedArguments.all(values, as: Argument.self, of: fullName)
        }
    }

    private func add<each Argument: Decodable & Sendable>(
        _ name: String, _ documentation: String, _ parameters: [String], _ type: (repeat (each Argument).Type),
        _ result: Any.Type?, _ effect: Effect, isAsynchronous: Bool = false,
        _ make: @escaping @Sendable (LuaState, String) throws -> LuaFunction,
        recorded: @escaping @Sendable (LuaState, String, @escaping EffectHandler) throws -> LuaFunction,
        checking check: (@Sendable ([LuaValue], String) throws -> Void)? = nil
    ) {
        precondition(!functions.contains { $0.name == name }, "the module \(self.name) has two functions named \(name)")
        let described = Parameter.list(parameters, repeat each type)
        if let reason = LuaError.reason(against: parameters, of: described) { note(reason, in: name) }
        functions.append(
            Function(
                name: name, documentation: documentation, parameters: described,
                result: result.map { TypeNames.name(of: $0) }, effect: effect, isAsynchronous: isAsynchronous, make: make,
                makeRecorded: recorded, checkArguments: check ?? Self.check(of: (repeat (each Argument).self))))
    }

    private func note(_ failure: LuaError, in function: String) {
        self.failure = self.failure ?? failure.prefixed("\(name).\(function)")
    }

    /// Returns a closure that checks arguments by decoding them.
    private static func check<each Argument: Decodable & Sendable>(
        of types: (repeat (each Argument).Type)
    ) -> @Sendable ([LuaValue], String) throws -> Void {
        { values, fullName in
            var arguments = DecodedArguments(name: fullName, values: values)
            repeat _ = try arguments.next((each Argument).self)
        }
    }
}

extension ScriptModule.Parameter {
    /// Returns the parameters with their types. Parameters without a given name are called `argument1`, `argument2`, and so on.
    static func list<each Argument>(_ names: [String], _ type: repeat (each Argument).Type) -> [ScriptModule.Parameter] {
        var list: [ScriptModule.Parameter] = []
        for type in repeat each type {
            let name = list.count < names.count ? names[list.count] : "argument\(list.count + 1)"
            list.append(ScriptModule.Parameter(name: name, type: TypeNames.name(of: type)))
        }
        return list
    }
}

extension LuaError {
    /// Returns the error for names of parameters that do not fit the parameters: too many names, or a repeated one. Fewer names are allowed.
    static func reason(against names: [String], of parameters: [ScriptModule.Parameter]) -> LuaError? {
        if names.count > parameters.count {
            let count = "\(parameters.count) parameter\(parameters.count == 1 ? "" : "s")"
            return LuaError(.usage, "`parameters` has \(names.count) names, but the closure has \(count)")
        }
        guard let repeated = names.indices.first(where: { names[..<$0].contains(names[$0]) }) else { return nil }
        return LuaError(.usage, "`parameters` contains `\(names[repeated])` twice")
    }
}
