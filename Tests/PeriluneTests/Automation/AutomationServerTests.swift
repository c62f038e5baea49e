import Foundation
import GRDB
import Perilune
import PeriluneDependencies
import PeriluneLua
import PeriluneTestTools
import Synchronization
import Testing

/// The parking and waking of a server's tenants, which must not lose writes, due times or jobs.
@Suite(.patience) struct AutomationServerTests {
    /// A server whose tenants have files in a temporary folder. Due times follow a clock that the test sets.
    private struct Fixture {
        let folder: String
        let clock: ManualClock
        let server: AutomationServer

        /// - Parameter shortestRest: The minimum pause between wakings. The default is short, so that tenants are parked as soon
        ///   as possible.
        static func run(
            idleLimit: Duration? = .zero, shortestRest: Duration = .seconds(1), maximumWaking: Int = 16,
            _ body: nonisolated(nonsending) (Fixture) async throws -> Void
        ) async throws {
            try await withTemporaryFolder { folder in
                let clock = ManualClock()
                try await DependencyContainer.with {
                    $0.date = .manual(clock)
                } operation: {
                    let server = try await AutomationServer(
                        idleLimit: idleLimit, shortestRest: shortestRest, maximumWaking: maximumWaking)
                    let fixture = Fixture(folder: folder, clock: clock, server: server)
                    do {
                        try await body(fixture)
                    } catch {
                        await server.close()
                        throw error
                    }
                    await server.close()
                }
            }
        }

        static let schema = Migrations.inTransaction { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
                    CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, name TEXT)
                    """)
        }

        func path(_ name: String) -> String { "\(folder)/\(name).sqlite" }

        func configuration(_ name: String) -> ScriptHost.Configuration {
            var configuration = ScriptHost.Configuration(
                database: .pool(path(name), migrations: Self.schema, inEveryContext: true))
            configuration.output = .discarded
            return configuration
        }

        func write(_ script: String, to name: String = "a") throws -> String {
            let file = "\(folder)/\(name).lua"
            try Data(script.utf8).write(to: URL(filePath: file))
            return file
        }

        func add(_ script: String, as name: String = "a") async throws {
            try await server.add(name, automations: write(script, to: name), configuration: configuration(name))
        }

        func state(of name: String = "a") async -> AutomationServer.Tenant.State? { await server.tenant(name)?.state }

        /// - Parameter advancing: As in ``has(_:in:advancing:)``.
        func isParked(_ name: String = "a", advancing: Bool = false) async -> Bool {
            await eventually {
                if advancing { await advance() }
                return await state(of: name) == .parked
            }
        }

        /// Advances the clock after other tasks had many turns. With a faster clock, the tenant would look for writes all the time and never
        /// be parked.
        func advance() async {
            for _ in 0..<1000 { await Task.yield() }
            clock.advance(by: 0.1)
        }

        /// Accesses the database of a tenant through a connection that is closed afterwards, as another program would.
        func access<Result>(_ name: String = "a", _ body: (Database) throws -> Result) throws -> Result {
            var configuration = GRDB.Configuration()
            // Opening a database reads it, which may have to wait for a lock.
            configuration.busyMode = .timeout(60)
            let queue = try DatabaseQueue(path: path(name), configuration: configuration)
            defer { try? queue.close() }
            return try queue.writeWithoutTransaction(body)
        }

        func execute(_ sql: String, in name: String = "a") throws {
            try access(name) { db in try db.execute(sql: sql) }
        }

        func notes(_ name: String = "a") throws -> [String] {
            try access(name) { db in try String.fetchAll(db, sql: "SELECT text FROM note ORDER BY id") }
        }

        /// - Parameter advancing: Whether to advance the clock, because a tenant that is awake polls for writes by others.
        func has(_ notes: [String], in name: String = "a", advancing: Bool = false) async throws -> Bool {
            let isFound = try await eventually {
                if advancing { await advance() }
                return try self.notes(name) == notes
            }
            if !isFound { print("\(await server.tenants): \(try self.notes(name))") }
            return isFound
        }
    }

    private static let note = "local function note(text) db:execute('INSERT INTO note(text) VALUES (?)', text) end "

    // MARK: - Due times

    @Test func `a tenant is parked until its next due time`() async throws {
        try await Fixture.run { fixture in
            try await fixture.add(
                Self.note + "perilune.automation{ name = 'tick', on = { every = '1h' }, run = function() note('tick') end }")
            #expect(await fixture.isParked())
            let tenant = try #require(await fixture.server.tenant("a"))
            #expect(tenant.nextDue == fixture.clock.now + 3600)
            #expect(tenant.reason == nil && tenant.wakeCount == 1)
            fixture.clock.advance(by: 3599)
            #expect(await fixture.state() == .parked)
            fixture.clock.advance(by: 1)
            #expect(try await fixture.has(["tick"]))
            #expect(await fixture.isParked())
            fixture.clock.advance(by: 3600)
            #expect(try await fixture.has(["tick", "tick"]))
        }
    }

    @Test func `a due time for which a tenant is woken late does not count as missed`() async throws {
        try await Fixture.run { fixture in
            try await fixture.add(
                Self.note
                    + "perilune.automation{ name = 'daily', on = { schedule = '0 9 * * *', zone = 'UTC' }, run = function() note('daily') end }"
            )
            #expect(await fixture.isParked())
            let due = try #require(await fixture.server.tenant("a")?.nextDue)
            fixture.clock.set(due + 200)
            #expect(try await fixture.has(["daily"]))
            #expect(await fixture.isParked())
            #expect(await fixture.server.tenant("a")?.nextDue == due + 86400)
            let outcomes = try fixture.access { db in
                try String.fetchAll(db, sql: "SELECT outcome FROM perilune_automation_run")
            }
            #expect(outcomes == ["succeeded"])
        }
    }

    @Test func `a due time that passes while no server runs counts as missed`() async throws {
        try await Fixture.run { fixture in
            let script =
                Self.note
                + "perilune.automation{ name = 'daily', on = { schedule = '0 9 * * *', zone = 'UTC' }, run = function() note('daily') end }"
            try await fixture.add(script)
            #expect(await fixture.isParked())
            let due = try #require(await fixture.server.tenant("a")?.nextDue)
            try await fixture.server.remove("a")
            fixture.clock.set(due + 200)
            try await fixture.add(script)
            #expect(await fixture.isParked())
            let outcomes = try fixture.access { db in
                try String.fetchAll(db, sql: "SELECT outcome FROM perilune_automation_run")
            }
            #expect(outcomes == ["skipped"])
        }
    }

    @Test func `a tenant whose next due time is near stays awake`() async throws {
        try await Fixture.run(shortestRest: .seconds(60)) { fixture in
            try await fixture.add("perilune.automation{ name = 'tick', on = { every = '30s' }, run = function() end }")
            #expect(await eventually { await fixture.server.tenant("a")?.reason == "an automation is due soon" })
            #expect(await fixture.state() == .awake)
        }
    }

    @Test func `a durable run sleeps while its tenant is parked`() async throws {
        try await Fixture.run { fixture in
            try await fixture.add(
                Self.note + """
                    perilune.automation{ name = "order", durable = true, on = { change = "item" }, run = function(run)
                      run:step("first", function() note("first") end)
                      run:sleep("3 days")
                      run:step("last", function() note("last") end)
                    end }
                    """)
            #expect(await fixture.isParked())
            try fixture.execute("INSERT INTO item(name) VALUES ('x')")
            #expect(try await fixture.has(["first"]))
            #expect(
                await eventually {
                    let tenant = await fixture.server.tenant("a")
                    return tenant?.state == .parked && tenant?.nextDue != nil
                })
            fixture.clock.advance(by: 3 * 86400)
            #expect(try await fixture.has(["first", "last"]))
        }
    }

    // MARK: - Writes

    @Test func `a write by another connection wakes a tenant, and a read does not`() async throws {
        try await Fixture.run { fixture in
            try await fixture.add(
                Self.note
                    + "perilune.automation{ name = 'item', durable = true, on = { change = 'item' }, run = function(run) note(run.value.name) end }"
            )
            #expect(await fixture.isParked())
            for _ in 0..<20 { #expect(try fixture.notes() == []) }
            #expect(await fixture.server.tenant("a")?.wakeCount == 1)
            try fixture.execute("INSERT INTO item(name) VALUES ('x')")
            #expect(try await fixture.has(["x"]))
            #expect(await fixture.isParked())
        }
    }

    @Test func `a database without a write-ahead log is also watched for writes`() async throws {
        try await Fixture.run { fixture in
            let file = try fixture.write(
                Self.note
                    + "perilune.automation{ name = 'item', durable = true, on = { change = 'item' }, run = function(run) note(run.value.name) end }"
            )
            try fixture.access { db in try db.execute(sql: "PRAGMA journal_mode = DELETE; CREATE TABLE other (id INTEGER)") }
            var configuration = fixture.configuration("a")
            configuration.database = .queue(fixture.path("a"), migrations: Fixture.schema, inEveryContext: true)
            try await fixture.server.add("a", automations: file, configuration: configuration)
            #expect(await fixture.isParked())
            try fixture.execute("INSERT INTO item(name) VALUES ('x')")
            #expect(try await fixture.has(["x"]))
        }
    }

    @Test func `jobs that another process enqueues are handled`() async throws {
        try await Fixture.run { fixture in
            try await fixture.add(Self.note + "perilune.jobs('mail'):handle(function(job) note(job.payload.to) end)")
            #expect(await fixture.isParked())
            let other = try await ScriptHost(
                ScriptPlace.isolated.configuration(.init(database: .pool(fixture.path("a"), inEveryContext: true))))
            try await other.run(source: "perilune.jobs('mail'):enqueue{ to = 'ada' }")
            #expect(try await fixture.has(["ada"]))
            try await other.run(source: "perilune.jobs('mail'):enqueue({ to = 'bob' }, { delay = '10m' })")
            #expect(
                await eventually {
                    let tenant = await fixture.server.tenant("a")
                    return tenant?.state == .parked && tenant?.nextDue != nil
                })
            fixture.clock.advance(by: 601)
            #expect(try await fixture.has(["ada", "bob"]))
            await other.close()
        }
    }

    @Test func `a signal and an event from another connection reach durable runs`() async throws {
        try await Fixture.run { fixture in
            try await fixture.add(
                Self.note + """
                    perilune.automation{ name = "order", durable = true, on = { event = "placed" },
                      key = function(run) return run.event end,
                      run = function(run) note(run:wait_for("paid")) end }
                    """)
            #expect(await fixture.isParked())
            let other = try await ScriptHost(.init(database: .pool(fixture.path("a"), inEveryContext: true)))
            try await other.run(source: "perilune.emit('placed', 'k')")
            #expect(
                try await eventually {
                    try fixture.access { db in
                        try String.fetchOne(db, sql: "SELECT waits_for FROM perilune_automation_run") != nil
                    }
                })
            #expect(await fixture.isParked())
            try await other.run(source: "perilune.signal('order', 'k', 'paid', 'yes')")
            #expect(try await fixture.has(["yes"]))
            await other.close()
        }
    }

    /// Writes at random times, including while the tenant is being parked.
    @Test func `no write is missed while a tenant is parked and woken`() async throws {
        // Only in the live context, a tenant that is awake polls for writes by other programs.
        try await DependencyContainer.inProcess(.live) {
            try await Fixture.run { fixture in
                try await fixture.add(
                    Self.note
                        + "perilune.automation{ name = 'item', durable = true, on = { change = 'item' }, run = function(run) note(run.value.name) end }"
                )
                var random = SystemRandomNumberGenerator()
                for number in 1...150 {
                    try fixture.execute("INSERT INTO item(name) VALUES ('\(number)')")
                    // Some writes happen while the tenant is awake, and some while it is parked.
                    switch Int.random(in: 0...4, using: &random) {
                    case 0: _ = await fixture.isParked(advancing: true)
                    case 1: for _ in 0..<Int.random(in: 0...2000, using: &random) { await Task.yield() }
                    default: break
                    }
                }
                #expect(
                    try await eventually {
                        await fixture.advance()
                        return try fixture.notes().count >= 150
                    })
                #expect(try Set(fixture.notes()).count == 150)
                #expect(try fixture.notes().count == 150)
                #expect(await fixture.isParked())
            }
        }
    }

    // MARK: - Tenants that stay awake

    @Test(arguments: [
        ("perilune.automation{ name = 'x', on = { change = 'item' }, run = print }", "\"x\" observes changes in memory"),
        ("perilune.automation{ name = 'x', on = { every = '500ms' }, run = print }", "the period of \"x\" is not recorded"),
        ("perilune.every('1h', print)", "a script has started a timer"),
        (
            "perilune.spawn(function() for _ in db:observe(function(db) return db:fetch_value('SELECT count(*) FROM item') end):values() do end end)",
            "a script has started a task"
        ),
        ("Item = perilune.record('item') Item:observe(print)", "a script has started an observation"),
    ])
    func `a tenant that needs its host stays awake, and the server reports the reason`(script: String, reason: String)
        async throws
    {
        try await Fixture.run { fixture in
            try await fixture.add(script)
            #expect(await eventually { await fixture.server.tenant("a")?.reason == reason })
            #expect(await fixture.state() == .awake)
        }
    }

    @Test func `a tenant with an active run stays awake until the run has ended`() async throws {
        try await Fixture.run { fixture in
            let rendezvous = Rendezvous()
            let file = try fixture.write(
                Self.note + """
                    perilune.automation{ name = "slow", on = { every = "1h" }, run = function()
                      require("gate").wait()
                      note("done")
                    end }
                    """)
            try await fixture.server.add("a", automations: file, configuration: fixture.configuration("a")) { host in
                try await host.register(module: "gate") { gate in
                    gate.function("wait") { () async throws in await rendezvous.meet() }
                }
            }
            #expect(await fixture.isParked())
            fixture.clock.advance(by: 3600)
            #expect(await eventually { await fixture.server.tenant("a")?.reason == "a run is active" })
            await rendezvous.meet()
            #expect(try await fixture.has(["done"]))
            #expect(await fixture.isParked())
        }
    }

    @Test func `a tenant with a database in memory stays awake`() async throws {
        try await Fixture.run { fixture in
            let file = try fixture.write("perilune.automation{ name = 'x', on = { every = '1h' }, run = print }")
            try await fixture.server.add("a", automations: file, configuration: .init(database: .inMemory()))
            #expect(await eventually { await fixture.server.tenant("a")?.reason == "its database is not a file of this machine" })
        }
    }

    @Test func `an automation server without an idle limit parks no tenant`() async throws {
        try await Fixture.run(idleLimit: nil) { fixture in
            try await fixture.add(
                Self.note + "perilune.automation{ name = 'tick', on = { every = '1h' }, run = function() note('tick') end }")
            fixture.clock.advance(by: 3600)
            #expect(try await fixture.has(["tick"]))
            #expect(await fixture.state() == .awake)
        }
    }

    // MARK: - The program

    @Test func `the program wakes a tenant by using its host`() async throws {
        try await Fixture.run { fixture in
            let file = try fixture.write("perilune.automation{ name = 'tick', on = { every = '1h' }, run = print }")
            try await fixture.server.add("a", automations: file, configuration: fixture.configuration("a")) { host in
                try await host.run(source: "function double(x) return 2 * x end")
            }
            #expect(await fixture.isParked())
            let result: Int = try await fixture.server.withHost(of: "a") { host in
                #expect(await fixture.state() == .awake)
                return try await host.call("double", 21)
            }
            #expect(result == 42)
            #expect(await fixture.isParked())
            await #expect(throws: CancellationError.self) {
                try await fixture.server.withHost(of: "a") { _ in throw CancellationError() }
            }
            #expect(await fixture.isParked())
        }
    }

    @Test func `parking a tenant does not close a database that the program has opened`() async throws {
        try await Fixture.run { fixture in
            let database = try DatabasePool(path: fixture.path("a"))
            try await database.write { db in try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)") }
            let file = try fixture.write(
                Self.note + "perilune.automation{ name = 'tick', on = { every = '1h' }, run = function() note('tick') end }")
            try await fixture.server.add("a", automations: file, configuration: .init(database: .existing(database)))
            #expect(await fixture.isParked())
            fixture.clock.advance(by: 3600)
            #expect(
                try await eventually { try await database.value("SELECT text FROM note", as: String.self) == "tick" })
            #expect(await fixture.isParked())
        }
    }

    // MARK: - Reload and remove

    @Test func `parked and awake tenants get a new version, or keep the previous one if the new one fails`() async throws {
        try await Fixture.run { fixture in
            func script(_ version: String) -> String {
                Self.note
                    + "perilune.automation{ name = 'tick', on = { every = '1h' }, run = function() note('\(version)') end }"
            }
            try await fixture.add(script("one"))
            #expect(await fixture.isParked())
            _ = try fixture.write(script("two"))
            #expect(try await fixture.server.reload("a") == 1)
            fixture.clock.advance(by: 3600)
            #expect(try await fixture.has(["two"]))

            let broken = try fixture.write(script("three") + " error('no')", to: "broken")
            await #expect(throws: LuaError.self) { try await fixture.server.reload("a", automations: broken) }
            await #expect(throws: CancellationError.self) {
                try await fixture.server.reload("a") { _ in throw CancellationError() }
            }
            #expect(await fixture.isParked())
            fixture.clock.advance(by: 3600)
            #expect(try await fixture.has(["two", "two"]))

            let value = try await fixture.server.withHost(of: "a") { host in
                try await host.run(source: "return tostring(marker)", as: String.self)
            }
            #expect(value == "nil")
            try await fixture.server.reload("a") { host in try await host.run(source: "marker = 'new'") }
            let newValue = try await fixture.server.withHost(of: "a") { host in
                try await host.run(source: "return tostring(marker)", as: String.self)
            }
            #expect(newValue == "new")
        }
    }

    @Test func `the automations of a parked tenant cannot run elsewhere until it is removed`() async throws {
        try await Fixture.run { fixture in
            try await fixture.add("perilune.automation{ name = 'tick', on = { every = '1h' }, run = print }")
            #expect(await fixture.isParked())
            let other = try await AutomationServer()
            let error = await #expect(throws: LuaError.self) {
                try await other.add("b", automations: "\(fixture.folder)/a.lua", configuration: fixture.configuration("a"))
            }
            #expect(error?.kind == "already_running")
            #expect(await other.tenants.isEmpty)
            try await fixture.server.remove("a")
            #expect(await fixture.server.tenants.isEmpty)
            try await other.add("b", automations: "\(fixture.folder)/a.lua", configuration: fixture.configuration("a"))
            await other.close()
            fixture.clock.advance(by: 7200)
            let error2 = await #expect(throws: LuaError.self) { try await fixture.server.withHost(of: "a") { _ in } }
            #expect(error2?.message == "the server has no tenant \"a\"")
        }
    }

    // MARK: - Errors and misuse

    @Test func `a tenant that cannot be prepared is not added`() async throws {
        try await Fixture.run { fixture in
            let file = try fixture.write("perilune.automation{ name = 'tick', on = { every = '1h' }, run = print }")
            await #expect(throws: CancellationError.self) {
                try await fixture.server.add("a", automations: file, configuration: fixture.configuration("a")) { _ in
                    throw CancellationError()
                }
            }
            await #expect(throws: (any Error).self) {
                try await fixture.server.add(
                    "a", automations: "\(fixture.folder)/none.lua", configuration: fixture.configuration("a"))
            }
            let faulty = try fixture.write("error('no')", to: "faulty")
            await #expect(throws: LuaError.self) {
                try await fixture.server.add("a", automations: faulty, configuration: fixture.configuration("a"))
            }
            #expect(await fixture.server.tenants.isEmpty)
            try await fixture.server.add("a", automations: file, configuration: fixture.configuration("a"))
        }
    }

    @Test func `waking a tenant is retried after a failure`() async throws {
        try await Fixture.run { fixture in
            let isBroken = Mutex(false)
            let file = try fixture.write(
                Self.note + "perilune.automation{ name = 'tick', on = { every = '1h' }, run = function() note('tick') end }")
            try await fixture.server.add("a", automations: file, configuration: fixture.configuration("a")) { _ in
                if isBroken.withLock({ $0 }) { throw LuaError(.usage, "broken") }
            }
            #expect(await fixture.isParked())
            isBroken.withLock { $0 = true }
            fixture.clock.advance(by: 3600)
            #expect(await eventually { await fixture.state() == .failed })
            #expect("\(String(describing: await fixture.server.tenant("a")?.error))".contains("broken"))
            await #expect(throws: LuaError.self) { try await fixture.server.withHost(of: "a") { _ in } }
            isBroken.withLock { $0 = false }
            #expect(try await fixture.has(["tick"]))
            #expect(await fixture.isParked())
            #expect(await fixture.server.tenant("a")?.error == nil)
        }
    }

    @Test func `a database file that has disappeared is not created again`() async throws {
        try await Fixture.run { fixture in
            try await fixture.add("perilune.automation{ name = 'tick', on = { every = '1h' }, run = print }")
            #expect(await fixture.isParked())
            try FileManager.default.removeItem(atPath: fixture.path("a"))
            fixture.clock.advance(by: 3600)
            #expect(await eventually { await fixture.state() == .failed })
            #expect(!FileManager.default.fileExists(atPath: fixture.path("a")))
        }
    }

    @Test func `misuse of the automation server is reported`() async throws {
        try await Fixture.run { fixture in
            let script = "perilune.automation{ name = 'tick', on = { every = '1h' }, run = print }"
            try await fixture.add(script)
            let twice = await #expect(throws: LuaError.self) { try await fixture.add(script) }
            #expect(twice?.message == "the server has a tenant \"a\" already")
            var failing = fixture.configuration("b")
            failing.callbackErrors = .fail
            await #expect(throws: LuaError.self) {
                try await fixture.server.add("b", automations: "\(fixture.folder)/a.lua", configuration: failing)
            }
            for name in ["", "b"] {
                await #expect(throws: LuaError.self) { try await fixture.server.remove(name) }
                await #expect(throws: LuaError.self) { try await fixture.server.reload(name) }
                #expect(await fixture.server.tenant(name) == nil)
            }
            await fixture.server.close()
            let closed = await #expect(throws: LuaError.self) { try await fixture.add(script, as: "c") }
            #expect(closed?.message == "the server of automations is closed")
            await fixture.server.close()
            await fixture.server.run()
        }
    }

    @Test func `an automation server runs until its task is cancelled`() async throws {
        try await Fixture.run { fixture in
            try await fixture.add("perilune.automation{ name = 'tick', on = { every = '1h' }, run = print }")
            let task = Task { await fixture.server.run() }
            #expect(await fixture.isParked())
            task.cancel()
            await task.value
            #expect(await fixture.server.tenants.isEmpty)
        }
    }

    // MARK: - Many tenants

    @Test func `many tenants are parked, and woken by time and by writes, a few at a time`() async throws {
        try await DependencyContainer.inProcess(.live) {
            try await Fixture.run(maximumWaking: 3) { fixture in
                let names = (1...50).map { "t\($0)" }
                let script =
                    Self.note + """
                        perilune.automation{ name = 'tick', on = { every = '1h' }, run = function() note('tick') end }
                        perilune.automation{ name = 'item', durable = true, on = { change = 'item' }, run = function() note('item') end }
                        """
                for name in names { try await fixture.add(script, as: name) }
                for name in names { #expect(await fixture.isParked(name)) }
                fixture.clock.advance(by: 3600)
                for name in names { #expect(try await fixture.has(["tick"], in: name)) }
                for name in names { try fixture.execute("INSERT INTO item(name) VALUES ('x')", in: name) }
                for name in names { #expect(try await fixture.has(["tick", "item"], in: name, advancing: true)) }
                for name in names { #expect(await fixture.isParked(name)) }
                #expect(await fixture.server.tenants.map(\.name) == names.sorted())
            }
        }
    }
}
