internal import PeriluneLua
internal import PeriluneRecords

/// Resolution of script functions from names such as `orders.total` or `Order:total`.
extension ScriptHost {
    func function(_ value: LuaValue, named name: String) throws -> LuaFunction {
        guard case .function(let function) = value else {
            throw LuaError(.usage, "call: `\(name)` is \(value.typeName), not a function")
        }
        return function
    }

    /// Returns the value of a global path such as `orders.total` or `Order:total`, and the receiver if the path has a colon.
    func resolve(_ name: String) throws -> (LuaValue, receiver: [LuaValue]) {
        let parts = name.split(omittingEmptySubsequences: false) { $0 == "." || $0 == ":" }.map(String.init)
        let isMethod = name.split(separator: ".", omittingEmptySubsequences: false).last?.contains(":") == true
        guard !parts.contains(""), name.count(where: { $0 == ":" }) == (isMethod ? 1 : 0) else {
            throw LuaError(
                .usage, "call: expected the name of a function (`total`, `orders.total`, `Order:total`), got \"\(name)\"")
        }
        var value = try LuaValue.table(state.globals)
        var receiver = LuaValue.nil
        for (index, part) in parts.enumerated() {
            receiver = value
            value = try state.index(value, part)
            if value.isNil, index == 0 { value = try state.loadedModule(part) }
            if value.isNil { throw try missing(part, in: receiver, named: parts[..<index].joined(separator: ".")) }
        }
        return (value, isMethod ? [receiver] : [])
    }

    private func missing(_ name: String, in value: LuaValue, named place: String) throws -> LuaError {
        guard !place.isEmpty else {
            let nearest = nearestName(to: name, among: try state.names(in: .table(state.globals)))
            return LuaError(.usage, "call: no global `\(name)`" + (nearest.map { "; did you mean `\($0)`?" } ?? ""))
        }
        let nearest = nearestName(to: name, among: try state.names(in: value))
        return LuaError(.usage, "call: no `\(name)` in `\(place)`" + (nearest.map { "; did you mean `\($0)`?" } ?? ""))
    }
}

extension LuaState {
    /// Returns the string keys of a table, including the requests of a record class.
    fileprivate func names(in value: LuaValue) throws -> [String] {
        guard case .table(let table) = value else { return [] }
        var names = try table.pairs().map(\.key)
        if case .table(let requests) = try table.rawGet("requests") { names += try requests.pairs().map(\.key) }
        return names.compactMap { if case .string(let name) = $0 { name.description } else { nil } }.sorted()
    }

    /// Returns the value of a module in `package.loaded`; nil if no script has required the module.
    fileprivate func loadedModule(_ name: String) throws -> LuaValue {
        guard case .table(let package) = try globals.get("package"), case .table(let loaded) = try package.get("loaded") else {
            return .nil
        }
        return try loaded.get(.string(LuaString(name)))
    }

    /// Returns `value[key]` for a value of any type, respecting metamethods.
    fileprivate func index(_ value: LuaValue, _ key: String) throws -> LuaValue {
        if case .table(let table) = value { return try table.get(.string(LuaString(key))) }
        return try load("local value, key = ... return value[key]", named: "call")
            .call([value, .string(LuaString(key))]).first ?? .nil
    }
}
