public import Foundation
public import PeriluneLua

/// Decimal numbers of Swift are numbers in Lua where these are the same number, else text: `0.1` is a float, a number of 30
/// digits is text, as it would be in a database. They are read from both.
extension Decimal: LuaCoded {
    public static var luaTypeName: String { "a decimal number" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> Decimal {
        switch value {
        case .integer(let number): return Decimal(number)
        case .number(let number):
            // The shortest text that means this float is what people have written.
            if let decimal = exact("\(number)") { return decimal }
        case .string(let text):
            if let decimal = text.string.flatMap(exact) { return decimal }
        default: throw LuaError(.conversion, "expected \(luaTypeName), got \(value.typeName)")
        }
        throw LuaError(.conversion, "expected \(luaTypeName) of at most 38 digits, got \(value.shortDescription)")
    }

    /// The number of a text, if it is one and has not more digits than fit.
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
