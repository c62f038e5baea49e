internal import PeriluneBindings
internal import PeriluneLua

/// An observation of a script function in the host's Lua state.
final class LocalObservation: ObservedFunction {
    /// The Lua table of the observation. Safe to send, because only the host's thread uses the table.
    fileprivate struct Handle: @unchecked Sendable {
        let table: LuaTable
    }

    let name: String
    private let handle: Handle
    private let host: ScriptHost
    private let wait: @Sendable () async throws -> Void

    init(_ name: String, removesDuplicates: Bool, in host: isolated ScriptHost) throws {
        let function = try host.function(host.resolve(name).0, named: name)
        let begin = try host.state.load(
            "local fetch, duplicates = ... return db:observe(fetch, { duplicates = duplicates })", named: "=host")
        guard case .table(let table)? = try begin.call([.function(function), .boolean(!removesDuplicates)]).first else {
            throw LuaError(.usage, "values: \(name) cannot be observed")
        }
        (self.name, self.host, handle) = (name, host, Handle(table: table))
        wait = host.loop.waiting(at: try table.get("place"))
    }

    deinit {
        Task { [handle, host] in await host.end(handle) }
    }

    func waitForChange() async throws {
        try await wait()
    }

    func take(in host: isolated ScriptHost) async throws -> [LuaValue]? {
        let take = try host.state.load("local observation = ... return observation:try_next()", named: "=host")
        let results = try await take.callAsync([.table(handle.table)])
        guard case .boolean(true)? = results.first else { return nil }
        return Array(results.dropFirst())
    }

    func control(_ method: String, _ function: String?, in host: isolated ScriptHost) async throws -> Bool {
        let arguments: [LuaValue] = try function.map { [.function(try host.function(host.resolve($0).0, named: $0))] } ?? []
        let call = try host.state.load(
            "local observation, method = ... return observation[method](observation, select(3, ...))", named: "=host")
        let results = try call.call([.table(handle.table), .string(LuaString(method))] + arguments)
        guard case .boolean(let value)? = results.first else { return false }
        return value
    }
}

extension ScriptHost {
    fileprivate func end(_ observation: LocalObservation.Handle) {
        guard case .function(let cancel)? = try? observation.table.get("cancel") else { return }
        _ = try? cancel.call([.table(observation.table)])
    }
}
