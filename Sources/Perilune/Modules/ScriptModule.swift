internal import PeriluneLua

/// A module of Swift functions that is defined for scripts; see ``ScriptHost/register(module:_:_:)``.
///
/// Parameters are decoded and results encoded: any `Decodable` or `Encodable` type works, and so do ``ScriptObject``s. A script that passes
/// a wrong value gets an error that names the function, the argument and the expected type.
public final class ScriptModule {
    /// A function's effect besides returning a result.
    @nonexhaustive
    public enum Effect: String, Sendable {
        /// No effects that matter outside of the program and its database.
        case none
        /// An external effect that cannot be undone, such as a letter or a payment. Previews record the call instead of executing it:
        /// arguments are checked as usual, and the function's `preview` returns the result.
        case external
        /// An unknown effect: previews refuse the call. The default for methods of objects.
        case undeclared
    }

    /// A parameter of a function, for people and editors.
    public struct Parameter: Hashable, Codable, Sendable {
        /// Its name.
        public let name: String
        /// The type in LuaCATS notation.
        public let type: String
    }

    /// The documentation of a function.
    public struct Function: Sendable {
        /// The name that scripts use.
        public let name: String
        /// Its purpose, for people.
        public let documentation: String
        /// Its parameters.
        public let parameters: [Parameter]
        /// The type of the result in LuaCATS notation; `nil` without a result.
        public let result: String?
        /// Its effect.
        public let effect: Effect
        /// Whether the calling script waits while no thread is blocked.
        public let isAsynchronous: Bool

        package let make: @Sendable (LuaState, _ fullName: String) throws -> LuaFunction
        /// Makes the function for previews, which records its calls.
        let makeRecorded: @Sendable (LuaState, _ fullName: String, @escaping EffectHandler) throws -> LuaFunction
        /// Throws for arguments that the function would refuse.
        package let checkArguments: @Sendable (_ values: [LuaValue], _ fullName: String) throws -> Void
    }

    let name: String
    package private(set) var functions: [Function] = []

    package init(_ name: String) {
        self.name = name
    }

    /// Adds a function.
    ///
    /// It runs on the host's thread, while the script waits. Make long operations asynchronous: only then can the run's limits end the
    /// wait.
    ///
    /// - Parameters:
    ///   - documentation: The purpose, for authors of scripts.
    ///   - parameters: The names of the parameters, for authors of scripts.
    ///   - preview: Returns the result in a preview, for a function with external effects. Without it, a script that uses the result
    ///     fails in previews.
    ///   - name: The name in scripts, a field of the module.
    ///   - effect: Its effect outside of the database, if any.
    ///   - body: Receives the decoded arguments. Its result is encoded; its error becomes the error of the call.
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
    ///   - name: The name in scripts, a field of the module.
    ///   - documentation: The purpose, for authors of scripts.
    ///   - parameters: The names of the parameters, for authors of scripts.
    ///   - effect: Its effect outside of the database, if any.
    ///   - body: Receives the decoded arguments. Its error becomes the error of the call.
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

    /// Adds an asynchronous function. The calling script waits, and no thread is blocked.
    ///
    /// The function starts on the host's thread and leaves it at the first `await` that suspends, so a function that returns immediately is
    /// cheap. Call `await Task.yield()` before a long computation, which would otherwise block other scripts of the host.
    ///
    /// - Parameters:
    ///   - name: The name in scripts, a field of the module.
    ///   - documentation: The purpose, for authors of scripts.
    ///   - parameters: The names of the parameters, for authors of scripts.
    ///   - effect: Its effect outside of the database, if any.
    ///   - body: Receives the decoded arguments. Its error becomes the error of the call.
    ///   - preview: Returns the result in a preview, for a function with external effects.
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

    /// Adds an asynchronous function without a result. The calling script waits, and no thread is blocked.
    ///
    /// - Parameters:
    ///   - name: The name in scripts, a field of the module.
    ///   - documentation: The purpose, for authors of scripts.
    ///   - parameters: The names of the parameters, for authors of scripts.
    ///   - effect: Its effect outside of the database, if any.
    ///   - body: Receives the decoded arguments. Its error becomes the error of the call.
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

    /// Adds a function that takes any number of arguments of one type.
    ///
    /// ```swift
    /// mail.function(variadic: "join") { (parts: [String]) in parts.joined(separator: "+") }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name in scripts, a field of the module.
    ///   - documentation: The purpose, for authors of scripts.
    ///   - effect: Its effect outside of the database, if any.
    ///   - body: Receives all decoded arguments.
    ///   - preview: Returns the result in a preview, for a function with external effects.
    public func function<Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        variadic name: String, _ documentation: String = "", effect: Effect = .none,
        _ body: @escaping @Sendable ([Argument]) throws -> Result, preview: (@Sendable ([Argument]) throws -> Result)? = nil
    ) {
        add(name, documentation, ["..."], (Argument.self), Result.self, effect) { state, fullName in
            try state.makeFunction(fullName) { arguments in
                let values = try (0..<arguments.count).map { try arguments.decode($0 + 1, as: Argument.self) }
                return [try arguments.state.encode(body(values))]
            }
        } recorded: { state, fullName, record in
            try state.makeFunction(fullName) { arguments in
                let values = try (0..<arguments.count).map { try arguments.decode($0 + 1, as: Argument.self) }
                let state = try arguments.state
                record(fullName, try arguments.values.map { try state.shortText(of: $0) })
                return [try state.answer(of: fullName, preview.map { preview in { try preview(values) } })]
            }
        } checking: { values, fullName in
            var arguments = DecodedArguments(name: fullName, values: values)
            for _ in values { _ = try arguments.next(Argument.self) }
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
        functions.append(
            Function(
                name: name, documentation: documentation, parameters: described,
                result: result.map { TypeNames.name(of: $0) }, effect: effect, isAsynchronous: isAsynchronous, make: make,
                makeRecorded: recorded, checkArguments: check ?? Self.check(of: (repeat (each Argument).self))))
    }

    /// Decodes arguments and discards them.
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
    /// Returns the parameters with their types, and their names as far as given.
    static func list<each Argument>(_ names: [String], _ type: repeat (each Argument).Type) -> [ScriptModule.Parameter] {
        var list: [ScriptModule.Parameter] = []
        for type in repeat each type {
            let name = list.count < names.count ? names[list.count] : "argument\(list.count + 1)"
            list.append(ScriptModule.Parameter(name: name, type: TypeNames.name(of: type)))
        }
        return list
    }
}
