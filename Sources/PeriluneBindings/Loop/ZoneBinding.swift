internal import Foundation
internal import PeriluneLua

/// `perilune.native.zones`: the offsets of time zones from UTC.
enum ZoneBinding {
    static func makeFunctions(in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable(fieldCount: 2)
        var zones: [String: TimeZone] = [:]
        // (name) raises unless it is the name of a time zone.
        try table.setFunction("check") { arguments in
            let name: String = try arguments.get(1)
            guard zones[name] == nil else { return [] }
            guard name == "UTC" || TimeZone.knownTimeZoneIdentifiers.contains(name), let zone = TimeZone(identifier: name) else {
                throw BindingError.unknown("time_zone", name, among: ["UTC"] + TimeZone.knownTimeZoneIdentifiers)
            }
            zones[name] = zone
            return []
        }
        // (name, Unix seconds) returns the offset in seconds.
        try table.setFunction("offset") { arguments in
            let name: String = try arguments.get(1), moment: Int64 = try arguments.get(2)
            guard let zone = zones[name] else { throw BindingError("argument", "unknown time zone `\(name)`") }
            return [.integer(Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment)))))]
        }
        return table
    }
}
