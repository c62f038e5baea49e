internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneLua
internal import PeriluneRecords

/// Conversion between Lua values and the wire format between processes.
extension WireValue {
    /// The maximum nesting depth, also enforced for encoded values. A table that contains itself exceeds this depth.
    private static let deepest = 100

    init(_ value: LuaValue) throws(LuaError) {
        self = try value.copying { () throws(LuaError) in try Self.copy(value, depth: 0) }
    }

    static func copies(of values: [LuaValue]) throws(LuaError) -> WireValue {
        var copies: [WireValue] = []
        for value in values { copies.append(try WireValue(value)) }
        return .list(copies)
    }

    private static func copy(_ value: LuaValue, depth: Int) throws(LuaError) -> WireValue {
        switch value {
        case .nil: return .nil
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        case .string(let text): return .string(text.bytes)
        case .table(let table):
            guard depth < deepest else {
                throw LuaError(.conversion, "the value is nested too deeply: more than \(deepest) tables")
            }
            var pairs: [Pair] = []
            for (key, value) in try table.pairs() {
                pairs.append(Pair(try copy(key, depth: depth + 1), try copy(value, depth: depth + 1)))
            }
            return sequence(pairs) ?? .table(pairs)
        case .userdata(let userdata):
            if value.isNull { return .null }
            if let bytes = value.blobBytes { return .blob(bytes) }
            if let type = userdata.state?.userdataType(of: DateTime.self), type.matches(value),
                let date = try? type.value(of: value)
            {
                return .date(date.microsecondsSince1970)
            }
            return .opaque(value.typeName)
        case .function, .coroutine: return .opaque(value.typeName)
        }
    }

    /// The type of the first value that cannot be copied; `nil` if all values can be copied.
    var firstOpaque: String? {
        switch self {
        case .opaque(let name): name
        case .list(let elements): elements.lazy.compactMap(\.firstOpaque).first
        case .table(let pairs): pairs.lazy.compactMap { $0.key.firstOpaque ?? $0.value.firstOpaque }.first
        default: nil
        }
    }

    /// Returns a list if the keys are 1, 2, 3, ..., in the order in which `lua_next` visits lists; otherwise `nil`.
    private static func sequence(_ pairs: [Pair]) -> WireValue? {
        guard !pairs.isEmpty else { return .list([]) }
        for (index, pair) in pairs.enumerated() where pair.key != .integer(Int64(index + 1)) { return nil }
        return .list(pairs.map(\.value))
    }

    /// Creates the Lua value in a state.
    ///
    /// - Throws: `LuaError` if memory runs out, or if the value is invalid in Lua. Only a hostile process sends invalid values.
    func lua(in state: LuaState) throws(LuaError) -> LuaValue {
        switch self {
        case .nil: return .nil
        case .null: return try state.makeNull()
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        case .string(let bytes): return .string(LuaString(bytes))
        case .blob(let bytes): return try state.makeBlob(bytes)
        case .date(let microseconds):
            guard let date = try? DateTime(microsecondsSince1970: microseconds), let type = state.userdataType(of: DateTime.self)
            else {
                throw LuaError(.conversion, "a date of another process is out of range")
            }
            return .userdata(try type.make(date))
        case .list(let elements):
            let table = try state.makeTable(arrayCount: elements.count)
            for (index, element) in elements.enumerated() { try table.rawSet(.integer(Int64(index + 1)), element.lua(in: state)) }
            return .table(table)
        case .table(let pairs):
            let table = try state.makeTable(fieldCount: pairs.count)
            for pair in pairs {
                if case .nil = pair.key { throw LuaError(.conversion, "a table from another process has a nil key") }
                if case .number(let key) = pair.key, key.isNaN {
                    throw LuaError(.conversion, "a table from another process has a nan key")
                }
                try table.rawSet(pair.key.lua(in: state), pair.value.lua(in: state))
            }
            return .table(table)
        case .opaque(let name): return try Self.standIn(for: name, in: state)
        }
    }

    /// Returns an unusable placeholder for a value that cannot leave its process: a function for a function, or else a userdata.
    private static func standIn(for typeName: String, in state: LuaState) throws(LuaError) -> LuaValue {
        if typeName == "a function" {
            return .function(try state.load("error('this function stays in the process of its script', 2)", named: "=isolation"))
        }
        if let type = state.userdataType(of: StandIn.self) { return .userdata(try type.make(StandIn())) }
        return .userdata(try state.makeUserdataType("what stays in the process of its script", of: StandIn.self).make(StandIn()))
    }
}

private struct StandIn {}

extension [WireValue] {
    /// Creates the Lua values in a state.
    func lua(in state: LuaState) throws(LuaError) -> [LuaValue] {
        var values: [LuaValue] = []
        for value in self { values.append(try value.lua(in: state)) }
        return values
    }
}
