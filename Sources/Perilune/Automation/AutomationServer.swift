internal import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua

/// A server for the automations of many tenants, in which idle tenants use few resources.
///
/// ```swift
/// let server = try await AutomationServer()
/// try await server.add(
///     "acme", automations: "acme.lua",
///     configuration: ScriptHost.Configuration(database: .pool("acme.sqlite")))
/// await server.run()
/// ```
///
/// An idle tenant is *parked*: its host and its database are closed. The server wakes the tenant at its next due time, when any process
/// writes to its database file, and for ``withHost(of:_:)``. All tenants share one timer and one file watcher. Parking preserves all work
/// recorded in the database: due times, changes for durable automations, sleeping runs, jobs, events and signals.
///
/// A tenant stays *awake* while its host has work that exists only in memory: an automation on `change` that is not durable, a period under
/// a second, an active run, a waiting run that is not durable, or a timer, a task or an observation of a script. A tenant also stays awake
/// if its database is not a file, or if its next due time is near. ``tenants`` includes the reason.
///
/// A woken tenant has a new host, in which the file runs again. Global and local variables are lost.
public actor AutomationServer {
    /// The dependency container of the hosts.
    let container: DependencyContainer
    let environment: ScriptEnvironment
    let idleLimit: Duration?
    let shortestRest: Duration
    let maximumWaking: Int

    private var served: [String: ServedTenant] = [:]
    var numbers: [Int: ServedTenant] = [:]
    private var lastNumber = 0
    private var isClosed = false
    /// The timers for due times, which use the container's clock.
    let dueTimers: LoopTimers
    /// The timers for checks and retries, which use the system clock.
    let checkTimers = LoopTimers(date: .system)
    /// The watcher of database files. `nil` before the first tenant with a file, and if the system provides no further watcher; in this
    /// case, the files of parked tenants are checked every second.
    var watcher: DatabaseFileWatcher?
    /// The number of tenants that are being woken, and the continuations of tenants that wait to be woken.
    var turns = 0
    var line: [CheckedContinuation<Void, Never>] = []
    /// The continuation that ends ``run(stoppingWithin:)``.
    private let end: AsyncStream<Void>.Continuation
    private let untilEnd: AsyncStream<Void>

    /// Creates a server without tenants. Its hosts use the current task's dependency container.
    ///
    /// - Parameters:
    ///   - idleLimit: The time after which an idle tenant is parked; `nil` to keep all tenants awake.
    ///   - shortestRest: The minimum time until the next due time for which a tenant is parked.
    ///   - maximumWaking: The maximum number of tenants that are woken simultaneously, if many are due at the same time.
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
    ///   - file: The script file that defines the automations, see `ScriptHost.loadAutomations(file:isLive:poll:)`. The server reads it
    ///     each time it wakes the tenant.
    ///   - configuration: The configuration of the tenant's hosts, including its database. If the database is given by a path, the server
    ///     opens and closes it.
    ///   - prepare: A closure that prepares each host before the file is loaded: registers functions and job handlers.
    /// - Returns: The number of automations.
    /// - Throws: `LuaError` of kind `already_running` if another host runs the automations, and the errors of creating the host, of
    ///   `prepare` and of the file. After an error, the tenant is not added.
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
    /// - Parameters:
    ///   - name: The name of the tenant.
    ///   - limit: The maximum time to wait for active runs, see `ScriptHost.stopAutomations(within:)`.
    /// - Throws: `LuaError` if the server has no tenant with this name.
    public func remove(_ name: String, stoppingWithin limit: Duration = .seconds(5)) async throws {
        try await remove(tenant(named: name), within: limit)
    }

    /// Replaces the scripts of a tenant, whose automations continue in a new host.
    ///
    /// The server first creates and prepares the new host, and runs the file without activating triggers. If that fails, the previous
    /// version continues.
    ///
    /// - Parameters:
    ///   - name: The name of the tenant.
    ///   - file: The new file; `nil` to read the same file again.
    ///   - limit: The maximum time to wait for active runs of the previous version, see `ScriptHost.stopAutomations(within:)`.
    ///   - prepare: A closure that prepares the hosts of the new version; `nil` to keep the previous closure.
    /// - Returns: The number of automations.
    /// - Throws: `LuaError` if the server has no tenant with this name, and the errors of the new version.
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

    /// Runs an operation with the host of a tenant. Wakes a parked tenant, and keeps the tenant awake during the operation.
    ///
    /// The operation runs in the caller's isolation, so it may use values that are not `Sendable`. It must not keep the host, which may be
    /// closed later.
    ///
    /// - Throws: Any error of the operation; `LuaError` if the server has no tenant with this name; the errors of waking the tenant.
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

    /// Returns the state of a tenant; `nil` if the server has no tenant with this name.
    public func tenant(_ name: String) -> Tenant? { served[name]?.description }

    /// Runs until the task is cancelled or the server is closed, then closes the server. Suitable as the main function of a service.
    ///
    /// With ServiceLifecycle, call it in the `run` method of a service, inside `cancelWhenGracefulShutdown`.
    ///
    /// - Parameter limit: The maximum time to wait for active runs at the end.
    public func run(stoppingWithin limit: Duration = .seconds(5)) async {
        for await _ in untilEnd {}
        // Uses a new task, which is not cancelled, because active runs may need time to clean up.
        await Task { await close(within: limit) }.value
    }

    /// Removes all tenants and closes the server, to which no tenants can be added afterwards.
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

    /// Acquires the lock of a tenant, and returns the tenant. The caller must release the lock.
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
        // A cancelled task could not acquire the lock, so a new task does.
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
