internal import PeriluneBindings
internal import PeriluneLua

/// Automations: script functions that run on a schedule, on events or on changes of data. See `perilune.automation`.
extension ScriptHost {
    /// Runs a file that defines automations, which replace the automations of the previously loaded file.
    ///
    /// Timers, observations, tasks and signal handlers that the previous file has started end, and its global variables are removed.
    /// Globals that scripts set before the first file was loaded remain.
    ///
    /// Live automations run in only one host: while this host runs them, no other host on the machine, in this process or another, can load
    /// the same file for the same database. A copy of the file at another path is another file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - isLive: Whether triggers start the automations. Otherwise automations can only be listed and run manually.
    ///   - poll: The default interval at which automations on `change` check for writes of other processes; `nil` for no checks. If a whole
    ///     table is observed, each check reads all of its rows.
    /// - Returns: The number of automations.
    /// - Throws: `LuaError` of kind `already_running` if another host runs the automations; `LuaError` if the file fails, in which case the
    ///   previous automations continue and everything that the failed file has started ends; ``ScriptFileError`` if the file cannot be
    ///   read.
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

    /// Returns the file paths of the modules that the automation file requires, including paths at which a module could be added. If one of
    /// these files changes, load the automation file again, which also reloads the modules.
    ///
    /// - Throws: `LuaError` if the host is closed.
    package nonisolated func automationModulePaths() async throws -> [String] {
        try await exclusively { host in try await host.callAutomations("module_paths", []) }
    }

    /// All automations, in the order of their definition.
    ///
    /// - Throws: `LuaError` if the host is closed, or the runs cannot be read.
    public nonisolated func automations() async throws -> [Automation] {
        try await exclusively { host in
            let rows: [Automation.Row] = try await host.callAutomations("describe", [])
            return rows.map { Automation(row: $0) }
        }
    }

    /// Runs an automation immediately, including its guard, and waits until the run ends.
    ///
    /// - Parameter event: The event value, which the function receives as `context.event`.
    /// - Parameter name: The name of the automation.
    /// - Returns: The run, which has succeeded, was skipped or cancelled, or waits to continue later.
    /// - Throws: `LuaError` if the last attempt fails, or no automation has this name.
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
    /// - Parameter name: The name of an automation; `nil` for the runs of all automations.
    /// - Parameter count: The maximum number of runs.
    /// - Throws: `LuaError` if the name is unknown: no automation has it, and no run is recorded for it.
    public nonisolated func automationRuns(of name: String? = nil, last count: Int = 20) async throws -> [AutomationRun] {
        try await exclusively { host in
            let name = name.map { LuaValue.string(LuaString($0)) } ?? .nil
            let rows: [AutomationRun.Row] = try await host.callAutomations("runs", [name, .integer(Int64(count))])
            return rows.map { AutomationRun(row: $0) }
        }
    }

    /// Returns the state of all automations recorded in the default database by any process.
    ///
    /// - Parameter limit: The duration after which an active run is reported as a problem.
    /// - Throws: `LuaError` if the tables cannot be read.
    public nonisolated func automationStatus(runsAreStuckAfter limit: Duration = .seconds(3600)) async throws
        -> [AutomationStatus]
    {
        try await exclusively { host in
            let rows: [AutomationStatus.Row] = try await host.callAutomations("status", [.number(limit / .seconds(1))])
            return rows.map { AutomationStatus(row: $0) }
        }
    }

    /// Runs the automations of a file until the task is cancelled. Suitable as the main function of a service.
    ///
    /// With ServiceLifecycle, call it in the `run` method of a service, inside `cancelWhenGracefulShutdown`.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - poll: See ``loadAutomations(file:isLive:poll:)``.
    ///   - limit: The maximum time to wait for active runs at the end, see ``stopAutomations(within:)``.
    /// - Throws: Errors of ``loadAutomations(file:isLive:poll:)``; errors of ``waitUntilIdle()``, except after the task is cancelled.
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
        // Uses a new task, which is not cancelled, because active runs may need time to clean up.
        try await Task { try await stopAutomations(within: limit) }.value
        try result.get()
    }

    /// Makes ``waitUntilIdle()`` wait until ``stopAutomations(within:)`` is called, even if only events can trigger automations.
    ///
    /// - Throws: `LuaError` if the host is closed.
    package func waitForEvents() async throws {
        try await backend.waitForEvents(in: self)
    }

    /// Ends all automations, and the timers, observations and tasks that their file has started, for example before the program exits.
    ///
    /// Active runs that wait are interrupted, and may clean up. Runs that do not end in time are cancelled. Each run is recorded as
    /// cancelled, or with its outcome.
    ///
    /// - Parameter limit: The maximum time to wait for active runs.
    /// - Throws: `LuaError` with code `cancelled` if runs do not end even after cancellation.
    public nonisolated func stopAutomations(within limit: Duration = .seconds(5)) async throws {
        do {
            try await endAutomations(within: limit)
        } catch let error as LuaError where error.code == .cancelled {
            // The cancellation after the limit also ended the first attempt to stop. All runs have ended, so a second attempt succeeds.
            try await endAutomations(within: limit)
        }
    }

    private nonisolated func endAutomations(within limit: Duration) async throws {
        // Cancels from another task, because a looping script occupies the host's thread.
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

    /// Claims the automations of a file for this host. Returns the host's current claim if it is for the same file.
    private func claimAutomations(ofFile path: String) throws -> AutomationClaim? {
        if let automationClaim, automationClaim.isOf(file: path) { return automationClaim }
        return try AutomationClaim(file: path, database: database, path: backend.databasePath)
    }

    func callAutomations<Result: Decodable>(_ name: String, _ arguments: [LuaValue]) async throws -> Result {
        try LuaDecoder().decode(from: await backend.callLibrary(.automations, name, { _ in arguments }, in: self))
    }
}
