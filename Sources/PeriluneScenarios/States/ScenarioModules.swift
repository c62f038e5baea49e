internal import Foundation
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua
internal import PeriluneRecords

/// The Swift modules that scenarios and their scripts load with `require`: the modules registered by the program, and the stubs of the
/// scenario. Functions with external effects are not called; their calls are recorded if the arguments are valid.
struct ScenarioModules {
    let registered: [RegisteredModule]
    let effects: EffectStubs
    /// The state of the scenario, which contains the stubs.
    unowned let outer: LuaState

    func install(in state: LuaState) throws {
        let (registered, effects) = (registered, effects)
        try state.addModuleResolver { [unowned outer, unowned state] name in
            let modules = ScenarioModules(registered: registered, effects: effects, outer: outer)
            return try modules.find(name, in: state).map { .value(.table($0)) }
        }
        ObjectEffects(refusingUndeclared: false) { [unowned outer] state, type, member, _, arguments in
            try ScenarioModules(registered: registered, effects: effects, outer: outer).record(
                type, member, arguments, in: state, nil)
        }.install(in: state)
    }

    /// The modules that are registered or have stubs.
    var names: [String] { registered.map(\.name) + effects.modules }

    func isRegistered(_ name: String) -> Bool { registered.contains { $0.name == name } }

    /// Returns the functions of a module that are registered or have stubs.
    func functions(of name: String) -> [String] {
        (registered.last { $0.name == name }?.functions.map(\.name) ?? []) + (effects.names(of: name) ?? [])
    }

    private func find(_ name: String, in state: LuaState) throws -> LuaTable? {
        let module = registered.last { $0.name == name }
        let stubbed = effects.names(of: name)
        guard module != nil || stubbed != nil else { return nil }
        let table = try state.makeTable()
        for function in module?.functions ?? [] {
            let isEffect = function.effect == .external || stubbed?.contains(function.name) == true
            let value =
                try isEffect
                ? makeEffect(name, function.name, in: state, checking: function.checkArguments)
                : function.make(state, "\(name).\(function.name)")
            try table.rawSet(.string(LuaString(function.name)), .function(value))
        }
        let known = Set(module?.functions.map(\.name) ?? [])
        for function in stubbed ?? [] where !known.contains(function) {
            try table.rawSet(.string(LuaString(function)), .function(makeEffect(name, function, in: state)))
        }
        if module == nil { try recordEverything(of: name, in: table, of: state) }
        return table
    }

    /// Records every call to an unregistered module, because its functions are unknown. Calls without a stub are reported as failures.
    private func recordEverything(of module: String, in table: LuaTable, of state: LuaState) throws {
        let (effects, registered) = (effects, registered)
        let metatable = try state.makeTable()
        try metatable.setFunction("__index") { [unowned outer, unowned state] arguments in
            let modules = ScenarioModules(registered: registered, effects: effects, outer: outer)
            return [.function(try modules.makeEffect(module, arguments.get(2), in: state))]
        }
        try table.setMetatable(metatable)
    }

    /// - Parameter check: Throws for wrong arguments; `nil` if the function's parameters are unknown.
    private func makeEffect(
        _ module: String, _ name: String, in state: LuaState,
        checking check: (@Sendable ([LuaValue], String) throws -> Void)? = nil
    ) throws -> LuaFunction {
        let (registered, effects, fullName) = (registered, effects, "\(module).\(name)")
        return try state.makeFunction(fullName) { [unowned outer] arguments in
            try check?(arguments.values, fullName)
            return try ScenarioModules(registered: registered, effects: effects, outer: outer)
                .record(module, name, arguments.values, in: arguments.state, arguments.callerPlace)
        }
    }

    /// Records a call, and returns the results of its stub.
    private func record(
        _ module: String, _ name: String, _ arguments: [LuaValue], in inner: LuaState, _ place: (file: String, line: Int)?
    ) throws -> [LuaValue] {
        let isSame = inner === outer
        let values = isSame ? arguments : try LuaTransfer(from: inner, to: outer).copy(arguments)
        let reach = { (moment: String) throws(LuaError) in
            let isEnd = effects.crashPoint?(inner, moment, "\(module).\(name)", place.map { "\($0.file):\($0.line)" }) == true
            if isEnd { throw LuaError(.cancelled, "the process has ended") }
        }
        try reach("before")
        let results = try effects.record(
            EffectStubs.Call(module: module, name: name, arguments: values, file: place?.file, line: place?.line))
        try reach("after")
        return isSame ? results : try LuaTransfer(from: outer, to: inner).copy(results)
    }
}

/// The folders of a project in which `require` searches: the file's folder, the scenario folder, and the folder that contains it.
struct ScenarioModuleFolders {
    private let folders: [String]
    private let modules: ScenarioModules

    init(of file: ScenarioFile, beside modules: ScenarioModules) {
        self.modules = modules
        let place = file.place
        var folders: [String] = []
        for folder in [place.folder, place.root, place.project].map({ $0.isEmpty ? "." : $0 }) where !folders.contains(folder) {
            folders.append(folder)
        }
        self.folders = folders
    }

    /// - Parameter prepare: Receives the path of a module and its text, and returns the text to load.
    func install(in state: LuaState, prepare: @escaping (String, [UInt8]) throws -> LuaString) throws {
        for folder in folders {
            let source = ModuleSource.folder(folder)
            try state.addModuleResolver { name in
                try source.module(named: name).map { .source(try prepare($0.file, $0.text), name: $0.file) }
            }
        }
        try state.addModuleResolver { [self] name in throw notFound(name) }
    }

    private func notFound(_ name: String) -> BindingError {
        if let file = nativeFile(of: name) {
            return BindingError(
                "module_not_found",
                "require: module `\(name)` is native code (\(file)), which a scenario file cannot load; a script can, with t.run and grants = \"native\""
            )
        }
        let message = "require: module `\(name)` not found"
        guard let nearest = nearestName(to: name, among: modules.names + files) else {
            return BindingError("module_not_found", "\(message); looked in \(folders.map { "`\($0)`" }.joined(separator: ", "))")
        }
        return BindingError(
            "module_not_found", "\(message); did you mean `\(nearest)`?", fields: ["suggestion": .string(nearest)])
    }

    /// Returns the file that Lua's own `require` would load for a native module.
    private func nativeFile(of name: String) -> String? {
        guard let state = try? LuaState(libraries: .trusted),
            let found = try? state.load("return package.searchpath(..., package.cpath)").call([.string(LuaString(name))]).first,
            case .string(let file) = found
        else { return nil }
        return file.description
    }

    /// The names of the modules directly in these folders, without subfolders.
    private var files: [String] {
        let suffix = ".lua"
        return folders.flatMap { folder in
            ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(suffix) }.sorted()
                .map { String($0.dropLast(suffix.count)) }
        }
    }
}
