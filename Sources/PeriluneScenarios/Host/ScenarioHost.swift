internal import Foundation
internal import GRDB
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua

/// What Swift offers to the library of scenarios while one runs: `internal.scenario_host`.
final class ScenarioHost {
    let attempt: ScenarioAttempt
    let stage: ScenarioStage
    let state: ScenarioState
    let limits: LuaLimits
    /// When the time of the scenario is up.
    private(set) var deadline: ContinuousClock.Instant
    /// Those that run: of the scenario, and of the script that it runs.
    let states = RunningStates()
    let effects = EffectStubs()

    init(attempt: ScenarioAttempt, stage: ScenarioStage, state: ScenarioState, limits: LuaLimits) {
        (self.attempt, self.stage, self.state, self.limits) = (attempt, stage, state, limits)
        deadline = .now + (limits.time ?? .seconds(3600))
        states.add(state.state)
    }

    /// The time of the scenario begins.
    func start() {
        deadline = .now + (limits.time ?? .seconds(3600))
    }

    /// Puts the functions into the table. They keep this object, which the state outlives by nothing.
    func install() throws {
        try installClock()
        try installFolder()
        try installStatements()
        try installChanges()
        try installScripts()
        try installEffects()
        try installMigrations()
        try installSnapshots()
    }

    /// What is found out when the scenario has ended.
    func finish(_ result: inout ScenarioResult) {
        for index in result.failures.indices {
            complete(&result.failures[index])
            attempt.source.file.restoreName(in: &result.failures[index])
        }
        for failure in effects.unexpected() { result.add(failure) }
    }

    func function(_ name: String, _ body: @escaping (ScenarioHost, LuaArguments) throws -> [LuaValue]) throws {
        // The state keeps the function, and this object keeps the state.
        try state.host.setFunction(name) { [unowned self] arguments in try body(self, arguments) }
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
        try function("clock_now") { host, arguments in
            [try host.stage.clock.now.toLua(in: arguments.state)]
        }
    }

    private func installFolder() throws {
        try function("tmp_dir") { host, _ in [.string(LuaString(try host.stage.folder()))] }
    }

    // MARK: - Migrations

    private func installMigrations() throws {
        try function("migrate") { host, arguments in
            var names: [String] = []
            let target: String? = try arguments[1].isNil ? nil : arguments.get(1)
            try host.migrations(arguments.state).migrate(upTo: target) { name, _ in names.append(name) }
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
            "usage", "there is no folder of migrations: `migrations` beside `\(file.root)`, or the one given by --migrations")
    }
}
