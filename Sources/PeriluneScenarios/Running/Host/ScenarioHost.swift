internal import CPeriluneRows
internal import Foundation
internal import GRDB
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua

/// The native functions that the scenario library calls while a scenario runs, in the Lua module `scenarios.native.host`.
final class ScenarioHost {
    let attempt: ScenarioAttempt
    let stage: ScenarioStage
    let state: ScenarioState
    let limits: LuaLimits
    /// The point in time at which the time limit of the scenario ends.
    private(set) var deadline: ContinuousClock.Instant
    /// The Lua states of the scenario and its scripts.
    let states = RunningStates()
    var effects: EffectStubs { state.effects }
    /// The event loops that schedule the callbacks of the scenario and its scripts.
    let loops: LoopGroup
    /// The scripts that have run so far. Their timers and observations live as long as the scenario.
    var scripts: [ScriptRun] = []
    /// The services that have been started. Their index plus one is their number in Lua.
    var services: [ScenarioService] = []
    /// The active recordings, by their numbers in Lua.
    var recordings = HostRecordings()
    /// The lines that ran in closed states, if rounds are compared.
    private(set) var trace = ScenarioTrace()
    /// The errors of callbacks that no script has handled, with further lines for the report.
    private var callbackErrors: [(error: LuaError, details: [String])] = []

    init(attempt: ScenarioAttempt, stage: ScenarioStage, state: ScenarioState, limits: LuaLimits, loops: LoopGroup) {
        (self.attempt, self.stage, self.state, self.limits, self.loops) = (attempt, stage, state, limits, loops)
        deadline = .now + (limits.time ?? .seconds(3600))
        states.add(state.state)
        loops.add(state.loop)
        loops.onFailure = { [unowned self] loop, error in didFail(loop, error) }
        loops.willCall = { [unowned self] loop in
            // A late callback has only the remaining time of the scenario.
            let called = scripts.first { $0.loop === loop }?.state ?? services.first { $0.loop === loop }?.state ?? state.state
            called.limitTime(to: remainingTime)
        }
        effects.crashPoint = { [unowned self] caller, moment, function, place in
            watch(of: caller)?.reach(moment, function, at: place) ?? false
        }
    }

    private func watch(of state: LuaState) -> CrashWatch? {
        services.first { $0.state === state }?.watch ?? scripts.first { $0.state === state }?.watch
    }

    /// Creates the watch that counts the crash points of a state; `nil` unless the scenario has the option `crash`.
    func makeWatch(of state: LuaState, _ loop: ScriptLoop) throws -> CrashWatch? {
        try attempt.crashes.map { plan in
            try CrashWatch(plan, clock: stage.clock, state: state, loop: loop) { [unowned self] in loops.endWaits() }
        }
    }

    /// The remaining time of the scenario.
    var remainingTime: Duration { max(deadline - .now, .milliseconds(1)) }

    /// Starts the time limit of the scenario.
    func start() {
        deadline = .now + (limits.time ?? .seconds(3600))
    }

    /// Adds the functions to the native module. This object must live as long as the Lua state.
    func install() throws {
        try installWaiting()
        try installClock()
        try installFolder()
        try installStatements()
        try installChanges()
        try installScripts()
        try installServices()
        try installEffects()
        try installMigrations()
        try installSnapshots()
    }

    /// Handles an error in a callback. The error fails the script that owns the callback, or else the scenario.
    private func didFail(_ loop: ScriptLoop, _ error: any Error) {
        let error = error as? LuaError ?? LuaError(.host, "\(error)")
        if let script = scripts.first(where: { $0.loop === loop }), script.takeError(error) { return }
        callbackErrors.append((error, []))
        state.interrupt()
    }

    /// Makes failed automations and jobs of a state fail the scenario, and end its wait. In runs with crashes, such failures are
    /// differences from the undisturbed run instead.
    func watchFailures(in loop: ScriptLoop) {
        guard attempt.crashes?.chosen.isEmpty != false else { return }
        loop.onReport = { [unowned self] error, what in
            callbackErrors.append((error, ["\(what); t.service(path, { failures = \"allow\" }) allows it"]))
            state.interrupt()
        }
    }

    /// Adds errors of callbacks and unexpected calls to the result of the scenario.
    func finish(_ result: inout ScenarioResult) {
        for (error, details) in callbackErrors {
            var failure = ScenarioFailure(error, file: attempt.scenario.file)
            failure.details += details
            result.add(failure)
        }
        for index in result.failures.indices {
            complete(&result.failures[index])
            attempt.source.file.restoreName(in: &result.failures[index])
        }
        for failure in effects.unexpected() { result.add(failure) }
    }

    /// Collects the Lua objects that scripts cannot reach any more.
    func collectGarbage() {
        // The next database access closes the collected objects.
        let source = "collectgarbage() collectgarbage() perilune.database:fetch_value('SELECT 1')"
        stage.trace.pausing {
            for state in [state.state] + scripts.map(\.state) + services.compactMap(\.state) {
                _ = try? state.load(source, named: "=collect").call([])
            }
        }
    }

    /// Ends the remaining timers, observations and active calls, and closes all states.
    nonisolated(nonsending) func close() async {
        await loops.end()
        recordings.endAll(on: stage)
        for service in services.reversed() { service.close() }
        for script in scripts.reversed() { script.close() }
        didRun(state.state)
        state.state.close()
    }

    /// Records the lines that ran in a state. Called before the state is closed.
    func didRun(_ state: LuaState) {
        attempt.coverage?.add(state)
        if attempt.options.comparesRounds { trace.lines.append(state.lineTrace()) }
    }

    func function(_ name: String, _ body: @escaping (ScenarioHost, LuaArguments) throws -> [LuaValue]) throws {
        // Avoids a retain cycle: the state retains the function, and this object retains the state.
        try state.host.setFunction(name) { [unowned self] arguments in try body(self, arguments) }
    }

    /// Adds a function that may wait.
    func function(_ name: String, _ operation: some LuaAsyncOperation) throws {
        try state.host.set(.string(LuaString(name)), .function(state.state.makeAsyncFunction(name, operation)))
    }

    // MARK: - Waiting

    private func installWaiting() throws {
        // has_others returns whether callbacks are scheduled and can be waited for here. Waiting is not possible inside a
        // database block.
        try function("has_others") { host, arguments in
            [.boolean(host.loops.hasOthers && arguments.canWait)]
        }
        // wait_until_quiet(seconds) advances the clock by this time, and waits until all callbacks scheduled until then are done.
        try function("wait_until_quiet", WaitUntilQuiet(host: self))
        try function("interrupt") { host, _ in
            host.state.interrupt()
            return []
        }
        try function("was_interrupted") { host, _ in [.boolean(!host.callbackErrors.isEmpty)] }
        // require_no_access(name of the caller) raises an error inside a database block.
        try function("require_no_access") { host, arguments in
            try host.requireNoAccess(arguments.state, arguments.get(1))
            return []
        }
    }

    private struct WaitUntilQuiet: LuaAsyncOperation {
        unowned let host: ScenarioHost

        func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] {
            guard case .number(let seconds)? = arguments.first else { return [] }
            try await host.waitUntilQuiet(after: seconds)
            return []
        }
    }

    // MARK: - Clock

    private func installClock() throws {
        try function("clock_set") { host, arguments in
            host.stage.clock.set(try arguments.get(1, as: Date.self))
            return []
        }
        try function("clock_advance") { host, arguments in
            host.stage.clock.advance(by: try arguments.get(1))
            return []
        }
        try function("clock_tick") { host, arguments in
            host.stage.clock.tick(by: try arguments.get(1))
            return []
        }
        // elapsed_ms returns real time: the state's `os.clock` only counts its calls.
        let start = ContinuousClock.now
        try function("elapsed_ms") { _, _ in [.number((ContinuousClock.now - start) / .milliseconds(1))] }
    }

    private func installFolder() throws {
        try function("tmp_dir") { host, _ in [.string(LuaString(try host.stage.folder()))] }
    }

    // MARK: - Migrations

    private func installMigrations() throws {
        try function("migrate") { host, arguments in
            var names: [String] = []
            let migrations = try host.migrations(arguments.state)
            let target = try arguments[1].isNil ? nil : migrations.name(meantBy: arguments.get(1))
            try migrations.migrate(upTo: target) { name, _ in names.append(name) }
            return [try arguments.state.encode(names)]
        }
        try function("migrations_folder") { host, _ in [.string(LuaString(try host.migrationsFolder()))] }
    }

    private func migrations(_ state: LuaState) throws -> ScriptMigrations {
        try requireNoAccess(state, "t.migrate")
        let migrations = try ScriptMigrations(in: state)
        try migrations.register(folder: migrationsFolder())
        return migrations
    }

    private func migrationsFolder() throws -> String {
        let file = attempt.source.file
        if let folder = attempt.databases.migrations(of: file) { return folder }
        throw BindingError(
            "usage",
            "no folder of migrations found: expected `migrations` in `\(file.place.project.isEmpty ? "." : file.place.project)`, or the one given with --migrations"
        )
    }
}
