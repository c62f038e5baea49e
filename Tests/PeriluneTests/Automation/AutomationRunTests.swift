import Foundation
import GRDB
import Perilune
import PeriluneLua
import Testing

@Suite struct AutomationRunTests {
    @Test func `a run that could not be recorded because of a lock is recorded when the lock is released`() async throws {
        try await withTemporaryFolder { folder in
            var configuration = GRDB.Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: "\(folder)/x.sqlite", configuration: configuration)
            let host = try await ScriptHost(.init(database: .existing(DatabaseQueue(path: "\(folder)/x.sqlite"))))
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

    @Test func `an automation that cannot be triggered is reported with its name and location`() async throws {
        try await withTemporaryFolder { folder in
            try "\nperilune.automation{ name = 'a', on = { change = 'none' }, run = print }"
                .write(toFile: "\(folder)/a.lua", atomically: true, encoding: .utf8)
            let host = try await ScriptHost(database: .inMemory())
            let error = await #expect(throws: LuaError.self) { try await host.loadAutomations(file: "\(folder)/a.lua") }
            #expect(error?.message.hasPrefix("automation \"a\": no table `none`") == true)
            #expect((error?.file, error?.line) == ("\(folder)/a.lua", 2))
        }
    }

    @Test func `as many long statements are recorded as fit`() async throws {
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

    @Test func `the latest of many runs are kept`() async throws {
        let host = try await ScriptHost(database: .inMemory())
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

    @Test func `cancelled observations and timers leave nothing behind`() async throws {
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
}
