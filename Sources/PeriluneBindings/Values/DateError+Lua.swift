public import PeriluneLua
public import PeriluneRecords

/// The representation of date errors in scripts.
extension DateError: LuaErrorDescribing {
    public var luaKind: String { "date" }
    public var luaMessage: String { message }
}
