import Foundation
import Glibc
import Perilune
import PeriluneLua
import PeriluneTestTools
import Testing

/// A music shop on three nodes: its queries, migrations and automations while leaders are killed.
@Suite(.serialized, .patience, .startsPrograms, .withNodes) struct ClusterShopTests {
    private static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let shop = project.appending(path: "Tests/PeriluneBindingsTests/Chinook")

    private static let kills = ProcessInfo.processInfo.environment["CLUSTER_ROUNDS"].flatMap(Int.init) ?? 3

    @Test func `queries return correct results, and migrations run once, while leaders are killed`() async throws {
        let nodes = try await ClusterNodes()
        var configuration = ScriptHost.Configuration(database: .queue(nodes.url("shop", timeout: "60s"), inEveryContext: true))
        (configuration.libraries, configuration.allowsFiles) = (.trusted, true)
        configuration.moduleFolder = Self.project.appending(path: "scripts/examples/music_shop").path
        let host = try await ScriptHost(configuration)
        let shop = try String(contentsOf: Self.shop.appending(path: "shop.lua"), encoding: .utf8)
        let questions = try String(contentsOf: Self.shop.appending(path: "questions.lua"), encoding: .utf8)
        try await host.run(source: "make_shop = (function() \(shop) end)() make_shop(db)", named: "shop.lua")
        // Reads that a leader change interrupts are repeated. The questions compare their answers with the results of SQL.
        let round = """
            local number = ...
            local migrator = perilune.migrator()
            for i = 1, number do
              migrator:register("step " .. i, function(db)
                db:execute("CREATE TABLE step" .. i .. " (id INTEGER PRIMARY KEY, flag BOOLEAN)")
                db:execute("INSERT INTO step" .. i .. " (flag) VALUES (NULL), (1)")
              end)
            end
            local attempts = 0
            local function again(f)
              repeat
                attempts = attempts + 1
                local ok, err = pcall(f)
                if not ok and (type(err) ~= "userdata" or err.kind ~= "cluster_moved") then error(err, 0) end
              until ok
            end
            for _ = 1, 4 do again(ask) end
            again(function() migrator:migrate(db) end)
            again(ask)
            assert(db:fetch_value("SELECT count(*) FROM step" .. number) == 2)
            assert(db:fetch_one("SELECT flag FROM step" .. number .. " WHERE id = 1").flag == nil)
            assert(#migrator:pending(db) == 0)
            return attempts
            """
        try await host.run(source: "ask = function() \(questions) end", named: "questions.lua")
        for number in 1...Self.kills {
            var leader: Int?
            _ = await eventually {
                leader = nodes.leader(); return leader != nil
            }
            let found = try #require(leader)
            async let attempts: Int = host.run(source: round, arguments: number)
            nodes.kill(found)
            try nodes.start(found)
            print("shop: round \(number): \(try await attempts) attempts")
        }
    }

    @Test func `one program runs the automations, and another takes over when it ends`() async throws {
        let nodes = try await ClusterNodes()
        let file = nodes.folder.appending(path: "automations.lua")
        try """
        local process = io.open("/proc/self/stat"):read("n")
        perilune.automation { name = "tick", on = { every = "100ms" }, run = function()
          db:execute("CREATE TABLE IF NOT EXISTS tick (process INTEGER)")
          db:execute("INSERT INTO tick VALUES (?)", process)
        end }
        perilune.automation { name = "ship", durable = true, on = { change = "orders" }, run = function(run)
          run:step("ship", function(db) db:execute("INSERT INTO shipped VALUES (?, ?)", run.trigger.key, process) end)
        end }
        """.write(to: file, atomically: true, encoding: .utf8)
        _ = nodes.shell("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
        _ = nodes.shell("CREATE TABLE shipped (order_id INTEGER, process INTEGER)")
        let first = try automations(file, nodes)
        func ticks(_ process: Process) -> Bool {
            nodes.shell("SELECT count(*) FROM tick WHERE process = \(process.processIdentifier)").contains(/[1-9]/)
        }
        #expect(await eventually { ticks(first) })
        // The other automation may start later. It reacts to changes from the time when it is listed as a reader of changes.
        #expect(await eventually { nodes.shell("SELECT automation FROM perilune_change_reader").contains("ship") })
        // Changes of other clients start durable runs.
        func shipped(_ order: Int, by process: Process) -> Bool {
            nodes.shell("SELECT count(*) FROM shipped WHERE order_id = \(order) AND process = \(process.processIdentifier)")
                .contains("1")
        }
        // The database may be busy with the writes of the automations.
        func insert(_ order: Int) async -> Bool {
            await eventually {
                _ = nodes.shell("INSERT INTO orders VALUES (\(order))")
                return nodes.shell("SELECT count(*) FROM orders WHERE id = \(order)").contains("1")
            }
        }
        #expect(await insert(1))
        #expect(await eventually { shipped(1, by: first) })
        let second = try automations(file, nodes)
        let before = nodes.shell("SELECT count(*) FROM tick")
        #expect(await eventually { nodes.shell("SELECT count(*) FROM tick") != before })
        #expect(!ticks(second))
        kill(first.processIdentifier, SIGKILL)
        first.waitUntilExit()
        #expect(await insert(2))
        #expect(await eventually { ticks(second) })
        #expect(await eventually { shipped(2, by: second) })
        second.terminate()
        second.waitUntilExit()
        #expect(second.terminationStatus == 0)
    }

    private func automations(_ file: URL, _ nodes: ClusterNodes) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "perilune")
        process.arguments = ["automations", "run", file.path, "--database", nodes.url("shop"), "--context", "live"]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        return process
    }
}
