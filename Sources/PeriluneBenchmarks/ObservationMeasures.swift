import Foundation
import GRDB
import Perilune

/// The cost that observers add to writes. Measured in this process, without other programs.
struct ObservationMeasures {
    let rounds: Int
    let folder: URL
    private let commits = 10_000

    /// The minimum over all rounds, in seconds, by the name of the measure.
    private typealias Times = [String: Double]

    func run() async throws {
        print("Observation, \(commits) commits of one row each in a file, the least of \(rounds) rounds:")
        var times: Times = [:]
        var fetches = 0
        for round in 0..<rounds {
            // Waits if a reader and a commit coincide: the reader briefly locks the write-ahead log.
            var configuration = Configuration()
            configuration.busyMode = .timeout(5)
            let pool = try DatabasePool(
                path: folder.appendingPathComponent("observed-\(round).sqlite").path, configuration: configuration)
            try await pool.write { db in try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, amount INTEGER)") }
            fetches = try await measure(pool, &times)
        }
        report(times, fetches)
        try await measureIdling()
    }

    private func measure(_ pool: DatabasePool, _ times: inout Times) async throws -> Int {
        let writer = try await makeHost(over: pool), observer = try await makeHost(over: pool)
        try await take("plain", &times) { try await writer.run(source: Self.writing, arguments: commits) }
        try await writer.run(
            source: "o = db:observe_transactions{ did_commit = function() end } o:cancel() db:execute('DELETE FROM item')")
        try await take("removed", &times) { try await writer.run(source: Self.writing, arguments: commits) }
        try await writer.run(source: "db:execute('DELETE FROM item')")
        try await writer.run(source: Self.observing)
        try await writer.run(source: "perilune.sleep(0.01) fetches = 0")
        try await take("own", &times) { try await writer.run(source: Self.writing, arguments: commits) }
        let own: Int = try await writer.run(source: "perilune.sleep(0.05) observation:cancel() return fetches")
        try await writer.run(source: "db:execute('DELETE FROM item')")
        try await observer.run(source: Self.observing)
        try await take("other", &times) { try await writer.run(source: Self.writing, arguments: commits) }
        let other: Int = try await observer.run(source: "perilune.sleep(0.05) observation:cancel() return fetches")
        try await take("fetch", &times) {
            try await observer.run(
                source: "for i = 1, 1000 do db:read(function(db) return db:fetch_value('SELECT MAX(id) FROM item') end) end")
        }
        try await writer.run(source: "db:execute('DELETE FROM item')")
        try await writer.run(source: "o = db:observe_transactions{ on_change = function(event) last = event end }")
        try await take("changes", &times) { try await writer.run(source: Self.writing, arguments: commits) }
        await writer.endCallbacks()
        await observer.endCallbacks()
        _ = own
        return other
    }

    private func makeHost(over pool: DatabasePool) async throws -> ScriptHost {
        try await ScriptHost(database: .existing(pool))
    }

    private static let writing = """
        local count = ...
        for i = 1, count do db:execute("INSERT INTO item (amount) VALUES (?)", i) end
        """

    private static let observing = """
        fetches = 0
        observation = db:observe(function(db)
          fetches = fetches + 1
          return db:fetch_value("SELECT MAX(id) FROM item")
        end, function(id) last = id end)
        """

    private func take(_ name: String, _ times: inout Times, _ body: () async throws -> Void) async throws {
        let start = ContinuousClock.now
        try await body()
        times[name] = min(times[name] ?? .infinity, (ContinuousClock.now - start) / .seconds(1))
    }

    // MARK: - Idling

    private static let automating = """
        db:execute("CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, amount INTEGER)")
        local triggers = { { change = "item" }, { schedule = "0 0 1 1 *" }, { event = "never" } }
        for i = 1, 100 do
          perilune.automation{ name = "automation " .. i, on = triggers[i % 3 + 1], run = function() end }
        end
        """

    /// Measures the processor time of an idle host whose scripts wait for events that do not occur.
    private func measureIdling() async throws {
        let pool = try DatabasePool(path: folder.appendingPathComponent("idle.sqlite").path)
        let host = try await makeHost(over: pool)
        // Measures an idle process first: in any program, Dispatch checks its threads every second.
        let nothing = try await processorTime(inMinuteOf: .seconds(10))
        line("a process that waits, processor time of a minute", nothing, "ms")
        try await host.run(source: Self.automating)
        line(
            "  100 automations that wait, beyond that", try await processorTime(inMinuteOf: .seconds(10)) - nothing, "ms",
            target: 10)
        try await host.run(
            source:
                "db:observe(function(db) return db:fetch_value('SELECT MAX(id) FROM item') end, function() end, { poll = '1s' })")
        line("  and looking for other processes each second", try await processorTime(inMinuteOf: .seconds(10)) - nothing, "ms")
        await host.endCallbacks()
    }

    /// Returns the processor time of this process per minute in milliseconds, extrapolated from a shorter measurement.
    private func processorTime(inMinuteOf part: Duration) async throws -> Double {
        try await Task.sleep(for: .milliseconds(200))
        let start = Self.processorTime()
        try await Task.sleep(for: part)
        return (Self.processorTime() - start) * 1e3 * (.seconds(60) / part)
    }

    /// Returns the processor time that this process has used, in seconds.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    // MARK: - Reporting

    private func report(_ times: Times, _ fetches: Int) {
        func time(_ name: String) -> Double { times[name] ?? .nan }
        let plain = time("plain"), fetch = time("fetch") / 1000
        line("without observers", plain * 1e3, "ms")
        line("  after the last was removed", time("removed") / plain, "×", target: 1.1)
        line("one observation in the same host", time("own") / plain, "×", target: 1.5)
        line(
            "  in another host, without its \(fetches) fetches", (time("other") - Double(fetches) * fetch) / plain, "×",
            target: 1.5)
        line("  a fetch of it", fetch * 1e6, "µs")
        line("on_change of each row, with its values", time("changes") / plain, "×")
    }

    private func line(_ title: String, _ value: Double, _ unit: String, target: Double? = nil) {
        let mark = target.map { String(format: " %@ (≤ %g)", value > $0 ? "✗" : "✓", $0) } ?? ""
        print("    \(title.padded(to: 52))" + String(format: "%.2f %@", value, unit) + mark)
    }
}
