import Foundation
import GRDB
import Perilune
import Testing

/// Changesets in Swift.
@Suite struct ChangesetTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT UNIQUE); INSERT INTO author (name) VALUES ('Melville'), ('Verne')"
            )
        }
    }

    private func record(_ sql: String) throws -> Changeset {
        try queue.write { db in try Changeset.recording(in: db) { try db.execute(sql: sql) }.changeset }
    }

    private func names() throws -> [String] {
        try queue.read { db in try String.fetchAll(db, sql: "SELECT name FROM author ORDER BY id") }
    }

    @Test func `changes are recorded, inverted and applied`() throws {
        let changeset = try record("UPDATE author SET name = 'Ibsen' WHERE id = 2; DELETE FROM author WHERE id = 1")
        #expect(try names() == ["Ibsen"])
        let rows = try changeset.rows()
        #expect(rows.map(\.operation) == [.delete, .update] || rows.map(\.operation) == [.update, .delete])
        let update = try #require(rows.first { $0.operation == .update })
        #expect(update.key == [.integer(2)])
        #expect(update.old == [.integer(2), .text(Array("Verne".utf8))])
        #expect(update.new == [nil, .text(Array("Ibsen".utf8))])
        let counts = try queue.write { db in try changeset.inverted().apply(to: db) }
        #expect(counts.applied == 2)
        #expect(try names() == ["Melville", "Verne"])
    }

    @Test func `two changesets are combined`() throws {
        let first = try record("UPDATE author SET name = 'Ibsen' WHERE id = 2")
        let second = try record("UPDATE author SET name = 'Sand' WHERE id = 2")
        let both = try first.followed(by: second)
        #expect(try both.rows().count == 1)
        #expect(try both.rows()[0].new[1] == .text(Array("Sand".utf8)))
        #expect(try both.followed(by: both.inverted()).isEmpty)
    }

    @Test func `a closure resolves a conflict of a changeset`() throws {
        let changeset = try record("UPDATE author SET name = 'Ibsen' WHERE id = 2")
        try queue.write { db in try db.execute(sql: "UPDATE author SET name = 'Sand' WHERE id = 2") }
        let error = #expect(throws: ChangesetError.self) { try queue.write { db in try changeset.apply(to: db) } }
        #expect(error?.code == .conflict)
        #expect(error?.conflict?.kind == .data)
        #expect(error?.conflict?.found == [.integer(2), .text(Array("Sand".utf8))])
        let counts = try queue.write { db in try changeset.apply(to: db) { _ in .omit } }
        #expect(counts.omitted == 1)
        try queue.write { db in _ = try changeset.apply(to: db) { _ in .replace } }
        #expect(try names() == ["Melville", "Ibsen"])
    }

    @Test func `an error in the conflict closure is thrown, and nothing is applied`() throws {
        struct Stop: Error {}
        let changeset = try record("INSERT INTO author (id, name) VALUES (5, 'Ibsen'); DELETE FROM author WHERE id = 1")
        #expect(throws: Stop.self) { try queue.write { db in try changeset.apply(to: db) { _ in throw Stop() } } }
        #expect(try names() == ["Verne", "Ibsen"])
    }

    @Test func `the bytes of a changeset are validated`() throws {
        let changeset = try record("DELETE FROM author")
        #expect(try Changeset(validating: changeset.bytes) == changeset)
        let error = #expect(throws: ChangesetError.self) { try Changeset(validating: Data([1, 2, 3])) }
        #expect(error?.code == .malformed)
    }

    @Test func `too many changes in a changeset are an error`() throws {
        let error = #expect(throws: ChangesetError.self) {
            try queue.write { db in
                try Changeset.recording(in: db, limitInBytes: 1000) {
                    try db.execute(
                        sql:
                            "WITH n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO author SELECT i, i FROM n"
                    )
                }
            }
        }
        #expect(error?.code == .tooLarge)
    }
}
