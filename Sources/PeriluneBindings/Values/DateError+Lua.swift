public import PeriluneLua
public import PeriluneRecords

/// Date errors as scripts see them.
extension DateError: LuaErrorDescribing {
    public var luaKind: String { "date" }
    public var luaMessage: String { message }
}
