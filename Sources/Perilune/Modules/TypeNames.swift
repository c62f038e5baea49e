internal import Foundation
internal import PeriluneLua

/// The Lua type names of Swift types, in LuaCATS notation.
enum TypeNames {
    static func name(of type: Any.Type) -> String {
        switch type {
        case let type as any Named.Type: type.scriptTypeName
        case let type as any ScriptObject.Type: type.scriptName
        case is any FixedWidthInteger.Type: "integer"
        case is any BinaryFloatingPoint.Type: "number"
        case is String.Type, is LuaString.Type, is Data.Type, is UUID.Type, is URL.Type: "string"
        case is Bool.Type: "boolean"
        case is Date.Type: "perilune.date"
        case is Decimal.Type: "number|string"
        case is ScriptValue.Type: "any"
        default: "table"
        }
    }
}

/// A generic type whose Lua name depends on the types that it contains.
private protocol Named {
    static var scriptTypeName: String { get }
}

extension Optional: Named {
    static var scriptTypeName: String { "\(TypeNames.name(of: Wrapped.self))?" }
}

extension Array: Named {
    static var scriptTypeName: String { Element.self == UInt8.self ? "string" : "\(TypeNames.name(of: Element.self))[]" }
}

extension Dictionary: Named {
    static var scriptTypeName: String { "table<\(TypeNames.name(of: Key.self)), \(TypeNames.name(of: Value.self))>" }
}
