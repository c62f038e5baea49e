public import PeriluneLua

/// A Swift type whose values are Lua objects with methods and properties.
///
/// The type must be `Codable`. If Swift reports that it does not conform to `Decodable`, because it is an actor or a client, or a member is a
/// lock, conform to ``ScriptHandle`` instead. Scripts receive classes by reference, and structures as copies.
///
/// Registered functions can accept and return such values like any others, and a program can pass them as arguments:
///
/// ```swift
/// final class Letter: ScriptObject {
///     static let scriptName = "letter"
///     let to: String
///
///     init(to: String) { self.to = to }
///
///     static func describe(_ letter: ScriptObjectType<Letter>) {
///         letter.property("to", "The recipient.") { $0.to }
///         letter.method(
///             "greeting", "The first line.", parameters: ["title"],
///             effect: .none
///         ) { (letter, title: String) in
///             "Dear \(title) \(letter.to)"
///         }
///     }
/// }
/// ```
///
/// Each time a value is passed to Lua, a new userdata is created. Two userdata are equal (`==`) in Lua if they hold the same object, or
/// equal values of an `Equatable` type, but they are different table keys.
public protocol ScriptObject: LuaCoded, Sendable {
    /// The name of the type in messages, for example "expected letter, got a string".
    static var scriptName: String { get }

    /// Adds the methods and properties.
    static func describe(_ type: ScriptObjectType<Self>)
}

extension ScriptObject {
    public static var luaTypeName: String { scriptName }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> Self {
        guard case .userdata(let userdata) = value, let type = userdata.state?.userdataType(of: Self.self),
            type.matches(value)
        else { throw LuaError(.conversion, "expected \(scriptName), got \(value.shortDescription)") }
        return try type.value(of: value)
    }

    /// Returns a Lua object that refers to this object.
    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        if let type = state.userdataType(of: Self.self) { return .userdata(try type.make(self)) }
        let type = try state.makeUserdataType(Self.scriptName, of: Self.self)
        let described = ScriptObjectType<Self>(type)
        Self.describe(described)
        if let failure = described.failure { throw failure }
        try type.metamethod("__eq") { [unowned type] arguments in
            guard let one = try? type.value(of: arguments[1]), let other = try? type.value(of: arguments[2]) else {
                return [false]
            }
            return [.boolean(one.isSame(as: other))]
        }
        return .userdata(try type.make(self))
    }

    private func isSame(as other: Self) -> Bool {
        if let equatable = self as? any Equatable { return equatable.isEqual(to: other) }
        return Self.self is AnyObject.Type && self as AnyObject === other as AnyObject
    }
}

extension ScriptObject {
    /// Returns the contents of a LuaCATS annotation file, which describes the members of these objects to editors.
    ///
    /// - Throws: `LuaError` if the description of the type fails.
    public static func annotations() throws -> String {
        let state = try LuaState(libraries: [])
        return try withExtendedLifetime(state) {
            let type = ScriptObjectType<Self>(try state.makeUserdataType(scriptName, of: Self.self))
            describe(type)
            if let failure = type.failure { throw failure }
            return LuaAnnotations.text(ofClass: scriptName, type.members)
        }
    }
}

/// A ``ScriptObject`` that cannot be serialized, such as a client, a connection, or an object with closures.
///
/// A ``ScriptObject`` must be `Codable`, for example for JSON and GRDB. Swift synthesizes the conformance if all members are `Codable`. Use
/// this protocol for types that cannot be `Codable`.
public protocol ScriptHandle: ScriptObject {}

extension ScriptHandle {
    /// Always throws an error, because a handle can only be received from a script.
    public init(from decoder: any Decoder) throws {
        throw LuaError(.conversion, "a \(Self.scriptName) is a handle, which cannot be decoded")
    }

    /// Always throws an error, because a handle can only be passed to a script.
    public func encode(to encoder: any Encoder) throws {
        throw LuaError(.conversion, "a \(Self.scriptName) is a handle, which cannot be encoded")
    }
}

/// A builder for the methods and properties of a ``ScriptObject``.
///
/// Like the functions of a ``ScriptModule``, methods and properties may have effects outside of the program and its database. A preview
/// rejects calls of methods and setters whose effects are undeclared, because it cannot undo them.
public final class ScriptObjectType<Object: ScriptObject> {
    private let type: LuaUserdataType<Object>
    /// The first error that occurred while the members were added, for example because memory ran out.
    private(set) var failure: LuaError?
    /// The documentation of the members.
    private(set) var members: [ScriptMember] = []

    init(_ type: LuaUserdataType<Object>) {
        self.type = type
    }

    private func note<each Argument>(
        _ name: String, _ documentation: String, _ names: [String] = [], _ type: repeat (each Argument).Type, result: Any.Type?,
        isProperty: Bool = false
    ) {
        let parameters = ScriptModule.Parameter.list(names, repeat each type)
        if let reason = LuaError.reason(against: names, of: parameters) { fail(reason, in: name) }
        members.append(
            ScriptMember(
                name: name, documentation: documentation, parameters: parameters,
                result: result.map { TypeNames.name(of: $0) }, isProperty: isProperty))
    }

    private func fail(_ reason: LuaError, in member: String) {
        failure = failure ?? reason.prefixed("\(type.name):\(member)")
    }

    private func attempt(_ body: (_ state: LuaState) throws -> Void) {
        guard failure == nil else { return }
        do {
            try body(type.openState())
        } catch {
            failure = error as? LuaError ?? LuaError(.host, "\(error)")
        }
    }

    // MARK: - Properties

    /// Adds a property that scripts can read.
    ///
    /// - Parameters:
    ///   - name: The name of the property.
    ///   - documentation: A description of the property for authors of scripts.
    ///   - effect: The effects of reading the property outside of the program and its database.
    ///   - get: A closure that returns the value.
    ///   - preview: A closure that returns the value in a preview, if reading has an external effect.
    public func property<Value: Encodable>(
        _ name: String, _ documentation: String = "", effect: ScriptModule.Effect = .none,
        _ get: @escaping (Object) throws -> Value,
        preview: ((Object) throws -> Value)? = nil
    ) {
        note(name, documentation, result: Value.self, isProperty: true)
        attempt { state in try type.property(name, getter(of: name, effect, get, preview, in: state)) }
    }

    /// Adds a property that scripts can read and set.
    ///
    /// - Parameters:
    ///   - name: The name of the property.
    ///   - documentation: A description of the property for authors of scripts.
    ///   - effect: The effects of reading and setting the property outside of the program and its database. If undeclared, a preview allows
    ///     reading but rejects setting.
    ///   - get: A closure that returns the value.
    ///   - set: A closure that receives the decoded value.
    ///   - preview: A closure that returns the value in a preview, if reading has an external effect.
    public func property<Value: Codable>(
        _ name: String, _ documentation: String = "", effect: ScriptModule.Effect = .undeclared,
        _ get: @escaping (Object) throws -> Value, set: @escaping (Object, Value) throws -> Void,
        preview: ((Object) throws -> Value)? = nil
    ) {
        note(name, documentation, result: Value.self, isProperty: true)
        let (typeName, fullName) = (type.name, "\(type.name).\(name)")
        attempt { state in
            try type.property(name, getter(of: name, effect == .undeclared ? .none : effect, get, preview, in: state)) {
                [unowned state] object, value in
                let decoded: Value
                do throws(LuaError) {
                    decoded = try LuaDecoder().decode(from: value)
                } catch {
                    throw error.prefixed(fullName)
                }
                if try state.holdBack(effect, typeName, name, fullName, [value]) != nil { return }
                try set(object, decoded)
            }
        }
    }

    private func getter<Value: Encodable>(
        of name: String, _ effect: ScriptModule.Effect, _ get: @escaping (Object) throws -> Value,
        _ preview: ((Object) throws -> Value)?,
        in state: LuaState
    ) -> (Object) throws -> LuaValue {
        let (typeName, fullName) = (type.name, "\(type.name).\(name)")
        return { [unowned state] object in
            guard let held = try state.holdBack(effect, typeName, name, fullName, []) else {
                return try state.encode(get(object))
            }
            return try held.first ?? state.answer(of: fullName, preview.map { preview in { try preview(object) } })
        }
    }

    // MARK: - Methods

    /// Adds a method.
    ///
    /// - Parameters:
    ///   - name: The name of the method, for example `send` for `letter:send(address)`.
    ///   - documentation: A description of the method for authors of scripts.
    ///   - parameters: The names of the parameters, for authors of scripts.
    ///   - effect: The effects outside of the program and its database. If undeclared, a preview rejects the call.
    ///   - body: A closure that receives the object and the decoded arguments. Its result is encoded; its error becomes the error of the
    ///     call.
    ///   - preview: A closure that returns the result in a preview, for a method with external effects. Without this closure, a script
    ///     fails in a preview if it uses the result.
    public func method<each Argument: Decodable & Sendable, Result: Encodable>(
        _ name: String, _ documentation: String = "", parameters: [String] = [], effect: ScriptModule.Effect = .undeclared,
        _ body: @escaping (Object, repeat each Argument) throws -> Result,
        preview: ((Object, repeat each Argument) throws -> Result)? = nil
    ) {
        note(name, documentation, parameters, repeat (each Argument).self, result: Result.self)
        let (typeName, fullName) = (type.name, "\(type.name):\(name)")
        attempt { _ in
            try type.method(name) { object, arguments in
                let state = try arguments.state
                var position = 0
                let decoded = (repeat try arguments.decodeNext((each Argument).self, &position))
                guard let held = try state.holdBack(effect, typeName, name, fullName, arguments.values) else {
                    return [try state.encode(body(object, repeat each decoded))]
                }
                if !held.isEmpty { return held }
                guard let preview else { return [try state.missingResult(of: fullName)] }
                return [try state.encode(preview(object, repeat each decoded))]
            }
        }
    }

    /// Adds a method without a result.
    public func method<each Argument: Decodable & Sendable>(
        _ name: String, _ documentation: String = "", parameters: [String] = [], effect: ScriptModule.Effect = .undeclared,
        _ body: @escaping (Object, repeat each Argument) throws -> Void
    ) {
        note(name, documentation, parameters, repeat (each Argument).self, result: nil)
        let (typeName, fullName) = (type.name, "\(type.name):\(name)")
        attempt { _ in
            try type.method(name) { object, arguments in
                var position = 0
                let decoded = (repeat try arguments.decodeNext((each Argument).self, &position))
                if let held = try arguments.state.holdBack(effect, typeName, name, fullName, arguments.values) { return held }
                try body(object, repeat each decoded)
                return []
            }
        }
    }

    /// Adds an asynchronous method. The calling script waits without blocking a thread.
    public func method<each Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        _ name: String, _ documentation: String = "", parameters: [String] = [], effect: ScriptModule.Effect = .undeclared,
        _ body: @escaping @Sendable (Object, repeat each Argument) async throws -> Result,
        preview: (@Sendable (Object, repeat each Argument) throws -> Result)? = nil
    ) {
        note(name, documentation, parameters, repeat (each Argument).self, result: Result.self)
        attempt { state in
            let fullName = "\(type.name):\(name)"
            try addAsync(name, effect, in: state, body) { [unowned state] held, call in
                if !held.isEmpty { return held }
                guard let preview else { return [try state.missingResult(of: fullName)] }
                return [try state.encode(preview(call.object, repeat each call.arguments))]
            } results: { [unowned state] result in
                [try state.encode(result)]
            }
        }
    }

    /// Adds an asynchronous method without a result.
    public func method<each Argument: Decodable & Sendable>(
        _ name: String, _ documentation: String = "", parameters: [String] = [], effect: ScriptModule.Effect = .undeclared,
        _ body: @escaping @Sendable (Object, repeat each Argument) async throws -> Void
    ) {
        note(name, documentation, parameters, repeat (each Argument).self, result: nil)
        attempt { state in
            try addAsync(name, effect, in: state, body) { held, _ in
                held
            } results: { _ in
                []
            }
        }
    }

    /// - Parameters:
    ///   - answer: A closure that converts the results of the handler that has withheld a call.
    ///   - results: A closure that encodes the result of `body`.
    private func addAsync<each Argument: Decodable & Sendable, Result: Sendable>(
        _ name: String, _ effect: ScriptModule.Effect, in state: LuaState,
        _ body: @escaping @Sendable (Object, repeat each Argument) async throws -> Result,
        answer: @escaping ([LuaValue], MethodCall<Object, repeat each Argument>) throws -> [LuaValue],
        results: @escaping (Result) throws -> [LuaValue]
    ) throws {
        let (typeName, fullName) = (type.name, "\(type.name):\(name)")
        let function = try state.makeAsyncFunction(fullName) {
            [unowned state, unowned type] values -> LuaAsyncRequest<MethodCall<Object, repeat each Argument>> in
            let object = try type.value(of: values.first ?? .nil, for: fullName)
            var arguments = DecodedArguments(name: fullName, values: Array(values.dropFirst()))
            let call = MethodCall(object: object, arguments: (repeat try arguments.next((each Argument).self)))
            guard let held = try state.holdBack(effect, typeName, name, fullName, Array(values.dropFirst())) else {
                return .perform(call)
            }
            return .results(try answer(held, call))
        } perform: { call -> Result in
            try await body(call.object, repeat each call.arguments)
        } results: { result in
            try results(result)
        }
        try type.method(name, function)
    }
}

/// The object and the decoded arguments of an asynchronous method call.
private struct MethodCall<Object: Sendable, each Argument: Sendable>: Sendable {
    let object: Object
    let arguments: (repeat each Argument)
}

/// A handler that withholds external effects of objects, attached to the Lua state.
package final class ObjectEffects {
    /// Whether calls of members with undeclared effects are rejected.
    let refusesUndeclared: Bool
    /// A closure that handles a call instead of the object. Returns the results for the script; if it returns no results, the member's
    /// `preview` closure provides the result.
    let take:
        (_ state: LuaState, _ typeName: String, _ member: String, _ fullName: String, _ arguments: [LuaValue]) throws ->
            [LuaValue]

    package init(
        refusingUndeclared: Bool,
        _ take:
            @escaping (_ state: LuaState, _ typeName: String, _ member: String, _ fullName: String, _ arguments: [LuaValue])
            throws -> [LuaValue]
    ) {
        (refusesUndeclared, self.take) = (refusingUndeclared, take)
    }

    /// Attaches this handler to a Lua state.
    package func install(in state: LuaState) {
        state.attachments[ObjectIdentifier(ObjectEffects.self)] = self
    }
}

extension LuaState {
    /// Passes a call with effects to the handler of the state. Returns the handler's results; `nil` if the call must be executed.
    fileprivate func holdBack(
        _ effect: ScriptModule.Effect, _ typeName: String, _ member: String, _ fullName: String, _ arguments: [LuaValue]
    ) throws -> [LuaValue]? {
        guard effect != .none,
            let effects = attachments[ObjectIdentifier(ObjectEffects.self)] as? ObjectEffects
        else { return nil }
        if effect == .external { return try effects.take(self, typeName, member, fullName, arguments) }
        guard effects.refusesUndeclared else { return nil }
        throw LuaError.undeclaredEffect(of: fullName)
    }
}

extension LuaError {
    /// Returns the error for a call with undeclared effects in a preview.
    static func undeclaredEffect(of name: String) -> LuaError {
        LuaError(
            .runtime,
            "\(name) may act outside of the preview; declare it with `effect: .none` if it does not, or with `effect: .external` to have it recorded",
            fields: ["kind": "preview"])
    }
}

extension LuaMethodArguments {
    fileprivate func decodeNext<Value: Decodable>(_ type: Value.Type, _ position: inout Int) throws -> Value {
        position += 1
        return try decode(position, as: type)
    }

    fileprivate var values: [LuaValue] { count == 0 ? [] : (1...count).map { self[$0] } }
}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool { other as? Self == self }
}
