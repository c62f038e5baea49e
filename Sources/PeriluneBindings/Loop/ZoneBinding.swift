internal import PeriluneLua

/// `perilune.native.zones`: the offsets of time zones from UTC.
enum ZoneBinding {
    static func makeFunctions(in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable(fieldCount: 2)
        var offsets: [String: (Int64) -> Int] = [:]
        // (name) raises an error if the name is not a time zone.
        try table.setFunction("check") { arguments in
            let name: String = try arguments.get(1)
            if offsets[name] == nil { offsets[name] = try TimeZones.offset(of: name) }
            return []
        }
        // (name, Unix seconds) returns the zone's offset from UTC in seconds.
        try table.setFunction("offset") { arguments in
            let name: String = try arguments.get(1), moment: Int64 = try arguments.get(2)
            guard let offset = offsets[name] else { throw BindingError("argument", "unknown time zone `\(name)`") }
            return [.integer(Int64(offset(moment)))]
        }
        return table
    }
}
