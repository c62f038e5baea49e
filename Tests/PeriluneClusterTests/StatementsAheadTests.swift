import GRDB
@testable import PeriluneCluster
import PeriluneRecords
import PeriluneTestTools
import Synchronization
import Testing

/// Statements that are sent before earlier statements have been answered.
@Suite(.patience, .startsPrograms) struct StatementsAheadTests {
    @Test(arguments: [
        ("INSERT INTO t (a) VALUES (?), (?)", "INSERT INTO t (a)  SELECT * FROM (VALUES (?), (?)) WHERE c"),
        (
            "INSERT INTO \"values\" VALUES (max(1, 2), 'a,)')",
            "INSERT INTO \"values\"  SELECT * FROM (VALUES (max(1, 2), 'a,)')) WHERE c"
        ),
    ])
    func `an INSERT of values can be given a WHERE condition`(sql: String, expected: String) {
        #expect(statement(sql).inserting(where: "c")?.sql == expected)
    }

    @Test(arguments: [
        "INSERT INTO t VALUES (1) RETURNING a", "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", "INSERT INTO t SELECT 1",
        "INSERT INTO t DEFAULT VALUES",
        "REPLACE INTO t VALUES (1)", "DELETE FROM t", "WITH q AS (SELECT 1) INSERT INTO t VALUES (1)",
    ])
    func `other statements cannot be given a WHERE condition`(sql: String) {
        #expect(statement(sql).inserting(where: "c") == nil)
    }

    private func statement(_ sql: String) -> RemoteStatement {
        RemoteStatement(
            sql: sql, source: sql, columnCount: 0, parameterCount: 0, isReading: false, insertion: .always, engine: nil)
    }

    /// The node does not answer the first INSERTs until the third has arrived.
    @Test func `several statements can be in transit at the same time`() throws {
        let waiting = Mutex<[[UInt8]]>([])
        let node = FakeNode { address in
            { type, body in
                if type == 4 { return FakeNode.message(5, WireTests.word(1 << 32) + WireTests.word(1)) }
                let usual = HostileNodeTests.answer(type, body, address)
                guard type == 5 || type == 8 && FakeNode.sql(body).hasPrefix("INSERT INTO t") else { return usual }
                return waiting.withLock { waiting in
                    waiting.append(FakeNode.message(6, WireTests.word(UInt64(waiting.count + 1)) + WireTests.word(1)))
                    // The second statement is prepared, which requires the answer to the first.
                    return waiting.count == 1 ? waiting[0] : waiting.count < 4 ? [] : Array(waiting[1...].joined())
                }
            }
        }
        try access(ClusterAddress(servers: [node.address], name: "shop")) { cluster, db in
            let prepared = try cluster.prepare("INSERT INTO t (name) VALUES (?)", in: db)
            for row in 1...4 {
                cluster.session.expect(changes: 1, rowID: Int64(row))
                try prepared.execute(["name"])
            }
            try cluster.session.settleAhead()
            #expect(cluster.session.failuresAhead.pointee == 0)
        }
    }

    private func access(_ address: ClusterAddress, _ body: (ClusterDatabase, Database) throws -> Void) throws {
        let queue = try ClusterDatabase.open(address, timeout: .seconds(5))
        let cluster = try #require(ClusterDatabase.of(queue))
        try queue.writeWithoutTransaction { db in
            defer { cluster.endAccess() }
            try db.inTransaction(.immediate) {
                try body(cluster, db)
                return .rollback
            }
        }
    }

    /// A conflict rolls the transaction back in the node while more statements are queued.
    @Test(.withNodes) func `statements in transit after a rollback in the node are not committed`() async throws {
        let nodes = try await ClusterNodes()
        _ = nodes.shell("CREATE TABLE t (n INTEGER UNIQUE ON CONFLICT ROLLBACK)")
        let address = try ClusterAddress(url: nodes.url("shop"))
        let failure = #expect(throws: ClusterFailure.self) {
            try access(address) { cluster, db in
                let prepared = try cluster.prepare("INSERT INTO t VALUES (?)", in: db)
                for n in [1, 2, 3, 2, 5, 6] {
                    cluster.session.expect(changes: 1, rowID: nil)
                    try prepared.execute([n])
                }
                defer { #expect(cluster.session.failuresAhead.pointee == 3) }
                try cluster.session.settleAhead()
            }
        }
        #expect(failure?.kind == .moved)
        #expect(nodes.shell("SELECT count(*) FROM t").contains("0"))
    }
}
