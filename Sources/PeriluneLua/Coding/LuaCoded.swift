/// A type that ``LuaEncoder`` and ``LuaDecoder`` convert with its ``LuaConvertible`` conformance instead of `Codable`.
public protocol LuaCoded: LuaConvertible, Codable {}

extension Bool: LuaCoded {}
extension Int: LuaCoded {}
extension Int64: LuaCoded {}
extension Int32: LuaCoded {}
extension Int16: LuaCoded {}
extension Int8: LuaCoded {}
extension UInt: LuaCoded {}
extension UInt64: LuaCoded {}
extension UInt32: LuaCoded {}
extension UInt16: LuaCoded {}
extension UInt8: LuaCoded {}
extension Int128: LuaCoded {}
extension UInt128: LuaCoded {}
extension Double: LuaCoded {}
extension String: LuaCoded {}
extension LuaString: LuaCoded {}
extension LuaValue: LuaCoded {}
extension LuaTable: LuaCoded {}
extension LuaFunction: LuaCoded {}
