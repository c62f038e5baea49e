internal import PeriluneLua

/// Readable text for Lua values, used in the records of calls that a preview withholds.
extension LuaState {
    /// Returns a value as readable text, with strings in quotes and the contents of tables.
    func shortText(of value: LuaValue, depth: Int = 0) throws -> String {
        if case .table(let table) = value, depth < 3, try table.metatable() == nil {
            return try contents(of: table, depth: depth)
        }
        switch value {
        case .string(let text): return "\"\(LuaString(text.bytes.prefix(200)))\"" + (text.bytes.count > 200 ? "..." : "")
        case .nil: return "nil"
        case .boolean(let value): return "\(value)"
        case .integer(let value): return "\(value)"
        case .number(let value): return "\(value)"
        default:
            let tostring = try globals.get("tostring", as: LuaFunction.self)
            return try String(describing: LuaString.fromLua(tostring.call([value]).first ?? .nil))
        }
    }

    private func contents(of table: LuaTable, depth: Int) throws -> String {
        let pairs = try table.pairs()
        let list = try table.array()
        let texts: [String]
        if list.count == pairs.count {
            texts = try list.prefix(20).map { try shortText(of: $0, depth: depth + 1) }
        } else {
            let fields = try pairs.map { (try fieldName($0.key), $0.value) }.sorted { $0.0 < $1.0 }
            texts = try fields.prefix(20).map { "\($0.0) = \(try shortText(of: $0.1, depth: depth + 1))" }
        }
        return "{" + (texts + (pairs.count > 20 ? ["..."] : [])).joined(separator: ", ") + "}"
    }

    private func fieldName(_ key: LuaValue) throws -> String {
        if case .string(let name) = key { return name.description }
        return "[\(try shortText(of: key, depth: 3))]"
    }
}
