// swift-format-ignore-file
// The documentation shows this example word for word, in shorter lines.
import Foundation
import GRDB
import Perilune
import PeriluneDependencies
import PeriluneTestSupport
import PeriluneTestTools
import Synchronization
import Testing

/// A service whose tenants have a database and scripts of their own.
enum TenantExample {
    // example
    struct Order: Codable, Sendable {
        var id: Int
        var amount: Double
    }

    /// The parts of a tenant that are in memory while it is in use.
    struct Tenant: Sendable {
        let database: any DatabaseWriter
        let pool: ScriptPool
    }

    actor TenantService {
        private let root: String
        private let meter: UsageMeter
        private var tenants: [String: Task<Tenant, any Error>] = [:]

        init(root: String, meter: UsageMeter) {
            (self.root, self.meter) = (root, meter)
        }

        /// Opens the tenant when it is first needed.
        private func tenant(_ name: String) async throws -> Tenant {
            if let task = tenants[name] { return try await task.value }
            let task = Task { try await open(name) }
            tenants[name] = task
            do {
                return try await task.value
            } catch {
                tenants[name] = nil
                throw error
            }
        }

        private func open(_ name: String) async throws -> Tenant {
            var configuration = ScriptHost.Configuration()
            configuration.limits = LuaLimits(
                memoryInBytes: 32 << 20, time: .seconds(30))
            configuration.diskQuota = 100 << 20
            configuration.output = .log
            configuration.runTag = name
            configuration.runObserver = { [meter] event in meter.add(event) }
            let script = try String(
                contentsOfFile: "\(root)/\(name).lua", encoding: .utf8)
            return try await DependencyContainer.with {
                $0.defaultDatabase = .pool(
                    "\(root)/\(name).sqlite", migrations: Self.schema,
                    usesFilesInTests: true)
            } operation: {
                let database = try await DependencyContainer.defaultDatabase
                let pool = try await ScriptPool(
                    size: 2, maximumWaiting: 100, waitLimit: .seconds(30),
                    idleLimit: .seconds(300), configuration: configuration
                ) { host in try await Self.prepare(host, script) }
                return Tenant(database: database, pool: pool)
            }
        }

        private static func prepare(
            _ host: ScriptHost, _ script: String
        ) async throws {
            try await host.register(module: "mail") { mail in
                mail.function("send", "Queues a letter.", effect: .external) {
                    (_: String) in
                }
            }
            try await host.run(source: script, named: "rules.lua")
        }

        private static let schema = Migrations.inTransaction { db in
            try db.execute(sql: """
                CREATE TABLE IF NOT EXISTS sale (
                    id INTEGER PRIMARY KEY, total REAL NOT NULL)
                """)
        }
    }
    // end
}

extension TenantExample.TenantService {
    typealias Order = TenantExample.Order

    // example
    func create(_ name: String, script: String) async throws {
        try Data(script.utf8).write(to: URL(filePath: "\(root)/\(name).lua"))
        _ = try await tenant(name)
    }

    func total(of order: Order, for name: String) async throws -> Double {
        let options = RunOptions(logMetadata: ["order": "\(order.id)"])
        let pool = try await tenant(name).pool
        return try await ScriptHost.withOptions(options) {
            try await pool.call("total", order)
        }
    }
    // end

    // example
    /// Takes a new version of a script, unless the check finds faults.
    func upload(_ script: String, for name: String) async throws -> [String] {
        let pool = try await tenant(name).pool
        let check = try await pool.withHost { host in
            try await host.check(
                source: script, named: "rules.lua", defining: ["total"])
        }
        guard check.isValid else { return check.findings.map(\.description) }
        try await pool.reload(endingCallsWithin: .seconds(5)) { host in
            try await Self.prepare(host, script)
        }
        try Data(script.utf8).write(to: URL(filePath: "\(root)/\(name).lua"))
        return []
    }
    // end

    // example
    /// Shows the changes that a call would make, on a copy of the database.
    func preview(
        _ order: Order, for name: String
    ) async throws -> PreviewReport {
        let script = try String(
            contentsOfFile: "\(root)/\(name).lua", encoding: .utf8)
        let database = try await tenant(name).database
        let preview = try await ScriptPreview(of: .existing(database))
        try await Self.prepare(preview.host, script)
        try await preview.host.call("total", order)
        return try await preview.finish().report
    }
    // end

    // example
    /// Closes the hosts of a tenant until the next call opens it again.
    func evict(_ name: String) async {
        guard let task = tenants.removeValue(forKey: name) else { return }
        try? await task.value.pool.close()
    }

    func delete(_ name: String) async throws {
        await evict(name)
        for ending in ["lua", "sqlite", "sqlite-wal", "sqlite-shm"] {
            let path = "\(root)/\(name).\(ending)"
            try? FileManager.default.removeItem(atPath: path)
        }
    }
    // end

    // example
    /// Refuses new calls, and waits for the active ones.
    func shutDown() async {
        let active = tenants.values
        tenants = [:]
        await withTaskGroup { group in
            for task in active {
                group.addTask {
                    try? await task.value.pool.close(within: .seconds(10))
                }
            }
        }
    }
    // end
}

extension TenantExample {
    // example
    /// Adds up what the runs of each tenant have used.
    final class UsageMeter: Sendable {
        private let used = Mutex<
            [String: (runs: Int, statements: Int, time: Duration)]
        >([:])

        func add(_ event: ScriptRunEvent) {
            guard let end = event.end, let tenant = event.tag else { return }
            used.withLock { used in
                let former = used[tenant] ?? (0, 0, .zero)
                used[tenant] = (
                    former.runs + 1,
                    former.statements + end.figures.statementCount,
                    former.time + end.duration
                )
            }
        }

        func runs(of tenant: String) -> Int {
            used.withLock { $0[tenant]?.runs ?? 0 }
        }
    }
    // end

    // example
    /// Starts the automations of each tenant.
    static func serveAutomations(
        of names: [String], in root: String
    ) async throws -> AutomationServer {
        let server = try await AutomationServer()
        for name in names {
            try await server.add(
                name, automations: "\(root)/\(name).automations.lua",
                configuration: .init(
                    database: .pool(
                        "\(root)/\(name).sqlite", usesFilesInTests: true)))
        }
        return server
    }
    // end

    // example
    /// Describes the tenants that cost memory at the moment.
    static func awake(_ server: AutomationServer) async -> [String] {
        await server.tenants.filter { $0.state != .parked }.map { tenant in
            "\(tenant.name): \(tenant.state), \(tenant.reason ?? "not checked")"
        }
    }
    // end

    // example
    /// The status and the text of the answer to a call that failed.
    static func answer(to error: any Error) -> (status: Int, text: String) {
        switch error {
        case is ScriptPoolError, is CancellationError: (503, "busy, try later")
        case let error as LuaError where error.code == .crashed:
            (500, "the script ended unexpectedly")
        case let error as LuaError: (422, error.report.text)
        default: (500, "internal error")
        }
    }
    // end

    @Suite(.defaultDatabase(), .patience) struct Tests {
        private static let script = """
            local mail = require "mail"
            local rate = RATE
            function total(order)
              if order.amount < 0 then mail.send("refused") error("an amount must not be negative", 0) end
              db:execute("INSERT OR REPLACE INTO sale VALUES (?, ?)", order.id, order.amount * rate)
              return order.amount * rate
            end
            """

        private static func script(rate: Int) -> String { script.replacing("RATE", with: "\(rate)") }

        @Test func `a tenant is created, used, reloaded, previewed, evicted and deleted`() async throws {
            try await withTemporaryFolder { root in
                let meter = UsageMeter()
                let service = TenantService(root: root, meter: meter)
                try await service.create("a", script: Self.script(rate: 1))
                try await service.create("b", script: Self.script(rate: 10))
                #expect(try await service.total(of: Order(id: 1, amount: 2), for: "a") == 2)
                #expect(try await service.total(of: Order(id: 1, amount: 2), for: "b") == 20)

                let faults = try await service.upload("function totl() require('mial') end", for: "a")
                #expect(faults == [
                    "line 1: module `mial` not found; did you mean `mail`?",
                    "the script does not define the function `total`; did you mean `totl`?",
                ])
                #expect(try await service.upload(Self.script(rate: 3), for: "a") == [])
                #expect(try await service.total(of: Order(id: 2, amount: 2), for: "a") == 6)
                await #expect(throws: LuaError.self) { _ = try await service.upload(Self.script(rate: 4) + " error('x')", for: "a") }
                #expect(try await service.total(of: Order(id: 2, amount: 2), for: "a") == 6)

                let report = try await service.preview(Order(id: 9, amount: 1), for: "b")
                #expect(report.tables.map(\.name) == ["sale"])
                #expect(meter.runs(of: "a") >= 5)

                do {
                    _ = try await service.total(of: Order(id: 3, amount: -1), for: "a")
                    Issue.record("the call succeeded")
                } catch {
                    let answer = TenantExample.answer(to: error)
                    #expect(answer.status == 422 && answer.text.contains("an amount must not be negative"))
                }
                await service.evict("a")
                #expect(try await service.total(of: Order(id: 4, amount: 2), for: "a") == 6)
                await service.shutDown()
                try await service.delete("a")
                #expect(try FileManager.default.contentsOfDirectory(atPath: root) == ["b.lua"])
            }
        }

        @Test func `a server runs the automations of a tenant`() async throws {
            try await withTemporaryFolder { folder in
                try Data("perilune.automation{ name = 'x', on = { every = '1h' }, run = print }".utf8)
                    .write(to: URL(filePath: "\(folder)/acme.lua"))
                let task = Task {
                    // example
                    let server = try await AutomationServer()
                    try await server.add(
                        "acme", automations: "\(folder)/acme.lua",
                        configuration: ScriptHost.Configuration(database: .pool("\(folder)/acme.sqlite")))
                    await server.run()
                    // end
                    return await server.tenants.count
                }
                task.cancel()
                if case .success(let count) = await task.result { #expect(count == 0) }
            }
        }

        @Test func `the automations of idle tenants are parked`() async throws {
            try await withTemporaryFolder { root in
                for name in ["a", "b"] {
                    let timer = name == "b" ? "perilune.every('1h', print)" : ""
                    try Data("perilune.automation{ name = 'x', on = { every = '1h' }, run = print } \(timer)".utf8)
                        .write(to: URL(filePath: "\(root)/\(name).automations.lua"))
                }
                let server = try await TenantExample.serveAutomations(of: ["a", "b"], in: root)
                #expect(await eventually { await TenantExample.awake(server) == ["b: awake, a script has started a timer"] })
                await server.close()
            }
        }

        @Test func `under load, with reloads and evictions, no call gets a wrong answer`() async throws {
            try await withTemporaryFolder { root in
                let service = TenantService(root: root, meter: UsageMeter())
                let names = (1...8).map { "tenant\($0)" }
                for name in names { try await service.create(name, script: Self.script(rate: 1)) }
                try await withThrowingTaskGroup { group in
                    for name in names {
                        for caller in 0..<3 {
                            group.addTask {
                                for index in 0..<15 {
                                    do {
                                        let total = try await service.total(of: Order(id: caller * 100 + index, amount: 1), for: name)
                                        #expect(total == 1 || total == 2)
                                    } catch let error as ScriptPoolError {
                                        #expect(error.code == .closed || error.code == .waitedTooLong)
                                    }
                                }
                            }
                        }
                        group.addTask {
                            for round in 0..<4 {
                                do {
                                    let faults = try await service.upload(Self.script(rate: 1 + round % 2), for: name)
                                    #expect(faults == [])
                                } catch let error as ScriptPoolError {
                                    #expect(error.code == .closed || error.code == .waitedTooLong)
                                }
                                if round == 2 { await service.evict(name) }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                await service.shutDown()
            }
        }
    }
}
