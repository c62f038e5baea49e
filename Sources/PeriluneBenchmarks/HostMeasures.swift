import CPeriluneBenchmarks
import Foundation
import GRDB
import Perilune
import PeriluneDependencies

/// The costs of embedding script hosts: calls, creation, test databases and pools. Measured in this process, without other
/// programs.
struct HostMeasures: TimedMeasures {
    let rounds: Int
    let folder: URL

    func run() async throws {
        // Applies the SQLite settings of a program that owns its process.
        SQLiteTuning.disableMemoryStatistics()
        SQLiteTuning.useAdaptiveMutexes()
        print("Hosts in a Swift program:")
        try await measureCalls()
        try await measureMaking()
        try await measureClones()
        try await measurePools()
        try await measureScripts()
    }

    // MARK: - Calls

    private func measureCalls() async throws {
        let count = 1_000_000
        let host = try await ScriptHost(database: .inMemory())
        try await host.register(module: "m") { m in
            m.function("add") { (a: Int, b: Int) -> Int in a &+ b }
            m.function("join") { (a: String, b: String) -> String in a + b }
            m.function("later") { (a: Int, b: Int) async -> Int in a &+ b }
        }
        func time(_ call: String, count: Int) async throws -> Double {
            let source = "local m, n = require 'm', ... for i = 1, n do local x = \(call) end"
            return try await least { try await host.run(source: source, arguments: count) } / Double(count) * 1e6
        }
        let loop = try await time("i", count: count)
        let add = try await time("m.add(i, 1)", count: count) - loop
        report("a call of Swift, two integers", add, "µs", target: 0.25, digits: 3)
        report("  two strings", try await time("m.join('a', 'b')", count: count) - loop, "µs", digits: 3)
        report("  asynchronous", try await time("m.later(i, 1)", count: 20_000) - loop, "µs", target: 12, digits: 3)
        try await host.run(source: "function nothing() end")
        let empty = try await median(of: 5_000) { try await host.run(source: "") }
        report("a run of an empty script", empty * 1e6, "µs", target: 20, digits: 1)
        report(
            "a call of an empty function", try await median(of: 5_000) { try await host.call("nothing") } * 1e6, "µs", digits: 1)
    }

    // MARK: - Hosts

    private func measureMaking() async throws {
        let queue = try DatabaseQueue()
        for (title, database, target) in [
            ("a host, with a database in memory", DatabaseSource.inMemory(), 1.0 as Double?),
            ("  over a database that is open", .existing(queue), nil),
        ] {
            let configuration = ScriptHost.Configuration(database: database)
            report(title, try await median(of: 100) { _ = try await ScriptHost(configuration) } * 1e3, "ms", target: target)
        }
        let configuration = ScriptHost.Configuration(database: .inMemory())
        let used = try await median(of: 50) {
            let host = try await ScriptHost(configuration)
            try await host.run(source: "db:execute('CREATE TABLE a (id INTEGER PRIMARY KEY)') perilune.record('a'):fetch_all()")
        }
        report("  that has also used records and requests", used * 1e3, "ms")
        try await measureSpares()
    }

    /// Measures the time until a pool serves a run by a host that it has made in advance.
    private func measureSpares() async throws {
        let database = DatabaseSource.existing(try DatabasePool(path: folder.appendingPathComponent("spares.sqlite").path))
        var times: [Double] = []
        for _ in 0..<20 {
            let pool = try await ScriptPool(size: 1, spares: 1, database: database)
            while await pool.statistics.spares == 0 { try await Task.sleep(for: .milliseconds(1)) }
            times.append(try await time { try await pool.withHost { try await $0.run(source: "") } })
            await pool.close()
        }
        report("  from a spare of a pool", times.sorted()[10] * 1e3, "ms", target: 1)
    }

    // MARK: - Test databases

    private func measureClones() async throws {
        var migrator = DatabaseMigrator()
        for number in 1...60 {
            migrator.registerMigration("\(number)") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE t\(number) (id INTEGER PRIMARY KEY, name TEXT NOT NULL, day TEXT DEFAULT CURRENT_DATE);
                        CREATE INDEX i\(number) ON t\(number) (name);
                        INSERT INTO t\(number) (name) VALUES ('a'), ('b'), ('c');
                        """)
            }
        }
        let migrations = Migrations.migrator(migrator)
        let first = try await time { try await Self.useTestDatabase(migrations) }
        report("the first database of 60 migrations", first * 1e3, "ms")
        let later = try await median(of: 200) { try await Self.useTestDatabase(migrations) }
        report("a copy of it for a test", later * 1e3, "ms", target: 1)
    }

    private static func useTestDatabase(_ migrations: Migrations) async throws {
        try await DependencyContainer.with(context: .test, { $0.defaultDatabase = .inMemory(migrations: migrations) }) {
            _ = try await DependencyContainer.defaultDatabase
        }
    }

    // MARK: - Pools

    /// Measures the throughput of two hosts that read the same rows at the same time, relative to one host.
    private func measurePools() async throws {
        let database = try DatabasePool(path: folder.appendingPathComponent("pool.sqlite").path)
        try await database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, price REAL);
                    WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 20000)
                    INSERT INTO product SELECT i, 'product ' || i, i / 7.0 FROM n
                    """)
        }
        for shape in PoolConfiguration.all { try await measurePools(over: database, shape) }
        measureReference(database)
    }

    private func measurePools(over database: DatabasePool, _ shape: PoolConfiguration) async throws {
        var pools: [ScriptPool] = []
        for size in [1, 2] {
            let pool = try await ScriptPool(size: size, database: .existing(database)) { host in
                try await host.run(source: shape.script)
            }
            // Creates the hosts and warms them up.
            _ = try await rate(of: pool)
            pools.append(pool)
        }
        var rates = [0.0, 0.0]
        for _ in 0..<rounds {
            for index in pools.indices { rates[index] = max(rates[index], try await rate(of: pools[index])) }
        }
        report("calls a second of one host, \(shape.name)", rates, target: 1.7)
    }

    /// Measures the throughput of SQLite without a host, with two threads relative to one.
    private func measureReference(_ database: DatabasePool) {
        let count = 200_000
        var rates = [0.0, 0.0]
        for _ in 0..<rounds {
            for threads in [1, 2] {
                let seconds = perilune_time_readers(database.path, PoolConfiguration.row, CInt(threads), CInt(count))
                rates[threads - 1] = max(rates[threads - 1], Double(threads * count) / seconds)
            }
        }
        report("rows a second of one thread in C, one by one", rates)
    }

    // MARK: - Short scripts

    /// Measures calls of a function that inserts and reads a row, made by eight concurrent tasks.
    private func measureScripts() async throws {
        let count = 10_000
        for size in [1, 2, 4, 8] {
            let database = try DatabasePool(path: folder.appendingPathComponent("scripts\(size).sqlite").path)
            try await database.write { db in try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)") }
            let pool = try await ScriptPool(size: size, database: .existing(database)) { host in
                try await host.run(
                    source: """
                        local Note = perilune.record("note")
                        function work(i) return Note:find(Note{ text = "note " .. i }:insert().id).text end
                        """)
            }
            _ = try await calls(of: pool, count: 1000)
            let before = Self.memory()
            let (seconds, waits) = try await calls(of: pool, count: count)
            let growth = Self.memory() - before
            let part = { waits[min(waits.count - 1, Int(Double(waits.count) * $0))] * 1e6 }
            let rate = Double(count) / seconds
            print(
                "    \("\(count) short scripts, \(size) host\(size == 1 ? "" : "s")".padded(to: 54))"
                    + String(
                        format: "%.0f a second, half within %.0f µs, 99 %% within %.0f µs; memory %+.1f MB", rate, part(0.5),
                        part(0.99),
                        Double(growth) / 1e6))
        }
    }

    /// Returns the elapsed time of all calls in seconds, and the sorted durations of the individual calls.
    private func calls(of pool: ScriptPool, count: Int) async throws -> (Double, [Double]) {
        var waits: [Double] = []
        let seconds = try await time {
            try await withThrowingTaskGroup(of: [Double].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var waits: [Double] = []
                        for call in 0..<count / 8 {
                            waits.append(try await time { let _: String = try await pool.call("work", call) })
                        }
                        return waits
                    }
                }
                for try await part in group { waits += part }
            }
        }
        return (seconds, waits.sorted())
    }

    /// Returns the resident memory of the process in bytes.
    private static func memory() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * Int(getpagesize())
    }

    private func report(_ title: String, _ rates: [Double], target: Double? = nil) {
        report(title, rates[0], "", digits: 0)
        report("  of two", rates[1], "", digits: 0)
        let ratio = rates[1] / rates[0]
        let mark = target.map { String(format: " %@ (≥ %g)", ratio < $0 ? "✗" : "✓", $0) } ?? ""
        print("    \("  two to one".padded(to: 54))" + String(format: "%.2f", ratio) + mark)
    }

    private func rate(of pool: ScriptPool) async throws -> Double {
        let calls = 1000
        let seconds = try await time {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        for call in 0..<calls / 4 {
                            let _: Double = try await pool.call("read", 1 + (worker * 4001 + call * 37) % 19_000)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        return Double(calls) / seconds
    }
}
