internal import PeriluneBindings
internal import PeriluneLua

/// The automations of scripts that run in the state of their host.
final class LocalAutomations {
    /// An event source that keeps the event loop alive while automations wait for events.
    private var eventSource: LoopSource?
    /// The table of globals before the first automation file was loaded, from which the globals of each file are made.
    private var globalsBeforeFiles: LuaTable?
    /// The run that is loading an automation file.
    private var loadingRun: LuaRun?

    func load(
        _ source: [UInt8], named path: String, isLive: Bool, poll: Duration?, in host: isolated ScriptHost
    ) async throws -> Int {
        let former = try host.state.globals
        // Both versions of the automations are in memory until the new one replaces the previous one.
        let restoreLimit = host.state.raiseMemoryLimit(byBytes: host.state.memoryInBytes)
        defer { restoreLimit() }
        try renewGlobals(in: host)
        let chunk: LuaFunction
        do {
            chunk = try host.state.load(LuaString(source), named: path)
        } catch {
            try host.state.replaceGlobals(by: former)
            throw error
        }
        let scope = host.loop.makeScope()
        let run = LuaRun(of: host.state)
        loadingRun = run
        defer { loadingRun = nil }
        do {
            let poll = poll.map { LuaValue.number($0 / .seconds(1)) } ?? .nil
            return try await LoopScope.$current.withValue(scope) {
                let load: LuaFunction = try host.library(.automations).get("load")
                let count = try await load.callAsync([.function(chunk), .boolean(isLive), poll], as: run)
                return try LuaDecoder().decode(from: count.first ?? .nil)
            }
        } catch {
            try host.state.replaceGlobals(by: former)
            let abandon: LuaFunction = try host.library(.automations).get("abandon")
            _ = try? await abandon.callAsync([.integer(Int64(scope))])
            throw error
        }
    }

    /// Installs a new table of globals, so each version of an automation file has separate globals.
    private func renewGlobals(in host: isolated ScriptHost) throws {
        let base = try globalsBeforeFiles ?? host.state.globals
        globalsBeforeFiles = base
        let make: LuaFunction = try host.library(.automations).get("make_globals")
        guard case .table(let globals)? = try make.call([.table(base)]).first else { return }
        try host.state.replaceGlobals(by: globals)
    }

    func waitForEvents(in host: isolated ScriptHost) throws {
        guard eventSource == nil else { return }
        eventSource = try publishingErrors { try host.loop.addSource("program", .nothing) }
    }

    func end(in host: isolated ScriptHost) async throws {
        host.loop.beginRun()
        defer { host.loop.endRun() }
        loadingRun?.cancel()
        let stop: LuaFunction = try host.library(.automations).get("stop")
        try await stop.callAsync([])
        await host.loop.endCallsOfEndedScopes()
        if let eventSource { host.loop.end(eventSource) }
        eventSource = nil
    }
}

extension ScriptHost {
    /// Loads a module of the Lua library in the host's state, and returns its table.
    func library(_ module: LibraryInterface) throws -> LuaTable {
        guard case .table(let table) = try library.require(module.rawValue) else {
            throw LuaError(.usage, "the library has no module \(module.rawValue)")
        }
        return table
    }
}
