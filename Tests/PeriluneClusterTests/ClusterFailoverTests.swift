import Foundation
import Glibc
import Perilune
import PeriluneLua
import PeriluneTestTools
import Testing

/// The results of clients while leaders are killed: no acknowledged write may be lost, and no answer may be wrong.
@Suite(.serialized, .patience, .startsPrograms, .withNodes) struct ClusterFailoverTests {
    @Test func `account transfers stay consistent while leaders are killed`() async throws {
        let nodes = try await ClusterNodes()
        try await AccountTransfers.check(nodes, rounds: AccountTransfers.rounds) { nodes, leader in
            nodes.kill(leader)
            try nodes.start(leader)
        }
    }

    @Test func `account transfers by several clients stay consistent while leaders are killed`() async throws {
        let nodes = try await ClusterNodes()
        try await AccountTransfers.check(nodes, rounds: AccountTransfers.rounds, clients: 4) { nodes, leader in
            nodes.kill(leader)
            try nodes.start(leader)
        }
    }

    @Test func `a list of records is inserted completely or not at all while leaders are killed`() async throws {
        let nodes = try await ClusterNodes()
        let host = try await AccountTransfers.host(nodes)
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
        for round in 1...AccountTransfers.rounds {
            let leader = try #require(await AccountTransfers.leader(of: nodes))
            async let lists: [Int] = host.run(source: insert, arguments: round)
            nodes.kill(leader)
            try nodes.start(leader)
            done += try await lists
        }
        let found: [Int] = try await host.run(
            source: "return db:fetch_values('SELECT round FROM item GROUP BY round HAVING count(*) = 4000 ORDER BY round')")
        #expect(found == done)
        #expect(try await host.run(source: "return db:fetch_value('SELECT count(*) FROM item')") == 4000 * done.count)
        print("lists: \(done.count) of \(8 * AccountTransfers.rounds) inserted")
    }

    @Test func `a node that joins without data receives it, and the other nodes can leave`() async throws {
        let nodes = try await ClusterNodes(3, spare: 1)
        let host = try await AccountTransfers.host(nodes)
        try await host.run(
            source: "db:execute('CREATE TABLE t (a)') for i = 1, 100 do db:execute('INSERT INTO t VALUES (?)', i) end")
        try nodes.start(4)
        #expect(await eventually { nodes.shell(".cluster").contains(nodes.address(4)) })
        let leader = try #require(await AccountTransfers.leader(of: nodes))
        nodes.kill(leader)
        #expect(try await host.run(source: "return db:fetch_value('SELECT count(*) FROM t')") == 100)
        try nodes.start(leader)
    }

    @Test func `a write block with retries runs again after a change of leader`() async throws {
        let nodes = try await ClusterNodes()
        let host = try await AccountTransfers.host(nodes)
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
