import Foundation
import GRDB
import Perilune
import PeriluneLua
import PeriluneTestTools
import Synchronization
import Testing

@Suite struct AutomationRunTests {
    @Test(arguments: ScriptPlace.allCases)
    func `a run that could not be recorded because of a lock is recorded when the lock is released`(_ place: ScriptPlace)
        async throws
    {
        try await withTemporaryFolder { folder in
            var configuration = GRDB.Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: "\(folder)/x.sqlite", configuration: configuration)
            let host = try await place.host(.init(database: .existing(DatabaseQueue(path: "\(folder)/x.sqlite"))))
            try await host.register(module: "lock") { lock in
                lock.function("take") { () throws in
                    try other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
                }
                lock.function("release") { () throws in try other.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
                }
            }
            let count: Int = try await host.run(
                source: """
                    local lock, ran = require("lock"), false
                    local automation = perilune.automation{ name = "a", on = { event = "go" }, run = function() ran = true end }
                    lock.take()
                    perilune.emit("go")
                    perilune.sleep("1500ms")
                    assert(ran)
                    local count = #automation:runs()
                    lock.release()
                    perilune.sleep("3s")
                    return count
                    """)
            #expect(count == 0)
            #expect(try await host.automationRuns(of: "a").map(\.outcome) == [.succeeded])
        }
    }

    @Test(arguments: ScriptPlace.allCases)
    func `an automation that cannot be triggered is reported with its name and location`(_ place: ScriptPlace) async throws {
        try await withTemporaryFolder { folder in
            try "\nperilune.automation{ name = 'a', on = { change = 'none' }, run = print }"
                .write(toFile: "\(folder)/a.lua", atomically: true, encoding: .utf8)
            let host = try await place.host()
            let error = await #expect(throws: LuaError.self) { try await host.loadAutomations(file: "\(folder)/a.lua") }
            #expect(error?.message.hasPrefix("automation \"a\": no table `none`") == true)
            #expect((error?.file, error?.line) == ("\(folder)/a.lua", 2))
        }
    }

    @Test func `an outcome recorded by a newer version is unknown`() {
        #expect(AutomationOutcome(recorded: "delegated") == .unknown)
        #expect(AutomationOutcome(recorded: "succeeded") == .succeeded)
    }

    @Test func `a run records long statements up to its size limit`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        let statements: String = try await host.run(
            source: """
                local automation = perilune.automation{ name = "a", on = { event = "go" }, run = function(context)
                  for i = 1, 10 do context.db:execute("SELECT '" .. ("x"):rep(400000) .. i .. "'") end
                  context.db:execute("SELECT 1")
                end }
                perilune.emit("go")
                perilune.sleep("1s")
                return automation:runs()[1].statements
                """)
        #expect(statements.utf8.count < 1 << 20)
        #expect(statements.hasSuffix("2'\",\"and 9 more\"]"))
    }

    @Test(arguments: ScriptPlace.allCases)
    func `only the latest of many runs are kept`(_ place: ScriptPlace) async throws {
        let host = try await place.host()
        try await host.run(
            source: """
                perilune.automation{ name = "ü \u{0301} 名前", on = { event = "go" }, keep = 3, run = function() end }
                for _ = 1, 50 do perilune.emit("go") perilune.sleep("1s") end
                """)
        #expect(try await host.automationRuns().count == 3)
        #expect(try await host.automationRuns(of: "ü \u{0301} 名前").count == 3)
        let error = await #expect(throws: LuaError.self) { try await host.automationRuns(of: "名") }
        #expect(error?.kind == "unknown_automation")
    }

    @Test func `cancelled observations and timers of automations leave nothing behind`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        let slowdown: Double = try await host.run(
            source: """
                db:execute("CREATE TABLE t (a)")
                local function fetch(db) return db:fetch_value("SELECT count(*) FROM t") end
                local function make(count)
                  for _ = 1, count do
                    db:observe(fetch):cancel()
                    db:observe(fetch, print):cancel()
                    perilune.after("1h", print):cancel()
                  end
                end
                -- The clock also counts the work of other tests.
                local function least_time()
                  local least = math.huge
                  for _ = 1, 5 do
                    local begin = os.clock()
                    make(200)
                    least = math.min(least, os.clock() - begin)
                  end
                  return least
                end
                make(1000)
                local first = least_time()
                make(8000)
                return least_time() / first
                """)
        // Runs are as fast as at the beginning: growing lists would have made them nine times slower.
        #expect(slowdown < 4)
    }

    @Test(arguments: ScriptPlace.allCases)
    func `Swift can read the runs of a file's automations`(_ place: ScriptPlace) async throws {
        try await withTemporaryFolder { folder in
            let file = "\(folder)/a.lua"
            try Data(
                """
                perilune.automation{ name = "count", description = "Counts", on = { event = "e" }, run = function(context)
                  print("counted", context.event and context.event.step)
                end }
                perilune.automation{ name = "fails", on = { schedule = "@daily" }, run = function() error("no", 0) end }
                """.utf8
            ).write(to: URL(filePath: file))
            let database = DatabaseSource.queue("\(folder)/x.sqlite", inEveryContext: true)
            let configuration = place.configuration(.init(database: database))
            let host = try await ScriptHost(configuration)
            #expect(try await host.loadAutomations(file: file) == 2)
            let automations = try await host.automations()
            #expect(automations.map(\.name) == ["count", "fails"])
            #expect(automations.map(\.trigger) == ["event e", "schedule @daily"])
            #expect(automations[0].description == "Counts" && automations[1].nextDue != nil)
            let run = try await host.runAutomation("count", event: ["step": 2])
            #expect(run.outcome == .succeeded && run.output == "counted\t2\n" && run.event == ["step": 2], "\(run)")
            let recorded = try await host.automationRuns(of: "count")
            #expect(run.id != nil && recorded.map(\.id) == [run.id])
            let error = await #expect(throws: LuaError.self) { try await host.runAutomation("fails") }
            #expect(error?.message == "no")
            let unknown = await #expect(throws: LuaError.self) { try await host.runAutomation("cound") }
            #expect(unknown?.kind == "unknown_automation" && unknown?.message.contains("count") == true)
            #expect(try await host.automationRuns().map(\.automation) == ["fails", "count"])
            #expect(try await host.automationStatus().map(\.problem) == [nil, "the last run failed: no"])
            // Another host cannot run them, wherever its scripts are.
            for other in ScriptPlace.allCases {
                let host = try await other.host(.init(database: database))
                let error = await #expect(throws: LuaError.self) { try await host.loadAutomations(file: file) }
                #expect(error?.kind == "already_running")
            }
            try await host.stopAutomations()
            #expect(try await host.automations().isEmpty)
            #expect(try await ScriptHost(configuration).loadAutomations(file: file) == 2)
        }
    }

    @Test(.patience, arguments: ScriptPlace.allCases)
    func `durable runs of a process that was killed continue in another`(_ place: ScriptPlace) async throws {
        try await withTemporaryFolder { folder in
            let file = "\(folder)/a.lua"
            try Data(
                """
                local m = require "m"
                perilune.automation{ name = "order", on = { event = "e" }, durable = true, run = function(run)
                  run:step("first", function() m.note("first") end)
                  m.wait()
                  run:step("second", function() m.note("second") end)
                end }
                """.utf8
            ).write(to: URL(filePath: file))
            let notes = Mutex<[String]>([]), waits = Tally(), release = Tally()
            func start() async throws -> ScriptHost {
                let database = DatabaseSource.queue("\(folder)/x.sqlite", inEveryContext: true)
                let host = try await ScriptHost(place.configuration(.init(database: database)))
                try await host.register(module: "m") { m in
                    m.function("note") { (text: String) in notes.withLock { $0.append(text) } }
                    m.function("wait") { () async in
                        waits.add()
                        await release.wait()
                    }
                }
                try await host.loadAutomations(file: file)
                return host
            }
            let first = try await start()
            let run = Task { try await first.runAutomation("order") }
            await waits.wait()
            if let process = first.workerProcessID { kill(process, SIGKILL) } else { await first.close() }
            _ = await run.result
            release.add()
            if place == .isolated { await #expect(throws: LuaError.self) { _ = try await first.automations() } }
            let second = try await start()
            #expect(
                try await eventually {
                    try await second.run(source: "perilune.sleep('10ms')")
                    return notes.withLock { $0 } == ["first", "second"]
                })
            #expect(try await eventually { try await second.automationRuns().map(\.outcome) == [.succeeded] })
            await second.close()
        }
    }
}
