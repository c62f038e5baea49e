import Foundation
import Glibc
import Perilune
import PeriluneTestTools
import Testing

/// The results of clients while nodes are paused, cut off, full or restarted: no acknowledged write may be lost, and no answer may be wrong.
@Suite(.serialized, .patience, .startsPrograms, .withNodes) struct ClusterOutageTests {
    @Test(.withNetwork) func `account transfers stay consistent while leaders are cut off from the other nodes`() async throws {
        let nodes = try await ClusterNodes(in: NodeNetwork(3))
        let network = try #require(nodes.network)
        try await AccountTransfers.check(nodes, rounds: 2, timeout: "5s") { nodes, leader in
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
        let disk = try #require(nodes.disk), writer = try await AccountTransfers.host(nodes)
        try await writer.run(source: "db:execute('CREATE TABLE filler (bytes BLOB)')")
        try await AccountTransfers.check(nodes, rounds: 1, transfers: 1200) { nodes, leader in
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
        try await AccountTransfers.check(nodes, rounds: 2, timeout: "3s") { nodes, leader in
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
        try await AccountTransfers.check(nodes, rounds: 1) { nodes, _ in
            for node in 1...nodes.count { nodes.kill(node) }
            for node in 1...nodes.count { try nodes.start(node) }
        }
    }

    @Test func `account transfers stay consistent while leadership is transferred`() async throws {
        let nodes = try await ClusterNodes()
        try await AccountTransfers.check(nodes, rounds: 3) { nodes, leader in
            let ids = try nodes.ids()
            let other = try #require(ids.first { $0.key != nodes.address(leader) })
            try nodes.transfer(from: leader, to: other.value)
            _ = await eventually { nodes.leader().map { $0 != leader } ?? false }
        }
    }
}
