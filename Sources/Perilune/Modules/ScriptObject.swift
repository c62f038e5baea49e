public import PeriluneLua

/// A Swift type whose values scripts hold by reference: objects with methods and properties.
///
/// Functions that are registered take and return such values like any other:
///
/// ```swift
/// final class Letter: ScriptObject {
///     static let scriptName = "letter"
///     let to: String
///
///     init(to: String) { self.to = to }
///
///     static func describe(_ letter: ScriptObjectType<Letter>) {
///         letter.property("to") { $0.to }
///         letter.method("greeting") { (letter, title: String) in "Dear \(title) \(letter.to)" }
///     }
/// }
/// ```
///
/// A value that is handed over twice is two userdata. They are equal (`==`) in Lua if they hold the same object, or equal values of a type
/// that is `Equatable`; as keys of a table they differ.
public protocol ScriptObject: LuaCoded, Sendable {
    /// What messages call a value: "expected letter, got a string".
    static var scriptName: String { get }

    /// Adds the methods and properties.
    static func describe(_ type: ScriptObjectType<Self>)
}

extension ScriptObject {
    public static var luaTypeName: String { scriptName }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> Self {
        guard case .userdata(let userdata) = value, let type = userdata.state?.userdataType(of: Self.self),
            type.matches(value)
        else { throw LuaError(.conversion, "expected \(scriptName), got \(value.typeName)") }
        return try type.value(of: value)
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        if let type = state.userdataType(of: Self.self) { return .userdata(try type.make(self)) }
        let type = try state.makeUserdataType(Self.scriptName, of: Self.self)
        let described = ScriptObjectType<Self>(type)
        Self.describe(described)
        if let failure = described.failure { throw failure }
        try type.metamethod("__eq") { [unowned type] arguments in
            guard let one = try? type.value(of: arguments[1]), let other = try? type.value(of: arguments[2]) else { return [false] }
            return [.boolean(one.isSame(as: other))]
        }
        return .userdata(try type.make(self))
    }

    private func isSame(as other: Self) -> Bool {
        if let equatable = self as? any Equatable { return equatable.isEqual(to: other) }
        return Self.self is AnyObject.Type && self as AnyObject === other as AnyObject
    }

    /// Passed through by `LuaDecoder`; other decoders cannot make one.
    public init(from decoder: any Decoder) throws {
        throw LuaError(.conversion, "only LuaDecoder can decode \(Self.scriptName)")
    }

    /// Passed through by `LuaEncoder`; it means nothing to other encoders.
    public func encode(to encoder: any Encoder) throws {
        throw LuaError(.conversion, "only LuaEncoder can encode \(Self.scriptName)")
    }
}

/// Takes the methods and properties of a ``ScriptObject``.
public final class ScriptObjectType<Object: ScriptObject> {
    private let type: LuaUserdataType<Object>
    /// What went wrong while the type was made: there is no memory left.
    private(set) var failure: LuaError?

    init(_ type: LuaUserdataType<Object>) {
        self.type = type
    }

    private func attempt(_ body: () throws(LuaError) -> Void) {
        guard failure == nil else { return }
        do throws(LuaError) { try body() } catch { failure = error }
    }

    /// Adds a property that scripts can read.
    public func property<Value: Encodable>(_ name: String, _ get: @escaping (Object) throws -> Value) {
        attempt { () throws(LuaError) in
            let state = try type.openState()
            try type.property(name) { [unowned state] in try state.encode(get($0)) }
        }
    }

    /// Adds a method.
    public func method<each Argument: Decodable, Result: Encodable>(
        _ name: String, _ body: @escaping (Object, repeat each Argument) throws -> Result
    ) {
        attempt { () throws(LuaError) in
            try type.method(name) { object, arguments in
                var position = 0
                let result = try body(object, repeat try arguments.decodeNext((each Argument).self, &position))
                return [try arguments.state.encode(result)]
            }
        }
    }

    /// Adds a method without a result.
    public func method<each Argument: Decodable>(
        _ name: String, _ body: @escaping (Object, repeat each Argument) throws -> Void
    ) {
        attempt { () throws(LuaError) in
            try type.method(name) { object, arguments in
                var position = 0
                try body(object, repeat try arguments.decodeNext((each Argument).self, &position))
                return []
            }
        }
    }
}

extension LuaMethodArguments {
    fileprivate func decodeNext<Value: Decodable>(_ type: Value.Type, _ position: inout Int) throws -> Value {
        position += 1
        return try decode(position, as: type)
    }
}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool { other as? Self == self }
}
