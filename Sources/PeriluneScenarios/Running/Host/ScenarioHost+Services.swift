internal import Foundation
internal import GRDB
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua

/// The function `start_service` and the other functions of services: automation files that run in a separate state until they are
/// stopped.
extension ScenarioHost {
    func installServices() throws {
        // start_service(path, whether its automations and jobs may fail) starts a service and returns its number.
        try function("start_service", StartService(host: self))
        // The following functions take the number of a service to end, stop or restart.
        try function("kill_service", ChangeService(host: self) { service in await service.kill() })
        try function("stop_service", ChangeService(host: self) { service in try await service.stop() })
        try function("restart_service", ChangeService(host: self) { service in try await service.restart() })
        try function("is_service_running") { host, arguments in [.boolean(try host.service(arguments[1]).isRunning)] }
        try function("service_output") { host, arguments in [.string(LuaString(try host.service(arguments[1]).output.text))] }
        // run_until_idle(seconds) advances the clock by at most this time, until no run or job will continue without an external event.
        // Otherwise, it returns a remaining run or job as text.
        try function("run_until_idle", RunUntilIdle(host: self))
    }

    fileprivate func service(_ value: LuaValue?) throws -> ScenarioService {
        guard case .integer(let number)? = value, services.indices.contains(Int(number) - 1) else {
            throw BindingError("usage", "unknown service")
        }
        return services[Int(number) - 1]
    }

    private struct StartService: LuaAsyncOperation {
        unowned let host: ScenarioHost

        func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] {
            guard case .string(let path)? = arguments.first else { return [] }
            let allowsFailures = arguments.count > 1 && arguments[1] == .boolean(true)
            let service = try ScenarioService(host, path.description, allowsFailures: allowsFailures)
            host.services.append(service)
            let number = host.services.count
            try await service.start()
            try await host.waitUntilQuiet()
            return [.integer(Int64(number))]
        }
    }

    private struct ChangeService: LuaAsyncOperation {
        unowned let host: ScenarioHost
        let change: nonisolated(nonsending) (ScenarioService) async throws -> Void

        func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] {
            try await change(host.service(arguments.first))
            try await host.waitUntilQuiet()
            return []
        }
    }

    private struct RunUntilIdle: LuaAsyncOperation {
        unowned let host: ScenarioHost

        func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] {
            guard case .number(let seconds)? = arguments.first else { return [] }
            let end = host.stage.clock.now.timeIntervalSince1970 + seconds
            try await host.waitUntilQuiet()
            while let pending = try host.pendingWork() {
                guard let next = host.loops.nextDeadline else { return [] }
                guard next <= end else { return [.string(LuaString(pending))] }
                try await host.waitUntilQuiet(after: max(0, next - host.stage.clock.now.timeIntervalSince1970))
            }
            return []
        }
    }

    /// Returns a description of a run or job that will continue without an external event, if any. Runs that wait for a signal without a
    /// timeout, and jobs without a handler, do not count.
    private func pendingWork() throws -> String? {
        let sources = [
            (
                "perilune_automation_run",
                """
                SELECT 'run ' || id || ' of `' || automation || '` is ' || outcome || coalesce(' until ' || wakes_at, '')
                FROM perilune_automation_run WHERE outcome = 'running' OR outcome = 'waiting' AND wakes_at < '9999' LIMIT 1
                """
            ),
            (
                "perilune_job",
                """
                SELECT 'job ' || id || ' of `' || queue || '` is ' || state || coalesce(' until ' || run_at, '')
                FROM perilune_job JOIN perilune_job_queue USING (queue)
                WHERE state IN ('ready', 'delayed', 'blocked', 'running') AND perilune_job_queue.owner IS NOT NULL AND NOT is_paused LIMIT 1
                """
            ),
        ]
        return try stage.trace.pausing {
            try stage.writer.unsafeReentrantWrite { db in
                for (table, sql) in sources where try db.tableExists(table) {
                    if let text = try String.fetchOne(db, sql: sql) { return text }
                }
                return nil
            }
        }
    }

    /// Advances the clock by some seconds, and waits until all calls scheduled until then have ended or are waiting. If services end at
    /// crash points in the meantime, restarts them after the downtime.
    nonisolated(nonsending) func waitUntilQuiet(after seconds: Double = 0) async throws {
        let end = stage.clock.now.timeIntervalSince1970 + seconds
        repeat {
            try await loops.waitUntilQuiet(after: max(0, end - stage.clock.now.timeIntervalSince1970), for: state.loop)
        } while try await restartCrashedServices()
    }

    nonisolated(nonsending) private func restartCrashedServices() async throws -> Bool {
        let crashed = services.filter { $0.watch?.hasEnded == true }
        guard !crashed.isEmpty else { return false }
        for service in crashed { await service.kill() }
        stage.clock.advance(by: attempt.scenario.crash?.downtime ?? 0)
        for service in crashed { try await service.start() }
        return true
    }
}

/// An automation file that a scenario runs like a separate process, in a Lua state that can end at any commit.
final class ScenarioService {
    private unowned let host: ScenarioHost
    private let path: String
    private let source: [UInt8]
    /// Whether automations and jobs may fail without failing the scenario.
    private let allowsFailures: Bool
    let output = ScenarioOutput()
    /// The Lua state of the service and its loop; `nil` while the service is not running.
    private(set) var state: LuaState?
    private(set) var loop: ScriptLoop?
    private(set) var watch: CrashWatch?
    private var automations: LuaTable?

    var isRunning: Bool { state != nil }

    init(_ host: ScenarioHost, _ path: String, allowsFailures: Bool) throws {
        (self.host, self.allowsFailures) = (host, allowsFailures)
        self.path = try host.find(path)
        do {
            source = try ScriptHost.read(self.path)
        } catch {
            throw BindingError("io", "t.service: \(error)\(host.hint(for: path, of: "t.service"))")
        }
    }

    /// Loads the file, repeatedly if the service ends at crash points during loading.
    nonisolated(nonsending) func start() async throws {
        guard !isRunning else { return }
        repeat {
            await end()
            try await load()
        } while watch?.hasEnded == true
    }

    /// Ends the service like a killed process.
    nonisolated(nonsending) func kill() async {
        guard let state, let loop else { return }
        loop.kill()
        state.cancellation.cancel()
        await end()
    }

    /// Ends the service like SIGTERM does: active runs are interrupted while they wait.
    nonisolated(nonsending) func stop() async throws {
        guard let loop, let automations else { return }
        try await perform(loop) { try await automations.get("stop", as: LuaFunction.self).callAsync([]) }
        if watch?.hasEnded != true { await kill() }
    }

    nonisolated(nonsending) func restart() async throws {
        await kill()
        try await start()
    }

    nonisolated(nonsending) private func load() async throws {
        let (state, loop, loader) = try ScriptRun.makeState(host, path: path, output)
        (self.state, self.loop) = (state, loop)
        watch = try host.makeWatch(of: state, loop)
        if !allowsFailures { host.watchFailures(in: loop) }
        host.loops.add(loop)
        host.states.add(state)
        guard case .table(let automations) = try loader.require("perilune.events.automation") else { return }
        self.automations = automations
        try await perform(loop) { [path, source] in
            let chunk = try state.load(LuaString(source), named: path)
            try await automations.get("load", as: LuaFunction.self).callAsync([.function(chunk), .boolean(true)])
        }
    }

    /// Runs Lua code while the scenario waits. Ignores the error of the code if the service ends at a crash point.
    nonisolated(nonsending) private func perform(
        _ loop: ScriptLoop, _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        loop.beginRun()
        defer { loop.endRun() }
        let wait = host.state.loop.beginParking()
        defer { wait.end() }
        do {
            try await body()
        } catch let error as LuaError {
            guard watch?.hasEnded != true else { return }
            await kill()
            throw error
        }
    }

    /// Removes the state of a service that has ended.
    nonisolated(nonsending) private func end() async {
        if let loop { await host.loops.remove(loop) }
        close()
    }

    /// Closes the Lua state of the service.
    func close() {
        guard let state else { return }
        (self.state, loop, watch, automations) = (nil, nil, nil, nil)
        host.didRun(state)
        state.close()
    }
}
