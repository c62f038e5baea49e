internal import Logging
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua

/// A closure that is called instead of a function with external effects, with the function's name and its arguments as text.
typealias EffectHandler = @Sendable (_ function: String, _ arguments: [String]) -> Void

/// The registry of the Swift modules that a host's scripts can require. Used only on the host's thread.
final class ModuleRegistry {
    private var modules: [String: RegisteredModule] = [:]
    /// The names of modules that scripts have required.
    private var required: Set<String> = []
    /// The handler for calls of functions with external effects; `nil` if these functions are executed.
    let effects: EffectHandler?

    init(effects: EffectHandler?) {
        self.effects = effects
    }

    /// The reserved names, which `require` resolves without searching for modules.
    private static let taken = Set(LuaLibraries.tableNames + ["_G", "package", "perilune"])

    var all: [RegisteredModule] { modules.values.sorted { $0.name < $1.name } }

    /// Releases the functions, whose closures may retain the host.
    func removeAll() { modules = [:] }

    func add(_ module: RegisteredModule) throws(LuaError) {
        guard !Self.taken.contains(module.name) else {
            let thing = module.name == "perilune" ? "the table" : "the library of Lua"
            throw LuaError(.usage, "the module `\(module.name)` cannot be registered: by this name scripts get \(thing)")
        }
        guard !required.contains(module.name) else {
            throw LuaError(
                .usage,
                "the module `\(module.name)` cannot be registered again, because a script has required it; register modules before running scripts"
            )
        }
        modules[module.name] = module
    }

    /// Returns a module that a script in another process has required; `nil` for an unknown name.
    func module(required name: String) -> RegisteredModule? {
        guard let module = modules[name] else { return nil }
        required.insert(name)
        return module
    }

    /// Creates the Lua table of a module that a script has required. Returns `nil` for an unknown name.
    func table(of name: String, in state: LuaState) throws -> LuaTable? {
        guard let module = modules[name] else { return nil }
        let table = try state.makeTable(fieldCount: module.functions.count)
        required.insert(name)
        for function in module.functions {
            try table.rawSet(.string(LuaString(function.name)), .function(make(function, of: module, in: state)))
        }
        return table
    }

    private func make(_ function: ScriptModule.Function, of module: RegisteredModule, in state: LuaState) throws -> LuaFunction {
        let name = "\(module.name).\(function.name)"
        guard function.effect != .none, let effects else { return try function.make(state, name) }
        if function.effect == .external { return try function.makeRecorded(state, name, effects) }
        return try state.makeFunction(name) { _ in throw LuaError.undeclaredEffect(of: name) }
    }
}
