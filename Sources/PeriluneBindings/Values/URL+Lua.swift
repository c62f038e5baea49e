public import Foundation
public import PeriluneLua

/// The conversion of Swift URLs, which are text in Lua.
extension URL: LuaCoded {
    public static var luaTypeName: String { "a URL" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> URL {
        guard case .string(let text) = value else {
            throw LuaError(.conversion, "expected \(luaTypeName), got \(value.shortDescription)")
        }
        guard let url = text.string.flatMap({ URL(string: $0) }) else {
            throw LuaError(.conversion, "expected \(luaTypeName), got \(value.shortDescription)")
        }
        return url
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        .string(LuaString(absoluteString))
    }
}
