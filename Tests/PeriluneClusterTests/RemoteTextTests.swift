import GRDB
import GRDBSQLite
@testable import PeriluneCluster
import PeriluneRecords
import Testing

/// The SQL that is sent to a cluster for a statement, and the statements that are refused.
struct RemoteTextTests {
    private let queue = try! DatabaseQueue()

    init() throws {
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, b BOOLEAN, d DATETIME); CREATE TEMP TABLE own (a)")
        }
    }

    private func text(_ sql: String) throws -> RemoteText {
        try queue.writeWithoutTransaction { db in
            let statement = try db.makeStatement(sql: sql)
            return try withExtendedLifetime(statement) { try RemoteText(sql, statement.sqliteStatement) }
        }
    }

    private func refusal(_ sql: String) -> ClusterFailure? { #expect(throws: ClusterFailure.self) { try text(sql) } }

    @Test func `a SELECT is rewritten to return columns without declared types`() throws {
        guard case .reading(let sql) = try text(" SELECT id, d FROM t ORDER BY id -- all\n;") else { return #expect(Bool(false)) }
        #expect(sql == "WITH perilune_q(c0,c1) AS (SELECT id, d FROM t ORDER BY id\n) SELECT +c0,+c1 FROM perilune_q")
    }

    @Test(arguments: ["SELECT 1 + 2", "EXPLAIN SELECT id FROM t", "PRAGMA table_info(t)", "PRAGMA user_version"])
    func `SQL without declared types is sent unchanged`(sql: String) throws {
        guard case .reading(let text) = try text(sql) else { return #expect(Bool(false)) }
        #expect(text == sql)
    }

    @Test(arguments: [
        ("INSERT INTO t (b) VALUES (1) RETURNING id, b AS flag", "INSERT INTO t (b) VALUES (1) RETURNING +id, +b AS flag"),
        ("UPDATE t SET b = 1 RETURNING *, max(id, 2)", "UPDATE t SET b = 1 RETURNING +\"id\", +\"b\", +\"d\", +max(id, 2)"),
        ("DELETE FROM t WHERE id IN (SELECT 1)", "DELETE FROM t WHERE id IN (SELECT 1)"),
        ("PRAGMA defer_foreign_keys = ON", "PRAGMA defer_foreign_keys = ON"),
    ])
    func `a RETURNING clause is rewritten to return columns without declared types`(sql: String, expected: String) throws {
        guard case .changing(let text) = try text(sql) else { return #expect(Bool(false)) }
        #expect(text == expected)
    }

    @Test(arguments: ["BEGIN", "COMMIT", "ROLLBACK TO a", "PRAGMA foreign_keys = 0"])
    func `transaction statements and PRAGMAs are classified as control statements`(
        sql: String
    ) throws {
        try queue.writeWithoutTransaction { db in
            let statement = try db.makeStatement(sql: "SELECT 1")
            guard case .control = try withExtendedLifetime(statement, { try RemoteText(sql, statement.sqliteStatement) }) else {
                return #expect(Bool(false))
            }
        }
    }

    @Test(arguments: ["CREATE TABLE u (a)", "DROP TABLE t", "ALTER TABLE t ADD COLUMN e", "CREATE INDEX i ON t (d)"])
    func `schema changes are executed locally and in the cluster`(sql: String) throws {
        guard case .schema(let text) = try text(sql) else { return #expect(Bool(false)) }
        #expect(text == sql)
    }

    @Test(arguments: [
        ("ATTACH 'x' AS y", "perilune.queue(path)"), ("VACUUM", "snapshots"), ("CREATE TEMP TABLE u (a)", "ordinary table"),
        ("INSERT INTO temp.own VALUES (1)", "ordinary table"), ("PRAGMA user_version = 3", "user_version"),
        ("PRAGMA optimize", "optimize"),
        ("CREATE TABLE u AS SELECT ?1 AS a", "INSERT ... SELECT"),
    ])
    func `unsupported statements are refused with an alternative`(sql: String, hint: String) {
        let failure = refusal(sql)
        #expect(failure?.kind == .refused)
        #expect(failure?.message.contains(hint) == true, "\(failure?.message ?? "")")
    }
}
