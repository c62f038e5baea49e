import Foundation
import GRDB
import Perilune
import PeriluneIsolation
import PeriluneLua
import PeriluneTestTools
import Testing

/// Processes that die while they run scripts.
@Suite struct CrashTests {
    @Test func `a crash of the isolated process during a run is an error with the signal and the location`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/crash.sqlite"
            let host = try await makeIsolatedHost { $0.database = .queue(path, inEveryContext: true) }
            let began = Tally()
            try await host.register(module: "test") { test in test.function("began") { () -> Void in began.add() } }
            try await host.run(source: "db:execute('CREATE TABLE t (x)')")
            let task = Task {
                try await host.run(
                    source:
                        "db:write(function(db)\n db:execute('INSERT INTO t VALUES (1)')\n require('test').began()\n while true do os.time() end\nend)",
                    named: "@crash.lua")
            }
            await began.wait()
            // Waits until the script is in its loop.
            #expect(kill(try #require(host.workerProcessID), SIGSEGV) == 0)
            let error = try #require(await #expect(throws: LuaError.self) { try await task.value })
            #expect(error.code == .crashed)
            #expect(error.kind == "crashed")
            #expect(error.fields["signal"] == .integer(Int64(SIGSEGV)))
            #expect(error.message.contains("SIGSEGV"))
            #expect(error.fields["host_call"] == "test.began")
            // The host reports the crash from then on; SQLite has rolled back; another host works.
            #expect(await (#expect(throws: LuaError.self) { try await host.run(source: "return 1") })?.code == .crashed)
            let other = try await makeIsolatedHost { $0.database = .queue(path, inEveryContext: true) }
            #expect(try await other.run(source: "return db:fetch_value('SELECT COUNT(*) FROM t')") == 0)
            #expect(try await other.run(source: "return db:fetch_value('PRAGMA integrity_check')") == "ok")
        }
    }

    @Test func `signals that end a program do not end its worker processes`() async throws {
        let host = try await makeIsolatedHost { _ in }
        let began = Tally(), rendezvous = Rendezvous()
        try await host.register(module: "test") { test in
            test.function("wait") { () async -> Void in
                began.add()
                await rendezvous.meet()
            }
        }
        let run = Task { try await host.run(source: "require('test').wait() return 1") as Int }
        await began.wait()
        // A service manager, or Ctrl-C in a terminal, sends these signals to all processes of a program.
        for signal in [SIGTERM, SIGINT, SIGHUP] { #expect(kill(try #require(host.workerProcessID), signal) == 0) }
        await rendezvous.meet()
        #expect(try await run.value == 1)
        await host.close()
    }

    @Test func `an isolated process that exceeds its limit is killed, and the error names the limit`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/stopped.sqlite"
            let host = try await makeIsolatedHost {
                $0.database = .queue(path, inEveryContext: true)
                $0.limits = LuaLimits(time: .seconds(2))
                $0.isolation = .process(grace: .milliseconds(50))
            }
            let began = Tally()
            try await host.register(module: "test") { test in test.function("began") { () -> Void in began.add() } }
            let task = Task { try await host.run(source: "require('test').began()\nwhile true do end") }
            await began.wait()
            kill(try #require(host.workerProcessID), SIGSTOP)
            let error = try #require(await #expect(throws: LuaError.self) { try await task.value })
            #expect(error.code == .timeout)
            #expect(error.message.contains("longer than its limit"))
        }
    }

    @Test func `a released isolated host leaves no process behind`() async throws {
        func run() async throws -> Int32 {
            let host = try await makeIsolatedHost()
            #expect(try await host.run(source: "return 1") == 1)
            return try #require(host.workerProcessID)
        }
        let id = try await run()
        #expect(await eventually { kill(id, 0) != 0 })
    }

    @Test func `an isolated process activates the available sandbox layers, and is refused without a required one`() async throws
    {
        let host = try await makeIsolatedHost()
        let layers = host.isolationLayers
        #expect(layers.isSuperset(of: [.limits, .privileges]))
        #expect(layers.isSubset(of: IsolationLayer.allCases.filter(\.isAvailable)))
        _ = try await makeIsolatedHost { $0.isolation = .process(require: layers) }
        for missing in Set(IsolationLayer.allCases).subtracting(layers) {
            let error = await #expect(throws: LuaError.self) {
                _ = try await makeIsolatedHost { $0.isolation = .process(require: [missing]) }
            }
            #expect(error?.message.contains(missing.description) == true)
        }
        #expect(try await ScriptHost(database: .inMemory()).isolationLayers.isEmpty)
    }

    @Test func `a pool replaces a crashed host`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/pool.sqlite"
            var configuration = ScriptHost.Configuration(database: .queue(path, inEveryContext: true))
            configuration.isolation = .process()
            let pool = try await ScriptPool(size: 1, configuration: configuration) { host in
                try await host.run(source: "function f(n) return n end")
            }
            #expect(try await pool.call("f", 1) == 1)
            let id = try await #require(pool.withHost { $0.workerProcessID })
            let error = await #expect(throws: LuaError.self) {
                try await pool.withHost { host in
                    kill(id, SIGKILL)
                    let _: Int = try await host.call("f", 2)
                }
            }
            #expect(error?.code == .crashed)
            #expect(try await pool.call("f", 3) == 3)
            #expect(try await pool.withHost { $0.workerProcessID } != id)
            // A host that crashes while it is idle is replaced before its next call.
            let former = try await pool.withHost { host in
                kill(try #require(host.workerProcessID), SIGKILL)
                #expect(await eventually { host.hasCrashed })
                return host
            }
            #expect(try await pool.call("f", 4) == 4)
            #expect(try await pool.withHost { $0 !== former })
        }
    }

    @Test func `the spare host of a pool replaces a host immediately, and a new spare is created`() async throws {
        try await withTemporaryFolder { folder in
            let made = Tally()
            var configuration = ScriptHost.Configuration(database: .queue(folder + "/pool.sqlite", inEveryContext: true))
            configuration.isolation = .process()
            let pool = try await ScriptPool(size: 1, spares: 2, configuration: configuration) { host in
                made.add()
                try await host.run(source: "function f(n) return n end")
            }
            #expect(await eventually { await pool.statistics.spares == 2 })
            #expect(made.count == 3)
            let (former, id) = try await pool.withHost { host in (host, try #require(host.workerProcessID)) }
            kill(id, SIGKILL)
            #expect(await eventually { former.hasCrashed })
            #expect(try await pool.call("f", 3) == 3)
            #expect(await eventually { await pool.statistics.spares == 2 })
            #expect(made.count == 4)
        }
    }
}
