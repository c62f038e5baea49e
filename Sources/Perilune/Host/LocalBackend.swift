internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneLua

/// The backend of scripts that run in the Lua state of their host.
final class LocalBackend: ScriptBackend {
    private let local: LocalControl
    private let automations = LocalAutomations()
    /// The observations that a host in another process has started here, by number.
    var observations: [Int64: any ObservedFunction] = [:]
    private var observationCount: Int64 = 0

    init(_ control: LocalControl) {
        local = control
    }

    var usesHostState: Bool { true }
    var control: any ScriptControl { local }

    // MARK: - Runs

    func run(
        _ source: [UInt8], named name: String, _ makeArguments: (LuaState) throws -> [LuaValue], in host: isolated ScriptHost
    ) async throws -> [LuaValue] {
        let chunk = try host.state.load(LuaString(source), named: name)
        return try await chunk.callAsync(makeArguments(host.state))
    }

    func runCommand(_ source: [UInt8], named name: String, _ arguments: [[UInt8]], in host: isolated ScriptHost) async throws {
        let arguments = arguments.map { LuaString($0) }
        try setArguments(arguments, of: name, in: host.state)
        let chunk = try host.state.load(LuaString(source), named: name)
        try await chunk.callAsync(arguments.map { .string($0) })
    }

    /// Sets the global table `arg` like the stand-alone interpreter: `arg[0]` is the script, and its arguments start at `arg[1]`.
    private func setArguments(_ arguments: [LuaString], of name: String, in state: LuaState) throws {
        let table = try state.makeTable(arrayCount: arguments.count)
        for (index, argument) in ([LuaString(name)] + arguments).enumerated() {
            try table.rawSet(.integer(Int64(index)), .string(argument))
        }
        try state.globals.set("arg", .table(table))
    }

    func call(
        _ function: String, _ makeArguments: (LuaState) throws -> [LuaValue], in host: isolated ScriptHost
    ) async throws -> [LuaValue] {
        let (value, receiver) = try host.resolve(function)
        return try await host.function(value, named: function).callAsync(receiver + makeArguments(host.state))
    }

    func defines(_ function: String, in host: isolated ScriptHost) async -> Bool {
        guard let (value, _) = try? host.resolve(function), case .function = value else { return false }
        return true
    }

    func compile(_ source: [UInt8], named name: String, in host: isolated ScriptHost) async throws {
        _ = try host.state.load(LuaString(source), named: name)
    }

    func exchangeOptions(_ options: RunOptions?) -> RunOptions? { nil }

    var lastFigures: RunFigures? { nil }

    func limitTime(to time: Duration, in host: isolated ScriptHost) {
        host.state.limitTime(to: time)
    }

    // MARK: - Automations, jobs and observations

    func loadAutomations(
        _ source: [UInt8], named path: String, isLive: Bool, poll: Duration?, in host: isolated ScriptHost
    ) async throws -> Int {
        try await automations.load(source, named: path, isLive: isLive, poll: poll, in: host)
    }

    func waitForEvents(in host: isolated ScriptHost) async throws {
        try automations.waitForEvents(in: host)
    }

    func endAutomations(in host: isolated ScriptHost) async throws {
        try await automations.end(in: host)
    }

    func callLibrary(
        _ module: LibraryInterface, _ function: String, _ makeArguments: (LuaState) throws -> [LuaValue],
        in host: isolated ScriptHost
    ) async throws -> LuaValue {
        let function: LuaFunction = try host.library(module).get(.string(LuaString(function)))
        return try await function.callAsync(makeArguments(host.state)).first ?? .nil
    }

    func observe(
        _ function: String, removesDuplicates: Bool, in host: isolated ScriptHost
    ) async throws -> any ObservedFunction {
        try LocalObservation(function, removesDuplicates: removesDuplicates, in: host)
    }

    /// Starts an observation on behalf of a host in another process, and returns its number.
    func serveObservation(of function: String, removesDuplicates: Bool, in host: isolated ScriptHost) async throws -> Int64 {
        let observation = try await observe(function, removesDuplicates: removesDuplicates, in: host)
        observationCount += 1
        observations[observationCount] = observation
        return observationCount
    }

    var databasePath: String? { nil }

    // MARK: - Callbacks

    func waitUntilIdle(in host: isolated ScriptHost) async throws {
        try await wait(in: host, throwsFailures: true) { host in host.loop.isIdle }
    }

    /// Waits for a condition, which is evaluated after each change of the loop, and may use the host exclusively.
    ///
    /// - Parameter throwsFailures: Whether the first unhandled error of a callback ends the wait.
    func wait(
        in host: isolated ScriptHost, throwsFailures: Bool = false, until isMet: (isolated ScriptHost) async throws -> Bool
    ) async throws {
        let waits = local.waits
        var isCancelled = false
        let endWait = waits.beginWait()
        defer { endWait() }
        while true {
            if throwsFailures, let failure = host.loop.takeFailure() { throw failure }
            if isCancelled || waits.isCancelled {
                waits.notice()
                if Task.isCancelled { throw CancellationError() }
                throw LuaError(.cancelled, "the script was cancelled while it waited")
            }
            let changeCount = host.loop.changeCount
            if try await isMet(host) { return }
            // The loop may have changed while the condition was evaluated.
            if host.loop.changeCount == changeCount { isCancelled = !(await host.loop.change()) }
        }
    }

    func isIdle(in host: isolated ScriptHost) async -> Bool { host.loop.isIdle }

    func endCallbacks(in host: isolated ScriptHost) async { host.loop.endAll() }

    func takeCallbackFailure(in host: isolated ScriptHost) async -> (any Error)? { host.loop.takeFailure() }

    func close(in host: isolated ScriptHost) {
        observations = [:]
        host.loop.endAll()
    }
}

/// Thread-safe control of scripts that run in the host's Lua state.
struct LocalControl: ScriptControl {
    let runs: LuaState.Cancellation
    /// Cancels the calls of `waitUntilIdle`.
    let waits: HostCancellation
    let signals: LoopSignals

    func attach(to host: ScriptHost) {}

    func cancel() {
        runs.cancelRuns()
        waits.cancelWaits()
    }

    func cancelRuns() { runs.cancelRuns() }

    func cancelRunOrNext() {
        runs.cancel()
        waits.cancel()
    }

    func deliver(signal name: String) -> Bool { signals.deliver(name) }

    var layers: Set<IsolationLayer> { [] }
    var hasEnded: Bool { false }
    var processID: Int32? { nil }
}
