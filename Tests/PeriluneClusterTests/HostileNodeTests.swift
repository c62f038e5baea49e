import Foundation
import GRDB
@testable import PeriluneCluster
import PeriluneRecords
import PeriluneTestTools
import Synchronization
import Testing

/// Nodes that answer incorrectly or not at all. The result is an error, never a crash, a hang or a wrong answer.
@Suite(.patience, .startsPrograms) struct HostileNodeTests {
    private typealias Field = WireTests.Field

    /// Returns the answers of a correct node to the statements of these tests.
    static func answer(_ type: UInt8, _ body: [UInt8], _ address: String) -> [UInt8] {
        if let usual = FakeNode.usual(type, body, address) { return usual }
        guard type == 9 else { return FakeNode.message(6, WireTests.word(1) + WireTests.word(1)) }
        let sql = FakeNode.sql(body)
        if sql.contains("schema_version") {
            return FakeNode.message(7, WireTests.page(names: ["schema_version"], rows: [[.integer(1)]]))
        }
        if sql.contains("FROM sqlite_schema") {
            let rows: [[Field]] = [[.text("t"), .text("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")]]
            return FakeNode.message(7, WireTests.page(names: ["name", "sql"], rows: rows))
        }
        if sql.contains("perilune_commit") { return FakeNode.message(7, WireTests.page(names: ["number"], rows: [])) }
        let rows: [[Field]] = (0..<20).map { [.integer($0), .text("name \($0)")] }
        return FakeNode.message(7, WireTests.page(names: ["c0", "c1"], rows: Array(rows.prefix(10)), isLast: false))
            + FakeNode.message(7, WireTests.page(names: ["c0", "c1"], rows: Array(rows.suffix(10))))
    }

    private func use(_ node: FakeNode, timeout: Duration = .seconds(5)) throws -> [Int] {
        let queue = try ClusterDatabase.open(ClusterAddress(servers: [node.address], name: "shop"), timeout: timeout)
        let cluster = try #require(ClusterDatabase.of(queue))
        return try queue.writeWithoutTransaction { db in
            defer { cluster.endAccess() }
            let prepared = try cluster.prepare("SELECT id, name FROM t", in: db)
            return try Int.fetchAll(prepared.statement)
        }
    }

    @Test func `a node can send rows in several pages`() throws {
        let node = FakeNode { address in { Self.answer($0, $1, address) } }
        #expect(try use(node) == Array(0..<20))
    }

    @Test(arguments: [0, 1]) func `a node that sends endless empty pages is refused`(pagesBefore: Int) throws {
        let node = FakeNode { address in
            { type, body in
                guard type == 9, FakeNode.sql(body).contains("FROM t") || FakeNode.sql(body).contains("FROM \"t\"") else {
                    return Self.answer(type, body, address)
                }
                let full = FakeNode.message(
                    7, WireTests.page(names: ["c0", "c1"], rows: [[.integer(1), .text("a")]], isLast: false))
                let empty = FakeNode.message(7, WireTests.page(names: ["c0", "c1"], rows: [], isLast: false))
                return Array((Array(repeating: full, count: pagesBefore) + Array(repeating: empty, count: 1000)).joined())
            }
        }
        let error = #expect(throws: DatabaseError.self) { try use(node) }
        #expect(error?.message?.hasPrefix("the names of 2 columns are too long") == true, "\(String(describing: error))")
    }

    @Test(arguments: 0..<12) func `corrupted answers of a node become errors or rows`(seed: Int) throws {
        let generator = Mutex(SeededGenerator(state: UInt64(seed)))
        let node = FakeNode { address in
            { type, body in
                var bytes = Self.answer(type, body, address)
                return generator.withLock { generator in
                    guard Int.random(in: 0..<4, using: &generator) == 0 else { return bytes }
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: return nil
                    case 1: return generator.bytes(upTo: 200)
                    case 2: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
                    default:
                        for _ in 0..<3 {
                            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                        }
                    }
                    return bytes
                }
            }
        }
        for _ in 0..<6 { _ = try? use(node, timeout: .milliseconds(150)) }
    }

    /// A node that has begun to send rows appends the failure to them.
    @Test(arguments: [false, true]) func `a failure that a node sends after rows is detected`(hasRows: Bool) throws {
        let rows: [[Field]] = hasRows ? [[.integer(1), .text("one")], [.integer(2), .text("two")]] : []
        let failure = WireTests.word(787) + WireTests.text("FOREIGN KEY constraint failed")
        let node = FakeNode { address in
            { type, body in
                guard type == 9, FakeNode.sql(body).contains("perilune_q") else { return Self.answer(type, body, address) }
                return FakeNode.message(0, Array(WireTests.page(names: ["+c0", "+c1"], rows: rows).dropLast(8)) + failure)
            }
        }
        let error = #expect(throws: DatabaseError.self) { try use(node) }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
        #expect(error?.message == "FOREIGN KEY constraint failed")
    }

    @Test func `a node that does not answer is abandoned at the deadline`() throws {
        let node = FakeNode { _ in { _, _ in [] } }
        let failure = #expect(throws: ClusterFailure.self) { try use(node, timeout: .milliseconds(200)) }
        #expect(failure?.kind == .unreachable || failure?.kind == .timeout)
    }

    /// The node loses the answer to each COMMIT. The table of tokens shows whether the commit has happened.
    @Test(arguments: [true, false]) func `the outcome of a commit without an answer is queried`(hasHappened: Bool) throws {
        let commits = Atomic(0)
        let node = FakeNode { address in
            { type, body in
                let sql = type == 8 || type == 9 ? FakeNode.sql(body) : ""
                if sql == "COMMIT", commits.add(1, ordering: .relaxed).newValue == 1 { return nil }
                if sql.hasPrefix("SELECT number") {
                    return FakeNode.message(7, WireTests.page(names: ["number"], rows: hasHappened ? [[.integer(1)]] : []))
                }
                return Self.answer(type, body, address)
            }
        }
        let queue = try ClusterDatabase.open(ClusterAddress(servers: [node.address], name: "shop"), timeout: .seconds(5))
        let cluster = try #require(ClusterDatabase.of(queue))
        func write() throws {
            try queue.writeWithoutTransaction { db in
                defer { cluster.endAccess() }
                try db.inTransaction(.immediate) {
                    try cluster.prepare("UPDATE t SET name = 'a'", in: db).execute()
                    return .commit
                }
            }
        }
        if hasHappened {
            try write()
        } else {
            let failure = #expect(throws: ClusterFailure.self) { try write() }
            #expect(failure?.kind == .moved)
            // The second commit ensures that the first will never happen.
            #expect(commits.load(ordering: .relaxed) == 2)
        }
    }
}
