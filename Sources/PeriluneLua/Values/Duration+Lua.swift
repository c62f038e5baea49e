/// The conversion of durations, which are numbers of seconds in Lua.
extension Duration: LuaCoded {
    public static var luaTypeName: String { "a number of seconds" }

    /// The largest number of seconds that is passed to `Duration.seconds`.
    private static let limit = 1e20

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> Duration {
        switch value {
        case .integer(let seconds): return .seconds(seconds)
        case .number(let seconds):
            guard seconds.magnitude < limit else {
                throw LuaError(.conversion, "expected a number of seconds below 1e20, got \(seconds)")
            }
            return .seconds(seconds)
        default: throw mismatch(value)
        }
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        .number(Double(attoseconds) / 1e18)
    }
}
