public import PeriluneLua
public import PeriluneRecords

extension DateError: LuaErrorDescribing {
    public var luaKind: String { "date" }
    public var luaMessage: String { message }
}
