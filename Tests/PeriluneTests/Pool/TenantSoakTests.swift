import Foundation
import GRDB
import Perilune
import PeriluneTestTools
import Synchronization
import Testing

/// A tenant: a database, a pool of hosts that is repeatedly closed and created, and the orders that were acknowledged.
private actor SoakTenant {
    private let path: String
    private let place: ScriptPlace
    private var pool: ScriptPool?
    private var version = 1
    private(set) var acknowledged: [Int] = []

    init(path: String, place: ScriptPlace) throws {
        (self.path, self.place) = (path, place)
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE sale (id INTEGER PRIMARY KEY, version INTEGER)")
        }
        try queue.close()
    }

    private static func script(_ version: Int) -> String {
        """
        function one() return 1 end
        function sell(id)
          db:execute("INSERT INTO sale VALUES (?, ?)", id, \(version))
          return \(version)
        end
        """
    }

    private func open() async throws -> ScriptPool {
        if let pool { return pool }
        let configuration = place.configuration(.init(database: .queue(path, inEveryContext: true)))
        let script = Self.script(version)
        let made = try await ScriptPool(size: 1, idleLimit: .milliseconds(200), configuration: configuration) { host in
            try await host.run(source: script)
        }
        // Another call may have opened the tenant in the meantime.
        if let pool {
            await made.close()
            return pool
        }
        pool = made
        return made
    }

    /// Returns the duration of an empty call; `nil` if the pool was closed or the process of its host was killed.
    func measureTrivialCall() async throws -> Duration? {
        let pool = try await open()
        // The first call may create a host.
        guard await answer({ try await pool.call("one") }) != nil else { return nil }
        let start = ContinuousClock.now
        return await answer({ try await pool.call("one") }).map { _ in .now - start }
    }

    func sell(_ id: Int) async throws {
        let pool = try await open()
        if await answer({ try await pool.call("sell", id) }) != nil { acknowledged.append(id) }
    }

    /// Returns the result of a call; `nil` for the errors that evictions, reloads and kills cause.
    private func answer(_ call: () async throws -> Int) async -> Int? {
        do {
            return try await call()
        } catch let error as ScriptPoolError {
            #expect(error.code == .closed || error.code == .waitedTooLong, "\(error)")
        } catch let error as LuaError {
            #expect(error.code == .crashed || error.code == .cancelled || error.message.contains("closed"), "\(error)")
        } catch {
            Issue.record(error)
        }
        return nil
    }

    func reload() async throws {
        version += 1
        let script = Self.script(version)
        do {
            try await open().reload(endingCallsWithin: .seconds(5)) { host in try await host.run(source: script) }
        } catch let error as ScriptPoolError {
            #expect(error.code == .closed, "\(error)")
        } catch let error as LuaError {
            #expect(error.code == .crashed, "\(error)")
        }
    }

    func evict() async {
        let former = pool
        pool = nil
        await former?.close()
    }

    func killWorker() async throws {
        guard place == .isolated, let pool else { return }
        let process = try? await pool.withHost { host in host.workerProcessID }
        if let process = process ?? nil { kill(process, SIGKILL) }
    }

    /// Returns the acknowledged orders that are not stored.
    func lostOrders() throws -> [Int] {
        let stored = try DatabaseQueue(path: path).read { try Set(Int.fetchAll($0, sql: "SELECT id FROM sale")) }
        return acknowledged.filter { !stored.contains($0) }
    }
}

/// Numbers for concurrent tasks.
private final class Counter: Sendable {
    private let value: Mutex<Int>

    init(_ value: Int) { self.value = Mutex(value) }

    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}

/// Many tenants under load, with reloads, evictions and kills of their processes. `PERILUNE_SOAK` sets a longer duration in seconds, with
/// 200 tenants.
@Suite(.patience) struct TenantSoakTests {
    private static let seconds = ProcessInfo.processInfo.environment["PERILUNE_SOAK"].flatMap(Double.init)

    /// The memory, threads and file descriptors of the process after the hosts have ended.
    private struct Resources: CustomStringConvertible {
        let memoryInMegabytes: Int, threadCount: Int, descriptorCount: Int

        static func current() -> Resources {
            func count(_ path: String) -> Int { (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? 0 }
            let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").dropFirst()
                .first
                .flatMap { Int($0) }
            return Resources(
                memoryInMegabytes: (pages ?? 0) * 4096 / 1_048_576, threadCount: count("/proc/self/task"),
                descriptorCount: count("/proc/self/fd"))
        }

        var description: String { "\(memoryInMegabytes) MB, \(threadCount) threads, \(descriptorCount) descriptors" }
    }

    @Test func `tenants lose nothing under load with reloads, evictions and kills`() async throws {
        try await withTemporaryFolder { folder in
            let count = Self.seconds == nil ? 8 : 200
            let tenants = try (0..<count).map { number in
                try SoakTenant(path: "\(folder)/\(number).sqlite", place: number % 4 == 0 ? .isolated : .here)
            }
            var resources: [Resources] = [], calls: [Duration] = []
            // All tenants are evicted at the end of each round, so that the resource usage of rounds can be compared.
            let rounds = Self.seconds == nil ? 2 : 5
            for round in 0..<rounds {
                calls += try await load(tenants, for: (Self.seconds ?? 1) / Double(rounds), seed: round)
                for tenant in tenants { await tenant.evict() }
                resources.append(.current())
            }
            for tenant in tenants { #expect(try await tenant.lostOrders() == []) }
            var sales = 0
            for tenant in tenants { sales += await tenant.acknowledged.count }
            calls.sort()
            let p99 = calls.isEmpty ? .zero : calls[calls.count * 99 / 100]
            print("tenants: \(sales) orders, \(calls.count) trivial calls in process, p99 \(p99)")
            for use in resources { print("tenants: \(use)") }
            // Memory usage does not settle in a short run, and other tests use the same process.
            if Self.seconds != nil, let first = resources.dropFirst().first, let last = resources.last {
                // The hosts of the last round may still be closing their files and ending their threads.
                #expect(
                    await eventually {
                        let now = Resources.current()
                        return now.descriptorCount <= first.descriptorCount + 4 && now.threadCount <= first.threadCount + 4
                    }, "\(Resources.current())")
                #expect(last.memoryInMegabytes <= first.memoryInMegabytes * 5 / 4)
            }
        }
    }

    /// Calls, reloads, evicts and kills at random. Returns the durations of trivial calls in this process.
    private func load(_ tenants: [SoakTenant], for seconds: Double, seed: Int) async throws -> [Duration] {
        let deadline = ContinuousClock.now + .seconds(seconds), orders = Counter(seed * 100_000_000)
        return try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    var durations: [Duration] = []
                    repeat {
                        let number = Int.random(in: 0..<tenants.count), tenant = tenants[number]
                        switch Int.random(in: 0..<100) {
                        case 0: await tenant.evict()
                        case 1...2: try await tenant.reload()
                        case 3...4: try await tenant.killWorker()
                        case 5...52: try await tenant.sell(orders.next())
                        default:
                            let duration = try await tenant.measureTrivialCall()
                            if number % 4 > 0, let duration { durations.append(duration) }
                        }
                    } while ContinuousClock.now < deadline
                    return durations
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}
