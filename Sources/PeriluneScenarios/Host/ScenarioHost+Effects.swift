internal import CPeriluneRows
internal import PeriluneBindings
internal import PeriluneLua

/// `stub` and `calls`, and the modules that scripts get.
extension ScenarioHost {
    func installEffects() throws {
        try function("stub") { host, arguments in
            host.effects.stub(try arguments.get(1), try arguments.get(2), arguments[3])
            return []
        }
        try function("calls") { host, arguments in
            let module: String = try arguments.get(1)
            let name: String? = try arguments[2].isNil ? nil : arguments.get(2)
            let calls = host.effects.calls.filter { $0.module == module && (name == nil || $0.name == name) }
            return [try host.list(calls, in: arguments.state)]
        }
    }

    /// A list of calls for the library.
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

    /// Lets a script require the modules that the scenario has stubs for: their functions, and no others.
    func addStubbedModules(to script: LuaState) throws {
        try script.addModuleResolver { [unowned self, unowned script] module in
            guard effects.names(of: module) != nil else { return nil }
            return .value(.table(try makeModule(module, in: script)))
        }
    }

    private func makeModule(_ module: String, in script: LuaState) throws -> LuaTable {
        let table = try script.makeTable()
        let metatable = try script.makeTable()
        // Whatever the script calls is recorded: what nothing expects is told at the end.
        try metatable.setFunction("__index") { [unowned self, unowned script] arguments in
            let name: String = try arguments.get(2)
            return [.function(try makeEffect(module, name, in: script))]
        }
        try table.setMetatable(metatable)
        return table
    }

    private func makeEffect(_ module: String, _ name: String, in script: LuaState) throws -> LuaFunction {
        try script.makeFunction("\(module).\(name)") { [unowned self] arguments in
            let (inner, outer) = (try arguments.state, state.state)
            let place = arguments.callerPlace
            let values = try LuaTransfer(from: inner, to: outer).copy(arguments.values)
            let results = try effects.record(
                EffectStubs.Call(module: module, name: name, arguments: values, file: place?.file, line: place?.line))
            return try LuaTransfer(from: outer, to: inner).copy(results)
        }
    }
}

extension LuaArguments {
    /// The chunk and the line of the script that calls.
    var callerPlace: (file: String, line: Int)? {
        guard let L = (try? state)?.core.L else { return nil }
        var record = lua_Debug()
        guard perilune_find_position(L, &record), let source = record.source else { return nil }
        let name = String(cString: source)
        return (name.hasPrefix("@") ? String(name.dropFirst()) : name, Int(record.currentline))
    }
}
