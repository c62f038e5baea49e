import Foundation
import GRDB
import Perilune

/// The cost of many tenants in one process, each with a separate database and pool of hosts.
struct TenantMeasures {
    let folder: URL
    private let count = 100

    func run() async throws {
        try await measure("in process") { _ in }
        try await measure("in process, hosts evicted", idleLimit: .zero) { _ in }
        try await measure("isolated") { $0.isolation = .process() }
        try await measureAutomations("automations awake", idleLimit: nil) { _ in }
        try await measureAutomations("automations parked", idleLimit: .milliseconds(100)) { _ in }
        try await measureAutomations("isolated automations parked", idleLimit: .milliseconds(100)) { $0.isolation = .process() }
    }

    /// Measures tenants with two automations each: one that is scheduled for tomorrow, and one that observes changes.
    private func measureAutomations(
        _ name: String, idleLimit: Duration?, _ configure: (inout ScriptHost.Configuration) -> Void
    ) async throws {
        let file = folder.appendingPathComponent("\(name).lua").path
        try """
        perilune.automation{ name = "daily", on = { schedule = "0 9 * * *" }, run = function() end }
        perilune.automation{ name = "item", durable = true, on = { change = "item" }, run = function() end }
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let schema = Migrations.inTransaction { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY)")
        }
        let server = try await AutomationServer(idleLimit: idleLimit)
        let before = Self.resources()
        let start = ContinuousClock.now
        for number in 1...count {
            let path = folder.appendingPathComponent("\(name) \(number).sqlite").path
            var configuration = ScriptHost.Configuration(database: .pool(path, migrations: schema))
            configure(&configuration)
            try await server.add("\(number)", automations: file, configuration: configuration)
        }
        let opening = (ContinuousClock.now - start) / .milliseconds(count)
        while idleLimit != nil, await !server.tenants.allSatisfy({ $0.state == .parked }) {
            guard ContinuousClock.now - start < .seconds(120) else {
                print(
                    "    \(name): not all are parked: \(await server.tenants.compactMap(\.reason).first ?? "no reason is known")")
                break
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        let after = Self.resources()
        let processorTime = clock()
        let span = 5.0
        try await Task.sleep(for: .seconds(span))
        let load = Double(clock() - processorTime) / Double(CLOCKS_PER_SEC) / span * 100
        report(name, opening, before, after, String(format: "; %.2f %% of a core", load))
        await server.close()
    }

    private func report(
        _ name: String, _ opening: Double, _ before: (memory: Int, descriptors: Int, threads: Int),
        _ after: (memory: Int, descriptors: Int, threads: Int), _ end: String = ""
    ) {
        print(
            "    \(name): "
                + String(
                    format: "%.1f ms to open a tenant; %.2f MB, %.1f descriptors and %.1f threads each", opening,
                    Double(after.memory - before.memory) / 1e6 / Double(count),
                    Double(after.descriptors - before.descriptors) / Double(count),
                    Double(after.threads - before.threads) / Double(count)) + end)
    }

    private func measure(
        _ name: String, idleLimit: Duration? = nil, _ configure: (inout ScriptHost.Configuration) -> Void
    ) async throws {
        let before = Self.resources()
        let start = ContinuousClock.now
        var pools: [ScriptPool] = []
        for number in 1...count {
            let path = folder.appendingPathComponent("\(name.split(separator: ",").joined()) \(number).sqlite").path
            var configuration = ScriptHost.Configuration(database: .existing(try DatabasePool(path: path)))
            configure(&configuration)
            let pool = try await ScriptPool(size: 1, idleLimit: idleLimit, configuration: configuration) { host in
                try await host.run(source: "function one() return 1 end")
            }
            let _: Int = try await pool.call("one")
            pools.append(pool)
        }
        let opening = (ContinuousClock.now - start) / .milliseconds(count)
        while idleLimit != nil, await pools.last?.statistics.idle != 0 { try await Task.sleep(for: .milliseconds(1)) }
        let after = Self.resources()
        report(name, opening, before, after)
        for pool in pools { await pool.close() }
    }

    /// Returns the memory in bytes, the open file descriptors and the threads of this process.
    private static func resources() -> (memory: Int, descriptors: Int, threads: Int) {
        func entries(_ path: String) -> Int { (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? 0 }
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").dropFirst().first
            .flatMap { Int($0) }
        return ((pages ?? 0) * 4096, entries("/proc/self/fd"), entries("/proc/self/task"))
    }
}
