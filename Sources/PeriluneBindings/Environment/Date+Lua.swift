public import Foundation
public import PeriluneLua
internal import PeriluneRecords

/// Swift dates become `perilune.date` values in the Lua states of hosts, and text in other states. Decoding accepts every value
/// that `perilune.date(value)` accepts, including text in other date formats and Unix seconds.
extension Date: LuaCoded {
    public static var luaTypeName: String { "a date" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> Date {
        do {
            return Date(try date(value))
        } catch let error as LuaError {
            throw error
        } catch {
            throw LuaError(.conversion, "expected a date: \((error as? DateError)?.message ?? "\(error)")")
        }
    }

    private static func date(_ value: LuaValue) throws -> DateTime {
        switch value {
        case .string(let text): return try DateTime(parsing: text.bytes)
        case .integer(let number): return try DateTime(unixSeconds: number)
        case .number(let number): return try DateTime(unixSeconds: number)
        case .userdata(let userdata):
            if let type = userdata.state?.userdataType(of: DateTime.self), type.matches(value) {
                return try type.value(of: value)
            }
        default: break
        }
        throw LuaError(.conversion, "expected a date, got \(value.shortDescription)")
    }

    private init(_ date: DateTime) {
        self.init(timeIntervalSince1970: Double(date.microsecondsSince1970) / 1_000_000)
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        let microseconds = Int64(exactly: (timeIntervalSince1970 * 1_000_000).rounded())
        guard let microseconds, let date = try? DateTime(microsecondsSince1970: microseconds) else {
            throw LuaError(.conversion, "\(timeIntervalSince1970) seconds after 1970 is out of range for a date in Lua")
        }
        guard let type = state.userdataType(of: DateTime.self) else { return .string(LuaString(date.text())) }
        return .userdata(try type.make(date))
    }
}
