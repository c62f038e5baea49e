internal import Foundation
internal import GRDB
internal import Logging
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua
internal import PeriluneRecords

// Parking and waking tenants. Functions that change a tenant require its lock.

extension AutomationServer {
    /// The maximum interval between checks whether a tenant can be parked. The interval doubles after each unsuccessful check.
    private static let longestCheck = Duration.seconds(10)
    /// The maximum pause before another attempt to wake a tenant.
    private static let longestPause = Duration.seconds(60)
    /// The maximum time of a timer in seconds, after which the system clock is read again, because it may have been changed.
    private static let longestWait = 60.0
    /// The minimum interval between checks, used while other tenants wait to be woken.
    private static let shortestCheck = Duration.milliseconds(50)

    // MARK: - Hosts

    /// Determines the database file of a tenant. Opens the database unless each host can open the file itself, because in tests each call
    /// would create another database.
    func findDatabase(of tenant: ServedTenant) async throws {
        let configuration = tenant.configuration
        if let source = configuration.databaseToMake, source.isInEveryContext || environment.context == .live {
            switch source.kind {
            case .pool, .queue:
                (tenant.database, tenant.path) = (.file, try source.path())
                return
            case .inMemory, .existing, .cluster: break
            }
        }
        do {
            guard let writer = try await database(of: tenant) else { return }
            if let source = configuration.database, !source.isExisting { tenant.database = .opened(writer) }
            tenant.configuration.database = .existing(writer)
        } catch let error as BindingError {
            throw error.published
        }
    }

    /// Opens the database of a tenant, and records the path of its file. Returns `nil` if this process has no connection to the database.
    private func database(of tenant: ServedTenant) async throws -> (any DatabaseWriter)? {
        if tenant.configuration.isolation.process != nil {
            let database = try await tenant.configuration.isolatedDatabase(in: container)
            tenant.path = database.path
            return database.writer
        }
        let writer = try await tenant.configuration.openDatabase(in: container)
        let path = SQLEnvironment.plainPath(of: writer.path)
        if DatabasePlaces.of(writer).address == nil, DatabaseFileMark(path).exists { tenant.path = path }
        return writer
    }

    /// Creates and prepares a host for a tenant.
    private func makeHost(of tenant: ServedTenant) async throws -> ScriptHost {
        let (configuration, prepare) = (tenant.configuration, tenant.prepare)
        let host = try await container.with { try await ScriptHost(configuration) }
        do {
            try await container.with { try await prepare(host) }
        } catch {
            await close(host, of: tenant)
            throw error
        }
        return host
    }

    /// Creates and prepares a host, and loads the tenant's automations without activating their triggers.
    func makeTrialHost(of tenant: ServedTenant) async throws -> ScriptHost {
        let host = try await makeHost(of: tenant)
        do {
            let file = tenant.file
            try await container.with { _ = try await host.loadAutomations(file: file, isLive: false) }
        } catch {
            await close(host, of: tenant)
            throw error
        }
        return host
    }

    /// Creates a host for a tenant that has none, and starts its automations.
    ///
    /// - Parameter isResumed: Whether due times that have passed since the tenant was parked still run, late, instead of being missed.
    /// - Returns: The number of automations.
    @discardableResult
    func start(_ tenant: ServedTenant, isResumed: Bool = false) async throws -> Int {
        if isResumed, let path = tenant.path, !DatabaseFileMark(path).exists {
            throw LuaError(.host, "the database file \(path) does not exist any more")
        }
        return try await begin(makeHost(of: tenant), of: tenant, isResumed: isResumed)
    }

    /// Starts the automations of a tenant in a prepared host.
    func begin(_ host: ScriptHost, of tenant: ServedTenant, isResumed: Bool) async throws -> Int {
        cancelTimer(of: tenant)
        let count: Int
        do {
            count = try await load(tenant, in: host, isResumed: isResumed)
        } catch {
            await close(host, of: tenant)
            throw error
        }
        tenant.claim = await host.automationClaim
        tenant.host = host
        tenant.wakeCount += 1
        (tenant.state, tenant.reason, tenant.error, tenant.failures) = (.awake, nil, nil, 0)
        watch(tenant)
        checkFromNow(tenant)
        return count
    }

    private func load(_ tenant: ServedTenant, in host: ScriptHost, isResumed: Bool) async throws -> Int {
        let file = tenant.file
        if let claim = tenant.claim, claim.isOf(file: file), tenant.path.map({ claim.isOn(database: $0) }) ?? true {
            await host.adopt(claim)
        } else {
            // The claim is for another automation file or database.
            tenant.claim = nil
        }
        if isResumed { try await host.resumeAutomations() }
        return try await container.with { try await host.loadAutomations(file: file) }
    }

    func closeHost(of tenant: ServedTenant) async {
        guard let host = tenant.host else { return }
        tenant.host = nil
        await close(host, of: tenant)
    }

    private func close(_ host: ScriptHost, of tenant: ServedTenant) async {
        await host.close()
        guard case .file = tenant.database, tenant.configuration.isolation.process == nil else { return }
        try? host.database.closeWithReaders()
    }

    /// Starts to watch the database file, which exists after the first host has opened it.
    private func watch(_ tenant: ServedTenant) {
        guard !tenant.isWatched, let path = tenant.path else { return }
        let resolved = AutomationClaim.realPath(of: path)
        tenant.path = resolved
        if watcher == nil {
            watcher = try? DatabaseFileWatcher { [weak self] numbers in
                Task { [weak self] in await self?.takeWrites(numbers) }
            }
        }
        tenant.isWatched = watcher?.add(tenant.number, resolved) ?? false
    }

    // MARK: - Waking

    /// Wakes the parked tenants whose files have changed.
    private func takeWrites(_ written: [Int]) {
        for number in written {
            guard let tenant = numbers[number], tenant.state == .parked else { continue }
            // Rearms the watcher before checking the files, so that no write is missed.
            watcher?.arm(number)
            if isWritten(tenant) { wake(tenant) }
        }
    }

    private func isWritten(_ tenant: ServedTenant) -> Bool {
        guard let path = tenant.path, let mark = tenant.mark else { return false }
        let current = DatabaseFileMark(path)
        return current.exists && current.hasChanged(since: mark)
    }

    /// Wakes a tenant in a new task.
    private func wake(_ tenant: ServedTenant) {
        guard !tenant.isCalled else { return }
        tenant.isCalled = true
        let number = tenant.number
        Task { [weak self] in await self?.wakeInTurn(number) }
    }

    private func wakeInTurn(_ number: Int) async {
        guard let tenant = numbers[number] else { return }
        await takeTurn(for: tenant)
        guard await tenant.lock.acquire() else { return }
        defer { tenant.lock.release() }
        // From here on, another write wakes the tenant again.
        tenant.isCalled = false
        guard !tenant.isRemoved, tenant.host == nil else { return endTurn(of: tenant) }
        await restart(tenant)
    }

    private func restart(_ tenant: ServedTenant) async {
        do {
            try await start(tenant, isResumed: true)
        } catch {
            fail(tenant, error)
        }
    }

    /// Marks a tenant as failed, logs the error, and schedules another attempt.
    func fail(_ tenant: ServedTenant, _ error: any Error) {
        endTurn(of: tenant)
        (tenant.state, tenant.error) = (.failed, error)
        tenant.failures += 1
        environment.logger.error(
            "the automations of a tenant could not be started", metadata: ["tenant": "\(tenant.name)", "error": "\(error)"],
            source: "perilune")
        setTimer(of: tenant, checkTimers, Self.pause(after: tenant.failures))
    }

    /// Returns the pause after a number of failures: one second, doubled after each further failure, up to a maximum.
    private static func pause(after count: Int) -> Duration {
        min(.seconds(1 << min(count - 1, 6)), longestPause)
    }

    private func takeTurn(for tenant: ServedTenant) async {
        if turns < maximumWaking {
            turns += 1
        } else {
            await withCheckedContinuation { line.append($0) }
        }
        tenant.hasTurn = true
    }

    /// Ends the turn of a tenant to be woken, and passes it to the tenant that has waited longest.
    func endTurn(of tenant: ServedTenant) {
        guard tenant.hasTurn else { return }
        tenant.hasTurn = false
        if line.isEmpty { turns -= 1 } else { line.removeFirst().resume() }
    }

    // MARK: - Parking

    /// Schedules a check of an awake tenant after the idle limit.
    func checkFromNow(_ tenant: ServedTenant) {
        let limit = idleLimit ?? Self.longestCheck
        tenant.interval = line.isEmpty ? limit : min(limit, Self.shortestCheck)
        setTimer(of: tenant, checkTimers, tenant.interval)
    }

    /// Parks a tenant if it is idle. Restarts a tenant whose process has ended.
    private func check(_ tenant: ServedTenant) async {
        guard let host = tenant.host else { return }
        if host.hasCrashed {
            await closeHost(of: tenant)
            return await restart(tenant)
        }
        let refusal: String?
        do {
            refusal = try await park(tenant, host)
        } catch {
            refusal = "\(error)"
        }
        endTurn(of: tenant)
        guard let refusal else { return }
        tenant.reason = refusal
        tenant.interval = min(max(tenant.interval * 2, Self.shortestCheck), Self.longestCheck)
        setTimer(of: tenant, checkTimers, tenant.interval)
    }

    /// Parks a tenant. Returns the reason why it cannot be parked; `nil` if it has been parked.
    ///
    /// No commit may be missed between the last query of the database and the arming of the watcher. Therefore the file mark is recorded
    /// first: the query sees all commits before the mark, and later commits change the files.
    private func park(_ tenant: ServedTenant, _ host: ScriptHost) async throws -> String? {
        guard idleLimit != nil else { return "the server parks no tenants" }
        guard tenant.users == 0 else { return "the program uses its host" }
        guard let path = tenant.path else { return "its database is not a file of this machine" }
        let rest = try await host.rest(forAtLeast: shortestRest, ending: false)
        tenant.nextDue = rest.next_due.map { Date(timeIntervalSince1970: $0) }
        if let reason = rest.reason { return reason }
        let mark = DatabaseFileMark(path)
        try await Task.sleep(for: mark.timeToSettle)
        guard mark.exists, !DatabaseFileMark(path).hasChanged(since: mark) else { return "its database is being written" }
        let last = try await host.rest(forAtLeast: shortestRest, ending: true)
        tenant.nextDue = last.next_due.map { Date(timeIntervalSince1970: $0) }
        if let reason = last.reason { return reason }
        await closeHost(of: tenant)
        watcher?.arm(tenant.number)
        let final = DatabaseFileMark(path)
        (tenant.state, tenant.reason, tenant.mark) = (.parked, nil, final)
        guard final.hasChanged(since: mark) else {
            tenant.unrest = 0
            waitUntilDue(tenant)
            return nil
        }
        tenant.unrest += 1
        // Closing the database may itself change the file. To prevent a loop, only the first change wakes the tenant immediately.
        if tenant.unrest == 1 { wake(tenant) } else { setTimer(of: tenant, checkTimers, Self.pause(after: tenant.unrest)) }
        return nil
    }

    // MARK: - Timers

    /// Sets the timer for the next due time of a parked tenant.
    private func waitUntilDue(_ tenant: ServedTenant) {
        var wait = tenant.nextDue.map { max($0.timeIntervalSince(environment.date()), 0) }
        if !tenant.isWatched { return setTimer(of: tenant, checkTimers, .seconds(min(wait ?? 1, 1))) }
        if environment.date.isSystem { wait = wait.map { min($0, Self.longestWait) } }
        if let wait { setTimer(of: tenant, dueTimers, .seconds(wait)) } else { cancelTimer(of: tenant) }
    }

    private func setTimer(of tenant: ServedTenant, _ timers: LoopTimers, _ time: Duration) {
        cancelTimer(of: tenant)
        let (number, generation) = (tenant.number, tenant.generation)
        let timer = timers.add(after: time / .seconds(1)) { [weak self] in
            Task { [weak self] in await self?.takeTimer(number, generation) }
        }
        tenant.timer = (timers, timer)
    }

    func cancelTimer(of tenant: ServedTenant) {
        tenant.generation += 1
        if let timer = tenant.timer { timer.timers.remove(timer.number) }
        tenant.timer = nil
    }

    private func takeTimer(_ number: Int, _ generation: Int) async {
        guard let tenant = numbers[number], tenant.generation == generation else { return }
        guard await tenant.lock.acquire() else { return }
        defer { tenant.lock.release() }
        guard !tenant.isRemoved, tenant.generation == generation else { return }
        switch tenant.state {
        case .awake: await check(tenant)
        case .parked where tenant.unrest == 0 && !isDue(tenant) && (tenant.isWatched || !isWritten(tenant)): waitUntilDue(tenant)
        default: wake(tenant)
        }
    }

    private func isDue(_ tenant: ServedTenant) -> Bool {
        // The tolerance of 1 ms allows for rounding when a time is converted to a `Date`.
        tenant.nextDue.map { $0.timeIntervalSince(environment.date()) < 1e-3 } ?? false
    }
}
