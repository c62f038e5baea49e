import Foundation
import Perilune

/// The costs of isolating scripts in a separate process: starting it, calling into the host, and working on the database, which
/// should cost nothing extra.
struct IsolationMeasures: TimedMeasures {
    let rounds: Int
    let folder: URL

    func run() async throws {
        print("Scripts in a process of their own:")
        let start = try await median(of: 20) { _ = try await host(.process(), "start") } * 1e3
        report("a host, from nothing", start, "ms", target: 10)
        let isolated = try await host(.process(), "isolated")
        let own = try await host(.none, "own")
        try await measureMemory(of: isolated)
        try await measureCalls(isolated)
        try await measureWork(isolated, own)
    }

    private func host(_ isolation: ScriptIsolation, _ name: String) async throws -> ScriptHost {
        var configuration = ScriptHost.Configuration(
            database: .queue(folder.appending(path: "\(name).sqlite").path, inEveryContext: true))
        configuration.isolation = isolation
        return try await ScriptHost(configuration)
    }

    private func measureMemory(of host: ScriptHost) async throws {
        guard let id = host.workerProcessID, let status = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kilobytes = Double(line.split(whereSeparator: { !$0.isNumber }).first ?? "")
        else { return }
        report("  memory of its process", kilobytes / 1024, "MB", digits: 1)
    }

    private func measureCalls(_ host: ScriptHost) async throws {
        try await host.register(module: "m") { m in
            m.function("add") { (a: Int, b: Int) -> Int in a &+ b }
            m.function("later") { (a: Int, b: Int) async -> Int in a &+ b }
        }
        let count = 10_000
        for (title, name) in [("a call of Swift, two integers", "add"), ("  asynchronous", "later")] {
            let source = "local m, n = require 'm', ... for i = 1, n do local x = m.\(name)(i, 1) end"
            let time = try await least { try await host.run(source: source, arguments: count) } / Double(count) * 1e6
            report(title, time, "µs", target: 25)
        }
        report(
            "a run of an empty script", try await median(of: 2_000) { try await host.run(source: "") } * 1e6, "µs", target: 60,
            digits: 1)
    }

    private func measureWork(_ isolated: ScriptHost, _ own: ScriptHost) async throws {
        let source = """
            db:execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, name TEXT)")
            db:write(function(db)
              db:execute("DELETE FROM t")
              for i = 1, 50000 do db:execute("INSERT INTO t (name) VALUES (?)", "name " .. i) end
            end)
            for _ = 1, 5 do for row in db:rows("SELECT * FROM t") do local x = row.name end end
            """
        let here = try await least { try await own.run(source: source) }
        let there = try await least { try await isolated.run(source: source) }
        report("work on the database, compared with one process", there / here, "", target: 1.02)
    }
}
