internal import PeriluneBindings
internal import PeriluneLua

/// Automations of scripts: functions that run when something happens, see `perilune.automation`.
extension ScriptHost {
    /// Runs a file that defines automations, which replace the automations of the previously loaded file.
    ///
    /// Everything else that the previous file has started (timers, observations, tasks, signal handlers) ends, too, and its global
    /// variables are removed. Globals that other scripts set before the first file remain.
    ///
    /// Live automations run in one host only: as long as this host has them, no other host can load the same file for the same database, in
    /// this or another process of the machine.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - isLive: Whether triggers start them from then on. Otherwise they can be listed and run by hand.
    ///   - poll: The interval for checking whether another process has written, for automations that observe changes without an interval of
    ///     their own; `nil`: no checks. If a whole table is observed, each check reads all its rows.
    /// - Returns: How many there are.
    /// - Throws: `LuaError` of kind `already_running` if another host runs them; `LuaError` if the file fails: the previous automations
    ///   keep running, and everything that the file started before it failed ends; ``ScriptFileError`` if it cannot be read.
    @discardableResult
    public nonisolated func loadAutomations(file path: String, isLive: Bool = true, poll: Duration? = nil) async throws -> Int {
        let source = try ScriptFile.read(path)
        return try await exclusively(.script(path)) { host in
            let claim = isLive ? try host.claimAutomations(ofFile: path) : nil
            host.sourceTexts.add(source, named: path)
            let count = try await host.backend.loadAutomations(source, named: path, isLive: isLive, poll: poll, in: host)
            host.automationClaim = claim
            return count
        }
    }

    /// Returns the possible paths of the modules that the automation file requires. If one of them changes, load the file again, which
    /// reloads the modules.
    ///
    /// - Throws: `LuaError` if the state is closed.
    package nonisolated func automationModulePaths() async throws -> [String] {
        try await exclusively { host in try await host.callAutomations("module_paths", []) }
    }

    /// All automations, in the order of their definition.
    ///
    /// - Throws: `LuaError` if the state is closed, or the runs cannot be read.
    public nonisolated func automations() async throws -> [Automation] {
        try await exclusively { host in
            let rows: [Automation.Row] = try await host.callAutomations("describe", [])
            return rows.map { Automation(row: $0) }
        }
    }

    /// Runs an automation now, including its guard, and waits for the end of the run.
    ///
    /// - Parameter event: The value of `context.event` for its function.
    /// - Parameter name: Its name.
    /// - Returns: The run, which has succeeded, was skipped or cancelled, or is waiting to be continued.
    /// - Throws: `LuaError` if it fails in the end, or no automation has that name.
    @discardableResult
    public nonisolated func runAutomation(
        _ name: String, event: (some Encodable & Sendable)? = String?.none
    ) async throws -> AutomationRun {
        try await exclusively { host in
            let event = try event.map { try host.state.encode($0) } ?? .nil
            return AutomationRun(row: try await host.callAutomations("try", [.string(LuaString(name)), event]))
        }
    }

    /// Returns the last runs recorded in the default database, newest first.
    ///
    /// - Parameter name: Of this automation only.
    /// - Parameter count: How many at most.
    /// - Throws: `LuaError` if no automation has this name, and none with this name has run.
    public nonisolated func automationRuns(of name: String? = nil, last count: Int = 20) async throws -> [AutomationRun] {
        try await exclusively { host in
            let name = name.map { LuaValue.string(LuaString($0)) } ?? .nil
            let rows: [AutomationRun.Row] = try await host.callAutomations("runs", [name, .integer(Int64(count))])
            return rows.map { AutomationRun(row: $0) }
        }
    }

    /// Returns the state of all automations recorded in the default database by any process.
    ///
    /// - Parameter limit: The duration after which an active run is a problem.
    /// - Throws: `LuaError` if the tables cannot be read.
    public nonisolated func automationStatus(runsAreStuckAfter limit: Duration = .seconds(3600)) async throws
        -> [AutomationStatus]
    {
        try await exclusively { host in
            let rows: [AutomationStatus.Row] = try await host.callAutomations("status", [.number(limit / .seconds(1))])
            return rows.map { AutomationStatus(row: $0) }
        }
    }

    /// Runs the automations of a file until the task is cancelled, as the main function of a service.
    ///
    /// With ServiceLifecycle, call it in the `run` method of a service, inside `cancelWhenGracefulShutdown`.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - poll: As in ``loadAutomations(file:isLive:poll:)``.
    ///   - limit: The maximum time to wait for active runs at the end, see ``stopAutomations(within:)``.
    /// - Throws: What ``loadAutomations(file:isLive:poll:)`` throws; what ``waitUntilIdle()`` throws before the task is cancelled.
    public nonisolated func serveAutomations(
        file path: String, poll: Duration? = nil, stoppingWithin limit: Duration = .seconds(5)
    ) async throws {
        try await waitForEvents()
        let result: Result<Void, any Error>
        do {
            try await loadAutomations(file: path, poll: poll)
            try await waitUntilIdle()
            result = .success(())
        } catch {
            result = Task.isCancelled ? .success(()) : .failure(error)
        }
        // Uses a task that is not cancelled, because the runs may clean up.
        try await Task { try await stopAutomations(within: limit) }.value
        try result.get()
    }

    /// Keeps ``waitUntilIdle()`` waiting until ``stopAutomations(within:)``, even if only events can trigger automations.
    ///
    /// - Throws: `LuaError` if the state is closed.
    package func waitForEvents() async throws {
        try await backend.waitForEvents(in: self)
    }

    /// Ends all automations, and everything that their file has started: before the program ends, for example.
    ///
    /// Active runs are interrupted while they wait, and may clean up. Runs that do not end in time are cancelled. Each run is recorded as
    /// cancelled, or with its outcome.
    ///
    /// - Parameter limit: The maximum time to wait for active runs.
    /// - Throws: `LuaError` with code `cancelled` if they do not end even after cancellation.
    public nonisolated func stopAutomations(within limit: Duration = .seconds(5)) async throws {
        do {
            try await endAutomations(within: limit)
        } catch let error as LuaError where error.code == .cancelled {
            // The limit ended this run too; the automations' runs are over now.
            try await endAutomations(within: limit)
        }
    }

    private nonisolated func endAutomations(within limit: Duration) async throws {
        // Called from another thread, because a looping script occupies the thread of the host.
        let timer = Task { [control] in
            while true {
                try await Task.sleep(for: limit)
                control.cancelRuns()
            }
        }
        defer { timer.cancel() }
        try await endAutomations()
    }

    private func endAutomations() async throws {
        try await backend.endAutomations(in: self)
        automationClaim = nil
    }

    /// Returns the claim on the automations of a file: the existing claim of this host if it is for the same file.
    private func claimAutomations(ofFile path: String) throws -> AutomationClaim? {
        if let automationClaim, automationClaim.isOf(file: path) { return automationClaim }
        return try AutomationClaim(file: path, database: database, path: backend.databasePath)
    }

    func callAutomations<Result: Decodable>(_ name: String, _ arguments: [LuaValue]) async throws -> Result {
        try LuaDecoder().decode(from: await backend.callLibrary(.automations, name, { _ in arguments }, in: self))
    }
}
