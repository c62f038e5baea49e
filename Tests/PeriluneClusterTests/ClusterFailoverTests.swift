import Foundation
import Glibc
import Perilune
import PeriluneLua
import PeriluneTestTools
import Testing

/// The results of clients while nodes fail: no acknowledged write may be lost, and no answer may be wrong.
@Suite(.serialized, .patience, .startsPrograms, .withNodes) struct ClusterFailoverTests {
    private func host(_ nodes: ClusterNodes, timeout: String = "30s") async throws -> ScriptHost {
        var configuration = ScriptHost.Configuration(database: .queue(nodes.url("shop", timeout: timeout), inEveryContext: true))
        (configuration.libraries, configuration.allowsFiles) = (.trusted, true)
        return try await ScriptHost(configuration)
    }

    private static let prepare = """
        db:execute("CREATE TABLE IF NOT EXISTS account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)")
        db:execute("CREATE TABLE IF NOT EXISTS transfer (token TEXT PRIMARY KEY)")
        for id = 1, 10 do db:execute("INSERT OR IGNORE INTO account VALUES (?, 100)", id) end
        """

    /// Makes transfers between accounts, each with a token. Returns the tokens of completed transfers, of failed ones, and of
    /// those with an unknown outcome.
    private static let transfer = """
        local first, count = ...
        local done, undone, unknown = {}, {}, {}
        for i = first, first + count - 1 do
          local token = "t" .. i
          local ok, err = pcall(db.write, db, function(db)
            db:execute("UPDATE account SET balance = balance - 1 WHERE id = ?", i % 10 + 1)
            db:execute("UPDATE account SET balance = balance + 1 WHERE id = ?", (i * 7) % 10 + 1)
            db:execute("INSERT INTO transfer VALUES (?)", token)
          end)
          local list = ok and done or err.kind ~= "cluster_unknown" and undone or unknown
          list[#list + 1] = token
        end
        return { done = done, undone = undone, unknown = unknown }
        """

    private struct Outcome: Codable {
        var done: [String] = [], undone: [String] = [], unknown: [String] = []

        mutating func add(_ other: Outcome) {
            done += other.done
            undone += other.undone
            unknown += other.unknown
        }
    }

    /// Disturbs the leader repeatedly during transfers, then compares the results with the tables.
    private func check(
        _ nodes: ClusterNodes, rounds: Int, transfers: Int = 400, clients: Int = 1, timeout: String = "30s",
        _ disturb: @escaping (ClusterNodes, Int) async throws -> Void
    ) async throws {
        var hosts: [ScriptHost] = []
        for _ in 0..<clients { hosts.append(try await host(nodes, timeout: timeout)) }
        let host = hosts[0]
        try await host.run(source: Self.prepare)
        var outcome = Outcome(), next = 1
        for _ in 0..<rounds {
            let leader = try #require(await leader(of: nodes))
            let (start, count, all) = (next, transfers / clients, hosts)
            next += count * clients
            async let outcomes = withThrowingTaskGroup(of: Outcome.self) { group in
                for (index, host) in all.enumerated() {
                    group.addTask { try await host.run(source: Self.transfer, arguments: start + index * count, count) }
                }
                return try await group.reduce(into: Outcome()) { $0.add($1) }
            }
            try await disturb(nodes, leader)
            outcome.add(try await outcomes)
        }
        let list: [String] = try await host.run(source: "return db:fetch_values('SELECT token FROM transfer')")
        let tokens = Set(list)
        #expect(try await host.run(source: "return db:fetch_value('SELECT sum(balance) FROM account')") == 1000)
        #expect(outcome.done.filter { !tokens.contains($0) } == [], "answered, and lost")
        #expect(outcome.undone.filter(tokens.contains) == [], "reported as not done, and done")
        #expect(outcome.unknown == [], "nothing is known of them")
        #expect(outcome.done.count + outcome.undone.count == next - 1)
        print(
            "transfers: \(outcome.done.count) done, \(outcome.undone.count) not done, \(outcome.unknown.count) unknown, in \(rounds) rounds"
        )
    }

    private func leader(of nodes: ClusterNodes) async -> Int? {
        var found: Int?
        _ = await eventually {
            found = nodes.leader(); return found != nil
        }
        return found
    }

    private static let rounds = ProcessInfo.processInfo.environment["CLUSTER_ROUNDS"].flatMap(Int.init) ?? 3

    @Test func `account transfers stay consistent while leaders are killed`() async throws {
        let nodes = try await ClusterNodes()
        try await check(nodes, rounds: Self.rounds) { nodes, leader in
            nodes.kill(leader)
            try nodes.start(leader)
        }
    }

    @Test func `account transfers by several clients stay consistent while leaders are killed`() async throws {
        let nodes = try await ClusterNodes()
        try await check(nodes, rounds: Self.rounds, clients: 4) { nodes, leader in
            nodes.kill(leader)
            try nodes.start(leader)
        }
    }

    @Test(.withNetwork) func `account transfers stay consistent while leaders are cut off from the other nodes`() async throws {
        let nodes = try await ClusterNodes(in: NodeNetwork(3))
        let network = try #require(nodes.network)
        try await check(nodes, rounds: 2, timeout: "5s") { nodes, leader in
            let others = (1...3).filter { $0 != leader }
            for other in others { try network.cut(leader, from: other) }
            var found: Int?
            _ = await eventually {
                found = nodes.leader(); return found != nil && found != leader
            }
            #expect(found != leader)
            for other in others { try network.join(leader, with: other) }
        }
    }

    @Test(.withSmallDisk) func `account transfers stay consistent while a leader's disk is full`() async throws {
        let nodes = try await ClusterNodes(megabytes: 48)
        let disk = try #require(nodes.disk), writer = try await host(nodes)
        try await writer.run(source: "db:execute('CREATE TABLE filler (bytes BLOB)')")
        try await check(nodes, rounds: 1, transfers: 1200) { nodes, leader in
            // The node with the small disk.
            if leader != 1 { try nodes.transfer(from: leader, to: #require(nodes.ids()[nodes.address(1)])) }
            try #require(await eventually { nodes.leader() == 1 })
            for _ in 0..<80 where !disk.isFull || nodes.leader() == 1 {
                _ = try? await writer.run(
                    source:
                        "db:write({ retry = 3 }, function(db) db:execute('INSERT INTO filler VALUES (randomblob(1000000))') end)")
            }
            #expect(disk.isFull)
        }
        // The other nodes continue without it.
        try await writer.run(source: "db:execute('INSERT INTO filler VALUES (1)')")
        print("full disk: the leader is \(nodes.leader() ?? 0)")
    }

    @Test func `account transfers stay consistent while leaders are paused`() async throws {
        let nodes = try await ClusterNodes()
        try await check(nodes, rounds: 2, timeout: "3s") { nodes, leader in
            nodes.signal(leader, SIGSTOP)
            var found: Int?
            _ = await eventually {
                found = nodes.leader(); return found != nil && found != leader
            }
            nodes.signal(leader, SIGCONT)
        }
    }

    @Test func `account transfers stay consistent while all nodes are restarted`() async throws {
        let nodes = try await ClusterNodes()
        try await check(nodes, rounds: 1) { nodes, _ in
            for node in 1...nodes.count { nodes.kill(node) }
            for node in 1...nodes.count { try nodes.start(node) }
        }
    }

    @Test func `account transfers stay consistent while leadership is transferred`() async throws {
        let nodes = try await ClusterNodes()
        try await check(nodes, rounds: 3) { nodes, leader in
            let ids = try nodes.ids()
            let other = try #require(ids.first { $0.key != nodes.address(leader) })
            try nodes.transfer(from: leader, to: other.value)
            _ = await eventually { nodes.leader().map { $0 != leader } ?? false }
        }
    }

    @Test func `a list of records is inserted completely or not at all while leaders are killed`() async throws {
        let nodes = try await ClusterNodes()
        let host = try await host(nodes)
        try await host.run(source: "db:execute('CREATE TABLE item (id INTEGER PRIMARY KEY, round INTEGER, text TEXT)')")
        let insert = """
            local Item, done, round = perilune.record("item"), {}, ...
            for i = 1, 8 do
              local items = {}
              for n = 1, 4000 do items[n] = Item { round = round * 100 + i, text = "item " .. n } end
              local ok, err = pcall(Item.insert_all, Item, items)
              if ok then done[#done + 1] = round * 100 + i
              else assert(err.kind == "cluster_moved", tostring(err)) assert(items[1].id == nil and items[4000].id == nil) end
            end
            return done
            """
        var done: [Int] = []
        for round in 1...Self.rounds {
            let leader = try #require(await leader(of: nodes))
            async let lists: [Int] = host.run(source: insert, arguments: round)
            nodes.kill(leader)
            try nodes.start(leader)
            done += try await lists
        }
        let found: [Int] = try await host.run(
            source: "return db:fetch_values('SELECT round FROM item GROUP BY round HAVING count(*) = 4000 ORDER BY round')")
        #expect(found == done)
        #expect(try await host.run(source: "return db:fetch_value('SELECT count(*) FROM item')") == 4000 * done.count)
        print("lists: \(done.count) of \(8 * Self.rounds) inserted")
    }

    @Test func `a node that joins without data receives it, and the other nodes can leave`() async throws {
        let nodes = try await ClusterNodes(3, spare: 1)
        let host = try await host(nodes)
        try await host.run(
            source: "db:execute('CREATE TABLE t (a)') for i = 1, 100 do db:execute('INSERT INTO t VALUES (?)', i) end")
        try nodes.start(4)
        #expect(await eventually { nodes.shell(".cluster").contains(nodes.address(4)) })
        let leader = try #require(await leader(of: nodes))
        nodes.kill(leader)
        #expect(try await host.run(source: "return db:fetch_value('SELECT count(*) FROM t')") == 100)
        try nodes.start(leader)
    }

    @Test func `a write block with retries runs again after a change of leader`() async throws {
        let nodes = try await ClusterNodes()
        let host = try await host(nodes)
        try await host.run(source: "db:execute('CREATE TABLE counter (n INTEGER)') db:execute('INSERT INTO counter VALUES (0)')")
        try await host.register(module: "nodes") { module in
            module.function("kill", "Kills the leader.") { () throws in try nodes.kill(#require(nodes.leader())) }
        }
        let runs: Int = try await host.run(
            source: """
                local nodes, runs = require "nodes", 0
                db:write({ retry = 3 }, function(db)
                  runs = runs + 1
                  db:execute("UPDATE counter SET n = n + 1")
                  if runs == 1 then nodes.kill() end
                  db:execute("UPDATE counter SET n = n + 1")
                end)
                return runs
                """)
        #expect(runs == 2)
        #expect(try await host.run(source: "return db:fetch_value('SELECT n FROM counter')") == 2)
        #expect(nodes.shell("SELECT n FROM counter").contains("2"))
    }
}
