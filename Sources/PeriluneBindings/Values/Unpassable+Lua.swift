public import Foundation
public import PeriluneLua

// Types that scripts cannot pass to Swift, because their decoding does not validate the input and could crash the process.

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
        LuaError(.conversion, "\(type) cannot be passed between Swift and scripts; pass a list or a string")
    }
}
