internal import Logging
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua

extension ScriptHost {
    /// Offers Swift functions to scripts, which get them by `require`.
    ///
    /// ```swift
    /// await host.register(module: "mail") { mail in
    ///     mail.function("send", "Queues a letter.", effect: .external) { (to: String, body: String) async throws in
    ///         try await mailer.send(to, body)
    ///     }
    /// }
    /// ```
    ///
    /// A module of that name that was registered before is replaced, for scripts that have not required it yet.
    ///
    /// - Parameters:
    ///   - name: What scripts require; dots may be in it.
    ///   - documentation: What it is for, for people.
    ///   - define: Adds the functions.
    public func register(module name: String, _ documentation: String = "", _ define: @Sendable (ScriptModule) -> Void) {
        let module = ScriptModule(name)
        define(module)
        modules.add(RegisteredModule(name: name, documentation: documentation, functions: module.functions))
    }

    /// What was registered, in the order of the names: for manuals, and for editors.
    public var registeredModules: [RegisteredModule] { modules.all }
}

/// A module of Swift functions that was registered.
public struct RegisteredModule: Sendable {
    /// What scripts require.
    public let name: String
    /// What it is for.
    public let documentation: String
    /// Its functions, in the order in which they were added.
    public let functions: [ScriptModule.Function]

    /// A file of LuaCATS annotations, by which editors know the module.
    public var annotations: String {
        var lines = ["---@meta \(name)", ""]
        lines += comment(documentation)
        lines += ["local module = {}"]
        for function in functions {
            lines.append("")
            lines += comment(function.documentation)
            lines += function.parameters.map { "---@param \($0.name) \($0.type)" }
            if let result = function.result { lines.append("---@return \(result)") }
            lines.append("function module.\(function.name)(\(function.parameters.map(\.name).joined(separator: ", "))) end")
        }
        return (lines + ["", "return module", ""]).joined(separator: "\n")
    }

    private func comment(_ text: String) -> [String] {
        text.split(separator: "\n").map { "--- \($0)" }
    }
}

/// Is told of a call in place of the function: its name, and the arguments as text.
typealias EffectHandler = @Sendable (_ function: String, _ arguments: [String]) -> Void

extension ScriptHost.Configuration {
    /// Who takes calls with effects outside: in a preview the log does, if nobody else.
    func effects(in environment: ScriptEnvironment) -> EffectHandler? {
        if let effects {
            return { name, arguments in effects.record(PreviewEffect(name: name, arguments: arguments)) }
        }
        guard environment.context == .preview else { return nil }
        return { [logger = environment.logger] name, arguments in
            logger.notice("not done in a preview: \(name)(\(arguments.joined(separator: ", ")))", source: "script")
        }
    }
}

/// The modules of Swift functions that scripts of a host may require. Used on the host's thread.
final class ModuleRegistry {
    private var modules: [String: RegisteredModule] = [:]
    /// Takes the calls of functions with effects outside; `nil`: they are done.
    let effects: EffectHandler?

    init(effects: EffectHandler?) {
        self.effects = effects
    }

    var all: [RegisteredModule] { modules.values.sorted { $0.name < $1.name } }

    func add(_ module: RegisteredModule) {
        modules[module.name] = module
    }

    /// The table of a module, made when it is first required; `nil` if there is none of that name.
    func table(of name: String, in state: LuaState) throws -> LuaTable? {
        guard let module = modules[name] else { return nil }
        let table = try state.makeTable(fieldCount: module.functions.count)
        for function in module.functions {
            try table.rawSet(.string(LuaString(function.name)), .function(make(function, of: module, in: state)))
        }
        return table
    }

    private func make(_ function: ScriptModule.Function, of module: RegisteredModule, in state: LuaState) throws -> LuaFunction {
        let name = "\(module.name).\(function.name)"
        guard function.effect == .external, let effects else { return try function.make(state, name) }
        return try state.makeFunction(name) { arguments in
            let state = try arguments.state
            effects(name, try arguments.values.map { try state.shortText(of: $0) })
            return []
        }
    }
}

extension LuaState {
    /// A value as people read it: strings in quotes, tables with what is in them.
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
