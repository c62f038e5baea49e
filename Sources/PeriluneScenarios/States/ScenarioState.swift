internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua

/// A Lua state with the scenario library, into which a scenario file is loaded.
final class ScenarioState {
    /// The minimum time limit for loading the library and the file.
    static let loadingTime = Duration.seconds(10)

    let state: LuaState
    /// The event loop for the callbacks that the scenario waits for.
    let loop: ScriptLoop
    /// The table of the module `scenarios.native.host`. Functions may be added before files are loaded.
    let host: LuaTable
    /// The recorded calls of functions with external effects, which are not executed.
    let effects = EffectStubs()
    /// The Swift modules that `require` finds.
    let modules: ScenarioModules
    private let loader: LibraryLoader
    private let chunks: ChunkCache
    private var library: LuaTable!
    /// The current run of the scenario.
    private var run: LuaRun?

    init(on stage: ScenarioStage, limits: LuaLimits, chunks: ChunkCache, modules: [RegisteredModule] = []) throws {
        let output = stage.output
        (state, loader, loop) = try stage.makeState(limits: limits) { output.write($0) }
        self.modules = ScenarioModules(registered: modules, effects: effects, outer: state)
        self.chunks = chunks
        host = try state.makeTable()
        try chunks.install(in: host)
    }

    /// Loads the scenario library, and a file with its support files.
    ///
    /// - Parameter ordinal: The position of the desired scenario in its file; `nil` loads all scenarios.
    func load(_ file: ScenarioFile, only ordinal: Int? = nil) throws {
        try loadLanguage()
        try modules.install(in: state)
        try ScenarioModuleFolders(of: file, beside: modules).install(in: state) { [unowned self] path, text in
            try self.chunks.module(path, text) { prepared in
                try LuaString.fromLua(
                    self.call("module", .string(LuaString(path)), .string(LuaString(text)), prepared.map { .string($0) } ?? .nil)
                        .first
                        ?? .nil)
            }
        }
        for support in file.supports { try load(support, isSupport: true, as: support.path) }
        if let ordinal { try call("want", .integer(Int64(ordinal))) }
        try load(file.source, isSupport: false, as: file.place.identity)
    }

    /// Loads the scenario library.
    func loadLanguage() throws {
        try state.loading {
            try loader.provide("scenarios.native.host", .table(host))
            library = try .fromLua(loader.require("scenarios"))
            try call("install", .table(state.makeTable()))
        }
    }

    /// Loads the Lua module that runs scenarios. Called before the time limit of a scenario begins.
    func loadRunner() throws {
        _ = try loader.require("scenarios.running")
    }

    /// Loads the Lua module that fills templates. Called before the time limit of a template begins.
    func loadFiller() throws {
        _ = try loader.require("scenarios.data.given")
    }

    private func load(_ source: ScenarioFile.Source, isSupport: Bool, as identity: String) throws {
        try call(
            "load", .string(LuaString(source.path)), .string(LuaString(source.text)), .boolean(isSupport),
            .string(LuaString(identity)))
    }

    /// Returns the definitions in the loaded files.
    func definitions() throws -> (scenarios: [Scenario], templates: [ScenarioTemplate]) {
        let fields = try LuaFields(call("definitions").first ?? .nil)
        return try (fields.list("scenarios"), fields.list("templates"))
    }

    /// Returns types for editors that describe the tables of the default database.
    func types() throws -> String {
        try LuaString.fromLua(call("types").first ?? .nil).description
    }

    /// Fills the default database with the data of a template.
    func fill(_ template: ScenarioTemplate) throws {
        try call("fill", .string(LuaString(template.name)), state.globals.get("db"))
    }

    /// Runs a scenario, which may wait.
    nonisolated(nonsending) func run(_ scenario: Scenario, _ information: LuaTable) async throws -> LuaFields {
        let run = LuaRun(of: state)
        self.run = run
        loop.beginRun()
        defer { loop.endRun() }
        let arguments: [LuaValue] = [.string(LuaString(scenario.localID)), .table(information)]
        return try await LuaFields(function("run").callAsync(arguments, as: run).first ?? .nil)
    }

    /// Ends the current or next wait of the scenario with an error of kind `cancelled`.
    func interrupt() {
        run?.interrupt()
    }

    /// Returns the position and the steps that a scenario had reached when an error ended it.
    func progress(at error: LuaError) -> LuaFields? {
        guard let library, case .function(let progress)? = try? library.get("progress") else { return nil }
        // The scenario's own limit may be too short to determine the position.
        state.limitTime(to: Self.loadingTime)
        let arguments: [LuaValue] = [
            error.traceback.map { .string(LuaString($0)) } ?? .nil, error.file.map { .string(LuaString($0)) } ?? .nil,
            error.line.map { .integer(Int64($0)) } ?? .nil,
        ]
        // The supervisor may cancel the scenario at the moment when its time limit ends it. That cancellation then ends the first
        // call instead.
        for _ in 0..<2 {
            if let fields = (try? progress.call(arguments).first).flatMap({ try? LuaFields($0) }) { return fields }
        }
        return nil
    }

    @discardableResult
    private func call(_ name: String, _ arguments: LuaValue...) throws -> [LuaValue] {
        try function(name).call(arguments)
    }

    private func function(_ name: String) throws -> LuaFunction {
        try library.get(.string(LuaString(name)))
    }
}
