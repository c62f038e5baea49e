internal import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua

/// A server for the automations of many tenants, which costs little for tenants that have nothing to do.
///
/// ```swift
/// let server = try await AutomationServer()
/// try await server.add(
///     "acme", automations: "acme.lua",
///     configuration: ScriptHost.Configuration(database: .pool("acme.sqlite")))
/// await server.run()
/// ```
///
/// A tenant is *parked* while it has nothing to do: its host and its database are closed. It is woken when its next due time comes, when any
/// process writes to its database file, and by ``withHost(of:_:)``. All tenants share one timer and one watcher of files. Nothing that is
/// recorded in the database is lost in between: due times, changes for durable automations, sleeping runs, jobs, events and signals.
///
/// A tenant stays *awake* if its host has something that exists only in memory: an automation on `change` that is not durable, a period
/// under a second, an active run, a run that waits for another attempt and is not durable, a timer, a task or an observation of a script.
/// The same applies to a tenant whose database is not a file, or whose next due time is near. ``tenants`` has the reason.
///
/// When a tenant is woken, it gets a new host, in which the file runs again. Values that scripts keep in variables are lost.
public actor AutomationServer {
    /// The container of dependencies that hosts see.
    let container: DependencyContainer
    let environment: ScriptEnvironment
    let idleLimit: Duration?
    let shortestRest: Duration
    let maximumWaking: Int

    private var served: [String: ServedTenant] = [:]
    var numbers: [Int: ServedTenant] = [:]
    private var lastNumber = 0
    private var isClosed = false
    /// The timers of due times, which follow the clock of the container.
    let dueTimers: LoopTimers
    /// The timers of checks and retries.
    let checkTimers = LoopTimers(date: .system)
    /// `nil` before the first tenant with a file, and if the system has no more watchers: the files of parked tenants are then looked at
    /// each second.
    var watcher: DatabaseFileWatcher?
    /// The number of tenants that are being woken, and the continuations of tenants that wait for their turn.
    var turns = 0
    var line: [CheckedContinuation<Void, Never>] = []
    /// Ends ``run(stoppingWithin:)``.
    private let end: AsyncStream<Void>.Continuation
    private let untilEnd: AsyncStream<Void>

    /// Creates a server without tenants. Its hosts use the dependency container that the current task sees.
    ///
    /// - Parameters:
    ///   - idleLimit: The time after which a tenant without work is parked; `nil` to keep all tenants awake.
    ///   - shortestRest: A tenant with a due time sooner than this stays awake.
    ///   - maximumWaking: The maximum number of tenants that are woken at the same time, because many may be due at once.
    /// - Throws: `DependencyError` if the container lacks a value.
    public init(idleLimit: Duration? = .seconds(1), shortestRest: Duration = .seconds(5), maximumWaking: Int = 16) async throws {
        precondition(idleLimit ?? .zero >= .zero && shortestRest >= .zero, "the times of a server cannot be negative")
        precondition(maximumWaking >= 1, "a server needs to wake at least one tenant at a time")
        container = DependencyContainer.current
        environment = try await ScriptEnvironment.resolve(in: container)
        (self.idleLimit, self.shortestRest, self.maximumWaking) = (idleLimit, shortestRest, maximumWaking)
        dueTimers = environment.date.isSystem ? checkTimers : LoopTimers(date: environment.date)
        (untilEnd, end) = AsyncStream.makeStream()
    }

    // MARK: - Tenants

    /// Starts the automations of a tenant.
    ///
    /// - Parameters:
    ///   - name: The name of the tenant, which is unique in the server.
    ///   - file: The script file that defines the automations, see `ScriptHost.loadAutomations(file:isLive:poll:)`. It is read each time that
    ///     the tenant is woken.
    ///   - configuration: The configuration of the tenant's hosts, with its database. The server opens and closes a database given by
    ///     its path.
    ///   - prepare: Makes each host of the tenant ready before the file is loaded: registers functions and handlers of jobs.
    /// - Returns: The number of automations.
    /// - Throws: `LuaError` of kind `already_running` if another host runs the automations, and the errors of making the host, of `prepare` and
    ///   of the file. The tenant is then not added.
    @discardableResult
    public func add(
        _ name: String, automations file: String, configuration: ScriptHost.Configuration,
        prepare: @escaping @Sendable (ScriptHost) async throws -> Void = { _ in }
    ) async throws -> Int {
        try requireOpen()
        if case .fail = configuration.callbackErrors {
            throw LuaError(
                .usage, "a server of automations cannot throw errors of callbacks: use .log or .handle for callbackErrors")
        }
        guard served[name] == nil else { throw LuaError(.usage, "the server has a tenant \"\(name)\" already") }
        lastNumber += 1
        let tenant = ServedTenant(name: name, number: lastNumber, file: file, configuration: configuration, prepare: prepare)
        (served[name], numbers[tenant.number]) = (tenant, tenant)
        guard await tenant.lock.acquire() else {
            forget(tenant)
            throw CancellationError()
        }
        defer { tenant.lock.release() }
        do {
            try requireOpen()
            try await findDatabase(of: tenant)
            return try await start(tenant)
        } catch {
            await dispose(of: tenant)
            throw error
        }
    }

    /// Ends the automations of a tenant, and closes its host and its database.
    ///
    /// - Parameter limit: The maximum time to wait for active runs, see `ScriptHost.stopAutomations(within:)`.
    /// - Throws: `LuaError` if there is no such tenant.
    public func remove(_ name: String, stoppingWithin limit: Duration = .seconds(5)) async throws {
        try await remove(tenant(named: name), within: limit)
    }

    /// Replaces the scripts of a tenant: its automations continue in a host with a new state.
    ///
    /// The new version is tried first: a host is created and prepared, and the file runs in it without triggers. If that fails, the
    /// previous version continues.
    ///
    /// - Parameters:
    ///   - file: The new file; `nil` to read the same file again.
    ///   - limit: The maximum time to wait for active runs of the previous version, see `ScriptHost.stopAutomations(within:)`.
    ///   - prepare: Makes the hosts of the new version ready; `nil` to keep the previous closure.
    /// - Returns: The number of automations.
    /// - Throws: `LuaError` if there is no such tenant, and the errors of the new version.
    @discardableResult
    public func reload(
        _ name: String, automations file: String? = nil, stoppingWithin limit: Duration = .seconds(5),
        prepare: (@Sendable (ScriptHost) async throws -> Void)? = nil
    ) async throws -> Int {
        let tenant = try await locked(name)
        defer { tenant.lock.release() }
        let former = (tenant.file, tenant.prepare)
        (tenant.file, tenant.prepare) = (file ?? former.0, prepare ?? former.1)
        let host: ScriptHost
        do {
            host = try await makeTrialHost(of: tenant)
        } catch {
            (tenant.file, tenant.prepare) = former
            throw error
        }
        let isResumed = tenant.host == nil
        if let formerHost = tenant.host {
            try? await formerHost.stopAutomations(within: limit)
            await closeHost(of: tenant)
        }
        do {
            return try await begin(host, of: tenant, isResumed: isResumed)
        } catch {
            fail(tenant, error)
            throw error
        }
    }

    /// Runs an operation with the host of a tenant, which is woken if it is parked, and not parked during the operation.
    ///
    /// The operation runs in the caller's isolation, so it may use values that are not `Sendable`. It must not keep the host, which may be closed
    /// later.
    ///
    /// - Throws: Any error of the operation; `LuaError` if there is no such tenant; the errors of waking it.
    nonisolated(nonsending) public func withHost<Result>(
        of name: String, _ operation: nonisolated(nonsending) (ScriptHost) async throws -> Result
    ) async throws -> Result {
        let (number, host) = try await lend(name)
        do {
            let result = try await operation(host)
            await takeBack(number)
            return result
        } catch {
            await takeBack(number)
            throw error
        }
    }

    /// The tenants, ordered by name.
    public var tenants: [Tenant] { served.values.map(\.description).sorted { $0.name < $1.name } }

    /// Returns the state of a tenant; `nil` if the server has none of that name.
    public func tenant(_ name: String) -> Tenant? { served[name]?.description }

    /// Waits until the task is cancelled or the server is closed, and closes it: as the main function of a service.
    ///
    /// With ServiceLifecycle, call it in the `run` method of a service, inside `cancelWhenGracefulShutdown`.
    ///
    /// - Parameter limit: The maximum time to wait for active runs at the end.
    public func run(stoppingWithin limit: Duration = .seconds(5)) async {
        for await _ in untilEnd {}
        // Uses a task that is not cancelled, because runs may clean up.
        await Task { await close(within: limit) }.value
    }

    /// Removes all tenants. None can be added later.
    ///
    /// - Parameter limit: The maximum time to wait for active runs.
    public func close(within limit: Duration = .seconds(5)) async {
        isClosed = true
        end.finish()
        await withTaskGroup { group in
            for name in served.keys {
                group.addTask { try? await self.remove(name, stoppingWithin: limit) }
            }
        }
        watcher = nil
    }

    private func requireOpen() throws {
        if isClosed { throw LuaError(.usage, "the server of automations is closed") }
    }

    private func tenant(named name: String) throws -> ServedTenant {
        guard let tenant = served[name] else { throw LuaError(.usage, "the server has no tenant \"\(name)\"") }
        return tenant
    }

    /// Returns a tenant while nothing else changes it. The caller releases its lock.
    private func locked(_ name: String) async throws -> ServedTenant {
        let tenant = try tenant(named: name)
        guard await tenant.lock.acquire() else { throw CancellationError() }
        guard !tenant.isRemoved else {
            tenant.lock.release()
            throw LuaError(.usage, "the server has no tenant \"\(name)\"")
        }
        return tenant
    }

    private func remove(_ tenant: ServedTenant, within limit: Duration) async throws {
        // Uses a task that is not cancelled, so that it gets the tenant in any case.
        await Task {
            guard await tenant.lock.acquire() else { return }
            defer { tenant.lock.release() }
            guard !tenant.isRemoved else { return }
            if let host = tenant.host { try? await host.stopAutomations(within: limit) }
            await dispose(of: tenant)
        }.value
    }

    private func dispose(of tenant: ServedTenant) async {
        forget(tenant)
        await closeHost(of: tenant)
        tenant.claim = nil
        if tenant.isWatched, let path = tenant.path { watcher?.remove(tenant.number, path) }
        if case .opened(let writer) = tenant.database { try? writer.closeWithReaders() }
    }

    private func forget(_ tenant: ServedTenant) {
        tenant.isRemoved = true
        cancelTimer(of: tenant)
        endTurn(of: tenant)
        if served[tenant.name] === tenant { served[tenant.name] = nil }
        numbers[tenant.number] = nil
    }

    private func lend(_ name: String) async throws -> (Int, ScriptHost) {
        let tenant = try await locked(name)
        defer { tenant.lock.release() }
        if let host = tenant.host, host.hasCrashed { await closeHost(of: tenant) }
        if tenant.host == nil {
            do {
                try await start(tenant, isResumed: true)
            } catch {
                fail(tenant, error)
                throw error
            }
        }
        guard let host = tenant.host else { throw LuaError(.usage, "the server has no tenant \"\(name)\"") }
        tenant.users += 1
        return (tenant.number, host)
    }

    private func takeBack(_ number: Int) {
        guard let tenant = numbers[number] else { return }
        tenant.users -= 1
        if tenant.users == 0, tenant.state == .awake { checkFromNow(tenant) }
    }
}
