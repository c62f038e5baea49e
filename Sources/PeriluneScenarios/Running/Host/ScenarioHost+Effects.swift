internal import CPeriluneRows
internal import PeriluneBindings
internal import PeriluneLua

/// The native functions `stub` and `calls`, which replace and list calls with external effects.
extension ScenarioHost {
    func installEffects() throws {
        try function("stub") { host, arguments in
            let (module, name): (String, String) = (try arguments.get(1), try arguments.get(2))
            // The functions of an unregistered module are unknown, so any name is accepted.
            if host.state.modules.isRegistered(module) { try host.require(name, of: module) }
            host.effects.stub(module, name, arguments[3])
            return []
        }
        try function("calls") { host, arguments in
            let module: String = try arguments.get(1)
            let name: String? = try arguments[2].isNil ? nil : arguments.get(2)
            if let name { try host.require(name, of: module) }
            let calls = host.effects.calls.filter { $0.module == module && (name == nil || $0.name == name) }
            return [try host.list(calls, in: arguments.state)]
        }
    }

    /// Rejects a function that is not registered, has no stub and was not called, because its name is probably misspelled.
    private func require(_ name: String, of module: String) throws {
        let known = state.modules.functions(of: module) + effects.calls.filter { $0.module == module }.map(\.name)
        guard !known.contains(name) else { return }
        throw BindingError.unknown("function", name, among: Set(known).sorted())
    }

    /// Returns a Lua list of calls for the scenario library.
    func list(_ calls: some Collection<EffectStubs.Call>, in state: LuaState) throws -> LuaValue {
        let list = try state.makeTable()
        for (index, call) in calls.enumerated() {
            let entry = try state.makeTable()
            try entry.rawSet("module", .string(LuaString(call.module)))
            try entry.rawSet("name", .string(LuaString(call.name)))
            try entry.rawSet("file", call.file.map { .string(LuaString($0)) } ?? .nil)
            try entry.rawSet("line", call.line.map { .integer(Int64($0)) } ?? .nil)
            let values = try state.makeTable()
            for (position, value) in call.arguments.enumerated() {
                try values.rawSet(.integer(Int64(position + 1)), value)
            }
            try values.rawSet("n", .integer(Int64(call.arguments.count)))
            try entry.rawSet("arguments", .table(values))
            try list.rawSet(.integer(Int64(index + 1)), .table(entry))
        }
        return .table(list)
    }
}

extension LuaArguments {
    /// The chunk and the line of the calling script.
    var callerPlace: (file: String, line: Int)? {
        guard let place = (try? state)?.callingPlace else { return nil }
        return (place.chunk.hasPrefix("@") ? String(place.chunk.dropFirst()) : place.chunk, place.line)
    }
}
