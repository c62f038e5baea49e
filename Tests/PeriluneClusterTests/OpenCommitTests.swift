@testable import PeriluneCluster
import PeriluneRecords
import PeriluneTestTools
import Synchronization
import Testing

/// Commits that a leader sent to other nodes but could not write to its own disk. Their outcome is unknown.
@Suite(.patience, .startsPrograms) struct OpenCommitTests {
    /// A node that fails to complete a statement, remains the leader for some more requests, and then has the outcome.
    private final class FailingNode: Sendable {
        let asked = Mutex<[String]>([])
        /// The answer to the request for the list of nodes, if there are other nodes.
        private let servers: [UInt8]?

        init(servers: [UInt8]? = nil) { self.servers = servers }

        /// Commits a transaction on the node.
        ///
        /// - Parameter failing: The beginning of the SQL text that fails the first time.
        func commit(failing: String = "COMMIT", code: UInt64, answersBefore: Int = 0, hasHappened: Bool = true) throws {
            let node = FakeNode { address in
                { [self] type, body in
                    if type == 16, let servers { return FakeNode.message(3, servers) }
                    if type == 17 {
                        asked.withLock { $0 += Array(repeating: "SELECT 1", count: answersBefore) + ["TRANSFER \(body[0])"] }
                        return FakeNode.message(8, WireTests.word(0))
                    }
                    guard type == 8 || type == 9 else { return HostileNodeTests.answer(type, body, address) }
                    let sql = FakeNode.sql(body)
                    let former = asked.withLock { asked in
                        defer { asked.append(sql) }
                        return asked.count { $0 == sql }
                    }
                    switch sql {
                    case _ where sql.hasPrefix(failing) && former == 0:
                        return FakeNode.message(0, WireTests.word(code) + WireTests.text("disk I/O error"))
                    case "SELECT 1" where former >= answersBefore:
                        return FakeNode.message(0, WireTests.word(10250) + WireTests.text("not leader"))
                    case "SELECT 1": return FakeNode.message(7, WireTests.page(names: ["1"], rows: [[.integer(1)]]))
                    case _ where sql.hasPrefix("SELECT number") && hasHappened:
                        return FakeNode.message(7, WireTests.page(names: ["number"], rows: [[.integer(1)]]))
                    default: return HostileNodeTests.answer(type, body, address)
                    }
                }
            }
            let session = try ClusterSession(ClusterAddress(servers: [node.address], name: "shop"), timeout: .seconds(5))
            session.local.transaction = { .immediate }
            defer { session.close() }
            try session.begin(.immediate)
            try session.execute("INSERT INTO t VALUES (1)", changesSchema: false)
            try session.commit()
        }

        func count(_ sql: String) -> Int { asked.withLock { $0.count { $0 == sql } } }
    }

    @Test(arguments: [10, 778, 4] as [UInt64], [0, 3])
    func `a commit with a lost answer that was applied is reported as successful`(
        code: UInt64, answersBefore: Int
    ) throws {
        let node = FailingNode()
        try node.commit(code: code, answersBefore: answersBefore)
        // While the failed node remains the leader, the client requests and writes nothing else.
        let asked = node.asked.withLock { Array($0.drop { $0 != "COMMIT" }.prefix(answersBefore + 2)) }
        #expect(asked == ["COMMIT"] + Array(repeating: "SELECT 1", count: answersBefore + 1))
    }

    @Test func `a commit with a lost answer that was not applied is prevented and reported`() throws {
        let node = FailingNode()
        let failure = #expect(throws: ClusterFailure.self) { try node.commit(code: 10, answersBefore: 1, hasHappened: false) }
        #expect(failure?.kind == .moved)
        #expect(node.count("COMMIT") == 2, "the second is that of what fences it off")
    }

    @Test func `the outcome of a commit is unknown while its node remains the leader`() throws {
        let failure = #expect(throws: ClusterFailure.self) { try FailingNode().commit(code: 778, answersBefore: Int.max) }
        #expect(failure?.kind == .unknown)
        #expect(
            failure?.message.hasPrefix("the leader could not complete the commit (disk I/O error (code 778)), and") == true,
            "\(String(describing: failure))")
    }

    @Test func `a transaction starts on the next leader if the first cannot create the table of tokens`() throws {
        let node = FailingNode()
        try node.commit(failing: "CREATE TABLE", code: 778, answersBefore: 2)
        #expect(node.count("SELECT 1") == 3)
        #expect(node.count("COMMIT") == 1)
    }

    @Test func `a node that remains the leader is asked to transfer leadership to another voter`() throws {
        let servers = [(UInt64(2), UInt64(1)), (3, 0)].map {
            WireTests.word($0.0) + WireTests.text("10.0.0.\($0.0):9000") + WireTests.word($0.1)
        }
        let node = FailingNode(servers: WireTests.word(2) + servers.joined())
        try node.commit(code: 10, answersBefore: 1000)
        #expect(node.asked.withLock { $0.filter { $0.hasPrefix("TRANSFER") } } == ["TRANSFER 3"])
    }

    @Test func `a refused commit is not applied, and its transaction continues`() throws {
        let node = FailingNode()
        let error = #expect(throws: RemoteError.self) { try node.commit(code: 787) }
        #expect(error?.code == 787)
        #expect(node.count("SELECT 1") == 0)
    }
}
