/// A module found by a resolver.
public enum LuaModule {
    /// Source text, and the file name that errors show.
    case source(LuaString, name: String)
    /// A value that is already available.
    case value(LuaValue)
}

/// A function that returns the module with a name, or `nil` if it has no such module.
public typealias LuaModuleResolver = (_ name: String) throws -> LuaModule?

/// The resolvers that `require` calls, and the modules that are being loaded.
final class ModuleRegistry {
    var resolvers: [LuaModuleResolver] = []
    /// The modules that are being loaded, outermost first.
    var loading: [String] = []
}

extension LuaState {
    /// Adds a resolver to `require`, which calls resolvers in the order in which they were added.
    ///
    /// The first call installs `require` and `package.loaded`, which lets scripts replace or unload modules. In a state with
    /// ``LuaLibraries/package``, it instead adds a searcher after Lua's searcher for `package.preload`. A module runs once and
    /// receives its name and file name. Its result is the module, or `true` if it returns nothing.
    ///
    /// - Throws: ``LuaError`` with code `memory` if memory runs out.
    public func addModuleResolver(_ resolver: @escaping LuaModuleResolver) throws(LuaError) {
        if modules.resolvers.isEmpty {
            if libraries.contains(.package) { try installSearcher() } else { try installRequire() }
        }
        modules.resolvers.append(resolver)
    }

    // MARK: - With Lua's own require

    private func installSearcher() throws(LuaError) {
        guard case .table(let package) = try globals.get("package"), case .table(let searchers) = try package.get("searchers")
        else { return }
        let searcher = try makeFunction("package.searchers") { arguments in try arguments.state.search(arguments.get(1)) }
        for index in stride(from: try searchers.count(), through: 2, by: -1) {
            try searchers.rawSet(.integer(Int64(index + 1)), searchers.rawGet(.integer(Int64(index))))
        }
        try searchers.rawSet(2, .function(searcher))
    }

    /// Returns a loader and its second argument, like Lua's searchers, or an empty list if no resolver finds the module.
    private func search(_ name: String) throws -> [LuaValue] {
        try requireNoCycle(through: name)
        switch try findModule(name) {
        case .source(let text, let file):
            let chunk = try load(text, named: file)
            let loader = try makeFunction("require") { arguments in
                try arguments.state.loading(name) { try chunk.call(arguments.values) }
            }
            return [.function(loader), .string(LuaString(file))]
        case .value(let value): return [.function(try makeFunction("require") { _ in [value] })]
        case nil: return []
        }
    }

    private func findModule(_ name: String) throws -> LuaModule? {
        for resolver in modules.resolvers {
            if let module = try resolver(name) { return module }
        }
        return nil
    }

    private func requireNoCycle(through name: String) throws {
        guard let start = modules.loading.firstIndex(of: name) else { return }
        let cycle = (modules.loading[start...] + [name]).joined(separator: " → ")
        throw moduleError("module_cycle", "require: modules form a cycle: \(cycle)")
    }

    private func loading<Result>(_ name: String, _ body: () throws -> Result) rethrows -> Result {
        modules.loading.append(name)
        defer { modules.loading.removeLast() }
        return try body()
    }

    // MARK: - Without Lua's own require

    private func installRequire() throws(LuaError) {
        let loaded = try makeTable()
        let package = try makeTable()
        try package.set("loaded", .table(loaded))
        for name in LuaLibraries.tableNames {
            let key = LuaValue.string(LuaString(name))
            let library = try globals.rawGet(key)
            if !library.isNil { try loaded.rawSet(key, library) }
        }
        try globals.set("package", .table(package))
        try globals.setFunction("require") { arguments in
            [try arguments.state.require(arguments.get(1), loaded: loaded)]
        }
    }

    private func require(_ name: String, loaded: LuaTable) throws -> LuaValue {
        let key = LuaValue.string(LuaString(name))
        let known = try loaded.rawGet(key)
        if known.isTruthy { return known }
        try requireNoCycle(through: name)
        let value = try loading(name) { try loadModule(name) }
        let stored = try loaded.rawGet(key)
        let result = value.isNil ? (stored.isNil ? .boolean(true) : stored) : value
        try loaded.rawSet(key, result)
        return result
    }

    private func loadModule(_ name: String) throws -> LuaValue {
        switch try findModule(name) {
        case .source(let text, let file):
            return try load(text, named: file).call([.string(LuaString(name)), .string(LuaString(file))]).first ?? .nil
        case .value(let value): return value
        case nil: break
        }
        throw moduleError("module_not_found", "require: module `\(name)` not found")
    }

    private func moduleError(_ kind: String, _ message: String) -> LuaError {
        var error = LuaError(.runtime, message)
        error.fields["kind"] = .string(kind)
        return error
    }
}
