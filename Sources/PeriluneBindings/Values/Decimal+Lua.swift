public import Foundation
public import PeriluneLua

/// The conversion of Swift decimals. A decimal becomes a Lua number if no digits are lost, and otherwise text: `0.1` becomes a
/// float, and a number with 30 digits becomes text. Both forms can be decoded.
extension Decimal: LuaCoded {
    public static var luaTypeName: String { "a decimal number" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> Decimal {
        switch value {
        case .integer(let number): return Decimal(number)
        case .number(let number):
            // The shortest text of a float is the decimal number from which the float was made.
            if let decimal = exact("\(number)") { return decimal }
        case .string(let text):
            if let decimal = text.string.flatMap(exact) { return decimal }
        default: throw LuaError(.conversion, "expected \(luaTypeName), got \(value.shortDescription)")
        }
        throw LuaError(.conversion, "expected \(luaTypeName) of at most 38 digits, got \(value.shortDescription)")
    }

    /// Returns the decimal for a text, or `nil` if the text is not a number or has too many digits.
    private static func exact(_ text: String) -> Decimal? {
        guard let match = text.wholeMatch(of: /[+-]?([0-9]+)(?:\.([0-9]+))?(?:[eE][+-]?[0-9]{1,3})?/) else { return nil }
        let digits = (match.1 + (match.2 ?? "")).drop { $0 == "0" }
        guard digits.count <= 38, let decimal = Decimal(string: text), !decimal.isNaN else { return nil }
        return decimal
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        let text = description
        if let integer = Int64(text) { return .integer(integer) }
        if let number = Double(text), Self.exact("\(number)") == self { return .number(number) }
        guard !isNaN else { throw LuaError(.conversion, "Decimal.nan has no counterpart in Lua") }
        return .string(LuaString(text))
    }
}
