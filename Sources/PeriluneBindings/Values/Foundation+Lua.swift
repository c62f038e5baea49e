public import Foundation
public import PeriluneLua

/// URLs are strings in Lua.
extension URL: LuaCoded {
    public static var luaTypeName: String { "a URL as a string" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> URL {
        guard case .string(let text) = value else { throw LuaError(.conversion, "expected \(luaTypeName), got \(value.typeName)") }
        guard let string = text.string, let url = URL(string: string) else {
            throw LuaError(.conversion, "expected a URL, got \"\(text)\"")
        }
        return url
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue { .string(LuaString(absoluteString)) }
}

/// Decimals are numbers in Lua, and are read from text too, as databases may hold them. Those that numbers of Lua cannot hold to
/// the last digit are an error.
extension Decimal: LuaCoded {
    public static var luaTypeName: String { "a decimal number" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> Decimal {
        let text: String? =
            switch value {
            case .integer(let integer): "\(integer)"
            case .number(let number): "\(number)"
            case .string(let text): text.string
            default: throw LuaError(.conversion, "expected \(luaTypeName), got \(value.typeName)")
            }
        guard let text, let decimal = Decimal(exactly: text) else {
            throw LuaError(.conversion, "expected \(luaTypeName), got \(text.map { "\"\($0)\"" } ?? "bytes")")
        }
        return decimal
    }

    /// Unlike `init(string:)` does not stop at what is no number.
    private init?(exactly text: String) {
        guard text.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?/) != nil else { return nil }
        self.init(string: text, locale: Locale(identifier: "en_US_POSIX"))
        if isNaN { return nil }
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        let text = description
        if let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), Decimal(exactly: "\(number)") == self else {
            throw LuaError(.conversion, "\(text) is beyond Lua's numbers: pass its description")
        }
        return .number(number)
    }
}

// What follows decodes itself without looking, and ends the process if it was given nonsense: no script may give it.

extension IndexSet: LuaCoded {
    public static var luaTypeName: String { "an IndexSet" }
    public static func fromLua(_ value: LuaValue) throws(LuaError) -> IndexSet { throw .unpassable(luaTypeName) }
    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue { throw .unpassable(Self.luaTypeName) }
}

extension CharacterSet: LuaCoded {
    public static var luaTypeName: String { "a CharacterSet" }
    public static func fromLua(_ value: LuaValue) throws(LuaError) -> CharacterSet { throw .unpassable(luaTypeName) }
    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue { throw .unpassable(Self.luaTypeName) }
}

extension LuaError {
    fileprivate static func unpassable(_ type: String) -> LuaError {
        LuaError(.conversion, "\(type) cannot be passed between Swift and scripts: pass a list or a string")
    }
}
